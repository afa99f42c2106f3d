/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "../stream/calls.h"
#include "../tool/hash_table.h"
#include "../tool/tool.h"
#include "regular.h"

static const double MOST_CHANCE = 1e-3;
/* Calls at a place are clearly at random if there are so many, and chance explains them. */
enum { CLEAR_CALLS = 30 };
static const double CLEAR_CHANCE = 0.05;
static const double NEARLY_ALL = 0.95;
enum { LEAST_SHARE = 20 };		/* of the run: 1/20 */

/* The calls of a rank at a place; a gap is the number of calls from one to the next. */
struct repeated {
	int32_t rank;			/* -1: a free slot */
	struct call_place place;
	struct call_place before;	/* the call before most of them, by majority vote */
	uint64_t votes;
	uint64_t count, first, last;	/* numbers of calls */
	struct gaps gaps;
	double chance;			/* of these and, on rank 0, of those in other calls */
	bool regular;			/* it may divide its loop, and count the gaps of others */
	/* It is not regular among the calls of another place, or its steps have little in common. */
	bool doubtful;
	int64_t begin_ns, end_ns;	/* first enter, last leave */
};

#define REPEATED_HASH(r) mix((uint64_t)(r)->place.site << 16 | (r)->place.call, (uint64_t)(r)->rank)
#define REPEATED_SAME(a, b) ((a)->rank == (b)->rank && same_place((a)->place, (b)->place))
HASH_TABLE_BY(place_table, struct repeated, REPEATED_HASH, REPEATED_SAME, rank, -1)

bool
is_step_call(uint16_t call)
{
	return call != 0 && !call_polls(call);
}

struct call_place
call_place(struct same_sites *same, const struct definitions *known, uint32_t site, uint16_t call)
{
	return site > 0 ? (struct call_place){ first_of_name(same, known, site), 0 } :
	    (struct call_place){ 0, call };
}

/* ---- reading --------------------------------------------------------------------------- */

struct indexed { struct call_place place; uint32_t group, index; };

#define INDEXED_HASH(s) mix((s)->place.site, (s)->place.call)
#define INDEXED_SAME(a, b) same_place((a)->place, (b)->place)
HASH_TABLE_BY(place_index, struct indexed, INDEXED_HASH, INDEXED_SAME, group, UINT32_MAX)

struct scan {
	struct place_table places;
	struct call_place *last;	/* by rank */
	uint64_t *calls;		/* by rank: so far */
	struct definitions known;
	struct same_sites same;
	struct place_index index;	/* of rank 0 */
	struct clocks *clocks;		/* by group of rank 0 */
};

static void
add_call(struct scan *scan, const struct calls *calls, size_t row)
{
	const int32_t rank = (int32_t)calls->location;
	const struct call_place place = call_place(&scan->same, &scan->known,
	    calls->site[row], calls->call[row]);
	const uint64_t number = scan->calls[rank]++;
	const struct repeated new = { .rank = rank, .place = place, .first = number,
	    .begin_ns = calls->enter_ns[row] };
	struct repeated *r = place_table_add(&scan->places, &new);

	if (r->count++ > 0) {
		gaps_add(&r->gaps, number - r->last);
		if (r->votes == 0)
			r->before = scan->last[rank];
		r->votes += same_place(r->before, scan->last[rank]) ? 1 : -UINT64_C(1);
	}
	r->last = number;
	r->end_ns = calls->leave_ns[row];
	scan->last[rank] = place;
}

void
rewind_input(const char *file)
{
	if ((file == NULL || strcmp(file, "-") == 0) && lseek(STDIN_FILENO, 0, SEEK_SET) < 0)
		die("standard input: %s", strerror(errno));
}

/* Gives ADD each call of the first threads of RANKS ranks, or of all. */
static void
read_calls(struct scan *scan, const char *file, int32_t ranks,
    void (*add)(struct scan *scan, const struct calls *calls, size_t row))
{
	struct calls calls = { 0 };
	struct message message;
	struct reader *in;
	uint32_t location;
	int got;

	scan->known = (struct definitions){ 0 };
	scan->same = (struct same_sites){ NULL };
	if (reader_open(&in, file, READ_LAZY) < 0)
		die_input(in);
	while ((got = reader_next(in, &message)) > 0) {
		if (definitions_take(&scan->known, in, &message) < 0)
			die_input(in);
		if (is_kind(&message, "run") && scan->calls == NULL) {
			scan->calls = zalloc((size_t)scan->known.ranks, sizeof *scan->calls);
			scan->last = zalloc((size_t)scan->known.ranks, sizeof *scan->last);
		}
		if (!is_kind(&message, "calls"))
			continue;
		if (body_int(in, &message, "location", 0, INT32_MAX, &location) < 0)
			die_input(in);
		if (location >= (uint32_t)(ranks < scan->known.ranks ? ranks : scan->known.ranks))
			continue;
		if (calls_read(&calls, in, &message) < 0)
			die_input(in);
		for (size_t i = 0; i < calls.count; i++)
			if (is_step_call(calls.call[i]))
				add(scan, &calls, i);
	}
	if (got < 0)
		die_input(in);
	calls_free(&calls);
	reader_close(in);
}

