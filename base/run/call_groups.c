/* SPDX-License-Identifier: BSD-3-Clause */
#include "call_groups.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "../stream/calls.h"
#include "../tool/hash_table.h"
#include "../tool/tool.h"

static const double NEARLY_ALL = 0.95;
enum { LEAST_GAPS = 4 };

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

/*
 * May a place's calls be chosen among those of another one? Not if there are too few, or if they
 * are much more regular among all calls.
 */
static bool
may_follow(const struct repeated *r, const struct among *among)
{
	return among->gaps.count >= LEAST_GAPS &&
	    gaps_spread(&r->gaps) >= gaps_spread(&among->gaps) / 4;
}

/* Which places of a group are regular; those with the most calls first: others need them. */
static void
judge_group(struct clocks *clocks)
{
	struct group *g = clocks->group;

	for (size_t a = 0; a < g->count; a++) {
		struct repeated *r = &g->places[a];

		for (size_t b = 0; b < a && clocks->among != NULL; b++) {
			const struct among *among = &clocks->among[a * g->count + b];
			const double chance = gaps_chance(&among->gaps);

			if (!may_follow(r, among))
				continue;
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
			place_index_add(&scan->index,
			    &(struct indexed){ g->places[k].place, i, k });
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

struct call_groups
call_groups_find(const char *file)
{
	struct scan scan = { .calls = NULL };
	struct call_groups groups;
	struct repeated *places;
	size_t count = 0;

	place_table_begin(&scan.places, 1024);
	read_calls(&scan, file, INT32_MAX, add_call);
	places = scan.places.slots;
	for (size_t i = 0; i < scan.places.size; i++)
		if (places[i].rank >= 0) {
			places[count] = places[i];
			places[count].chance = gaps_chance(&places[i].gaps);
			count++;
		}
	SORT(places, count, by_first);
	groups = (struct call_groups){ zalloc((size_t)scan.known.ranks + 1, sizeof *groups.ranks),
	    places, scan.known.ranks, scan.known.run_ns };
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && places[end].rank == places[i].rank; end++)
			;
		find_groups(&places[i], end - i, &groups.ranks[places[i].rank]);
	}
	rewind_input(file);
	judge_places(&scan, file, &groups.ranks[0]);
	free(scan.calls);
	free(scan.last);
	return groups;
}

void
call_groups_free(struct call_groups *groups)
{
	for (int32_t r = 0; r < groups->count; r++)
		free(groups->ranks[r].at);
	free(groups->ranks);
	free(groups->places);
}