/* ---- groups ---------------------------------------------------------------------------- */

/* Places of one rank whose calls interleave, in order of their first calls. */
struct group {
	struct repeated *places;
	size_t count;
	uint64_t first, last;		/* calls */
	int64_t begin_ns, end_ns;
};

struct groups {
	struct group *at;
	size_t count, capacity;
};

ORDER(by_first, struct repeated, BY(rank) BY(first))

/* The groups of the rank of PLACES. */
static void
find_groups(struct repeated *places, size_t count, struct groups *groups)
{
	struct group *g = NULL;

	for (struct repeated *r = places; r < places + count; r++) {
		if (g == NULL || r->first > g->last) {
			g = APPEND(groups->at, groups->count, groups->capacity);
			*g = (struct group){ .places = r, .first = r->first, .last = r->last,
			    .begin_ns = r->begin_ns, .end_ns = r->end_ns };
		}
		g->count++;
		if (r->last > g->last)
			g->last = r->last;
		if (r->end_ns > g->end_ns)
			g->end_ns = r->end_ns;
	}
}

/* ---- places of rank 0 in each other's calls ------------------------------------------- */

/* The calls at a place among those of another one, with as many calls or more. */
struct among {
	uint64_t since;			/* calls of the other one at the last call of this one */
	struct gaps gaps;
};

/* Places of a group, those with the most calls first. */
struct clocks {
	struct group *group;
	uint64_t *calls;		/* so far */
	struct among *among;		/* this place, among that one */
};

ORDER(most_calls, struct repeated, MOST(count) BY(first))

static void
add_among(struct scan *scan, const struct calls *calls, size_t row)
{
	const struct call_place place = call_place(&scan->same, &scan->known, calls->site[row],
	    calls->call[row]);
	const struct indexed *found = place_index_find(&scan->index,
	    &(struct indexed){ .place = place });
	struct clocks *clocks = found != NULL ? &scan->clocks[found->group] : NULL;
	struct among *among;

	if (found == NULL || clocks->among == NULL)
		return;
	among = &clocks->among[found->index * clocks->group->count];
	for (uint32_t i = 0; i < found->index; i++) {
		if (clocks->calls[found->index] > 0)
			gaps_add(&among[i].gaps, clocks->calls[i] - among[i].since);
		among[i].since = clocks->calls[i];
	}
	clocks->calls[found->index]++;
}

/*
 * Do most of the different places in a step come in nearly all steps that place A would divide?
 * Else the calls have no common order.
 */
static bool
is_common(const struct clocks *clocks, size_t a)
{
	const struct group *g = clocks->group;
	const double gaps = (double)(g->places[a].count - 1);
	double places = 0, common = 0;

	for (size_t b = 0; b < g->count; b++) {
		const double share = b < a ?
		    (double)clocks->among[a * g->count + b].gaps.count / gaps :
		    (double)g->places[b].count / (double)g->places[a].count;

		places += share;
		common += share > NEARLY_ALL ? share : 0;
	}
	return common >= places / 2;
}

/* Which places of a group are regular; those with the most calls first, as they count for others. */
static void
judge_group(struct clocks *clocks)
{
	struct group *g = clocks->group;

	for (size_t a = 0; a < g->count; a++) {
		struct repeated *r = &g->places[a];

		for (size_t b = 0; b < a && clocks->among != NULL; b++) {
			const double chance = gaps_chance(&clocks->among[a * g->count + b].gaps);

			if (g->places[b].regular)
				r->chance = fmax(r->chance, chance);
			else
				r->doubtful |= chance >= MOST_CHANCE;
		}
		r->regular = r->chance < MOST_CHANCE;
		r->doubtful |= r->regular && clocks->among != NULL && !is_common(clocks, a);
	}
}

static void
judge_places(struct scan *scan, const char *file, struct groups *groups)
{
	scan->clocks = zalloc(groups->count, sizeof *scan->clocks);
	place_index_begin(&scan->index, 64);
	for (uint32_t i = 0; i < groups->count; i++) {
		struct group *g = &groups->at[i];
		struct clocks *clocks = &scan->clocks[i];

		clocks->group = g;
		if (g->count > MOST_PLACES)
			continue;
		SORT(g->places, g->count, most_calls);
		clocks->calls = zalloc(g->count, sizeof *clocks->calls);
		clocks->among = zalloc(g->count * g->count, sizeof *clocks->among);
		for (uint32_t k = 0; k < g->count; k++)
			place_index_add(&scan->index, &(struct indexed){ g->places[k].place, i, k });
	}
	read_calls(scan, file, 1, add_among);
	for (size_t i = 0; i < groups->count; i++) {
		judge_group(&scan->clocks[i]);
		SORT(scan->clocks[i].group->places, scan->clocks[i].group->count, by_first);
		free(scan->clocks[i].calls);
		free(scan->clocks[i].among);
	}
	free(scan->clocks);
	free(scan->index.slots);
}

/* ---- loops ----------------------------------------------------------------------------- */

/* The group that runs at the same time as another for longest; NULL: none does. */
static const struct group *
meanwhile(const struct groups *groups, const struct group *other)
{
	const struct group *most = NULL;
	int64_t most_ns = 0;

	for (size_t i = 0; i < groups->count; i++) {
		const struct group *g = &groups->at[i];
		const int64_t from = g->begin_ns > other->begin_ns ? g->begin_ns : other->begin_ns;
		const int64_t to = g->end_ns < other->end_ns ? g->end_ns : other->end_ns;

		if (to - from > most_ns) {
			most = g;
			most_ns = to - from;
		}
	}
	return most;
}

enum answer { NO, UNDECIDED, YES };

static enum answer
divides(const struct group *g, const struct repeated *r, uint64_t wanted)
{
	if (r->first - g->first > 2 * r->gaps.most || g->last - r->last > 2 * r->gaps.most)
		return NO;
	if (wanted > 0)
		return YES;
	if (r->chance < MOST_CHANCE)
		return r->doubtful ? UNDECIDED : YES;
	return r->count >= CLEAR_CALLS && r->chance > CLEAR_CHANCE ? NO : UNDECIDED;
}

/* The best answer of a place with COUNT calls: LIKE, if it is as good; else the first one. */
static enum answer
best_place(const struct group *g, uint64_t count, uint64_t wanted, struct call_place like,
    const struct repeated **best)
{
	enum answer most = NO;

	for (size_t i = 0; i < g->count; i++) {
		const struct repeated *r = &g->places[i];
		enum answer answer;

		if (r->count != count)
			continue;
		answer = divides(g, r, wanted);
		if (answer > most || (answer == most && answer > NO && same_place(r->place, like))) {
			most = answer;
			*best = r;
		}
	}
	return most;
}

/*
 * The last step ends where the others do, or after the calls of the longest one. ENDS: the first
 * step begins with the loop, but has no more calls than the longest one.
 */
static struct rank_steps
rank_steps(const struct group *g, const struct repeated *r, bool ends)
{
	struct rank_steps steps = { r->place, r->first, r->last + r->gaps.most - 1 };

	if (ends) {
		steps.last = r->last;
		steps.first = r->first - g->first < r->gaps.most ? g->first :
		    r->first - r->gaps.most + 1;
		return steps;
	}
	for (size_t i = 0; i < g->count; i++)
		if (same_place(g->places[i].place, r->before) &&
		    g->places[i].last >= r->last && g->places[i].last < steps.last)
			steps.last = g->places[i].last;
	if (steps.last > g->last)
		steps.last = g->last;
	return steps;
}

/* STEPS on all COUNT ranks in the loop of the first rank's GROUP, divided by LIKE where it can be. */
static enum answer
try_place(const struct groups *ranks, int32_t count, const struct group *group, uint64_t steps,
    uint64_t wanted, struct call_place like, struct loop *loop)
{
	enum answer least = YES;

	loop->steps = steps;
	loop->chance = 0;
	loop->begin_ns = group->begin_ns;
	loop->end_ns = group->end_ns;
	for (int32_t r = 0; r < count && least > NO; r++) {
		const struct group *g = r == 0 ? group : meanwhile(&ranks[r], group);
		const struct repeated *best = NULL;
		const enum answer answer = g == NULL ? NO :
		    best_place(g, steps, wanted, like, &best);

		least = answer < least ? answer : least;
		if (answer == NO)
			break;
		if (r == 0) {
			loop->ends = best->first - g->first > g->last - best->last;
			loop->calls = (double)(best->last - best->first) / (double)(steps - 1);
		}
		loop->ranks[r] = rank_steps(g, best, loop->ends);
		loop->chance = fmax(loop->chance, best->chance);
	}
	return least;
}

/* The same for each place of the first rank; first for one that divides the loop on all ranks. */
static enum answer
try_steps(const struct groups *ranks, int32_t count, const struct group *group, uint64_t steps,
    uint64_t wanted, struct loop *loop)
{
	enum answer most = NO;

	for (size_t i = 0; i < group->count; i++) {
		const struct call_place like = group->places[i].place;
		enum answer answer;
		bool same = true;

		if (group->places[i].count != steps)
			continue;
		answer = try_place(ranks, count, group, steps, wanted, like, loop);
		for (int32_t r = 0; r < count && answer == YES; r++)
			same &= same_place(loop->ranks[r].place, like);
		if (answer == YES && same)
			return YES;
		most = answer > most ? answer : most;
	}
	return most == NO ? NO : try_place(ranks, count, group, steps, wanted,
	    (struct call_place){ 0, 0 }, loop);
}

ORDER(by_count, uint64_t, COMPARED(*a, *b))

/* The steps of the loop of the first rank's GROUP. */
static void
find_loop(struct steps *steps, const struct groups *ranks, const struct group *group,
    uint64_t wanted)
{
	struct loop loop = { .ranks = zalloc((size_t)steps->ranks, sizeof *loop.ranks) };
	uint64_t *counts = zalloc(group->count, sizeof *counts);
	enum answer answer = NO;

	for (size_t i = 0; i < group->count; i++)
		counts[i] = group->places[i].count;
	SORT(counts, group->count, by_count);
	for (size_t i = 0; i < group->count && answer == NO; i++)
		if (counts[i] >= LEAST_STEPS && (i == 0 || counts[i] != counts[i - 1]) &&
		    (wanted == 0 || counts[i] == wanted))
			answer = try_steps(ranks, steps->ranks, group, counts[i], wanted, &loop);
	free(counts);
	if (answer == YES) {
		*APPEND(steps->loops, steps->count, steps->capacity) = loop;
		return;
	}
	if (answer == UNDECIDED && loop.end_ns - loop.begin_ns >
	    steps->undecided.end_ns - steps->undecided.begin_ns) {
		steps->undecided = loop;
		steps->undecided_at = loop.ranks[0].place;
		steps->undecided.ranks = NULL;
	}
	free(loop.ranks);
}

void
steps_find(struct steps *steps, const char *file, uint64_t wanted)
{
	struct scan scan = { .calls = NULL };
	struct groups *ranks;
	size_t count = 0;

	place_table_begin(&scan.places, 1024);
	read_calls(&scan, file, INT32_MAX, add_call);
	*steps = (struct steps){ .ranks = scan.known.ranks };
	for (size_t i = 0; i < scan.places.size; i++)
		if (scan.places.slots[i].rank >= 0) {
			scan.places.slots[count] = scan.places.slots[i];
			scan.places.slots[count].chance = gaps_chance(&scan.places.slots[i].gaps);
			count++;
		}
	SORT(scan.places.slots, count, by_first);
	ranks = zalloc((size_t)steps->ranks + 1, sizeof *ranks);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && scan.places.slots[end].rank ==
		    scan.places.slots[i].rank; end++)
			;
		find_groups(&scan.places.slots[i], end - i, &ranks[scan.places.slots[i].rank]);
	}
	rewind_input(file);
	judge_places(&scan, file, &ranks[0]);
	for (size_t i = 0; i < ranks[0].count; i++)
		if (ranks[0].at[i].count <= MOST_PLACES && (ranks[0].at[i].end_ns - ranks[0].at[i].begin_ns) >=
		    scan.known.run_ns / LEAST_SHARE)
			find_loop(steps, ranks, &ranks[0].at[i], wanted);
	for (int32_t r = 0; r < steps->ranks; r++)
		free(ranks[r].at);
	free(ranks);
	free(scan.places.slots);
	free(scan.calls);
	free(scan.last);
}
