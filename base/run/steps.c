/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps that a program repeats, found in its calls.
 *
 * A step begins with a call at the same place each time, or ends with it. A loop lies from the
 * first call of some places to their last, if these calls interleave. First, calls are made fewer:
 *	- a companion is a place that comes directly after another one, each time and nowhere
 *	  else; it says no more than that one, and is left out;
 *	- calls at a place that only companions separate are a burst, and count once, if bursts
 *	  are of regular lengths: else another place comes between them by chance.
 * So an exchange with each neighbour in turn is one call. A place may divide a loop into steps if
 *	- it was called LEAST_STEPS times or more, and equally often on all ranks;
 *	- its calls reach from the begin of the loop to its end: the calls before the first and
 *	  after the last are at most twice the longest step, or a tenth of the loop's;
 *	- its calls are regular: the probability that each call, or on rank 0 each
 *	  call at another place, is just as likely to divide steps is below MOST_CHANCE. Other
 *	  places are those with as many calls or more, unless the place is four times as regular
 *	  among all calls;
 *	- on rank 0 each way from a call at the place leads back to it; or they are so regular,
 *	  too, compared with calls of which each depends only on the one before.
 * Of these the one with the fewest calls counts, since the outermost loop is wanted, but not a
 * place that is passing: it comes now and then in the steps of another one, such as output. On
 * rank 0 that is one that is called
 *	- by chance: among twice as many steps or more of the other one;
 *	- instead of a place that almost all steps have, as where each tenth step of a
 *	  simulation sorts particles anew: a loop within another one has all its places in all
 *	  its steps;
 *	- each time after as many steps of the other one, if it and its like are fewer than a
 *	  64th of all calls, or if some steps have one place instead of another.
 * A loop is undecided, and has no steps, if there is other doubt: if another place, whose bursts
 * are of one length, divides it into somewhat more steps; if the place's messages go to other
 * ranks in turn, as where one function makes each exchange of a step, unless these turns have a
 * period (turns.c); if there are less than 16 steps, and the places called as often have a 16th of
 * all calls or less: a wrong period is worse than none. The place ends the steps if it is further
 * from the loop's begin than from its end. Tests and probes do not count as calls, because their
 * number depends on waiting.
 *
 * Memory: 340 bytes for each rank and place, and 80 bytes for each two places of a loop.
 */
#include "steps.h"

#include <math.h>
#include <stdlib.h>

#include "../tool/tool.h"

enum { LEAST_SHARE = 20 };	/* share of the run: 1/20 */

/* The group of each rank that runs at the time of a loop, and the places there that divide it. */
struct search {
	const struct group **groups;
	struct turns *places;
	int32_t ranks;
	uint64_t wanted;
};

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

/*
 * The best answer of a place with COUNT calls: LIKE, if it is as good, else NTH of them, else the
 * first one. NTH becomes which it is.
 */
static enum answer
best_place(const struct group *g, uint64_t count, uint64_t wanted, struct call_place like,
    size_t *nth, const struct repeated **best)
{
	enum answer most = NO;
	size_t number = 0, like_nth = *nth;

	for (size_t i = 0; i < g->count; i++) {
		const struct repeated *r = &g->places[i];
		enum answer answer;

		if (r->count != count)
			continue;
		number++;
		answer = place_divides(g, r, wanted);
		/* messages to other ranks in turn: steps may be parts of longer ones */
		if (answer == YES && wanted == 0 && (r->peers || !are_enough(g, r, count)))
			answer = UNDECIDED;
		if (answer > most || (answer == most && answer > NO &&
		    (same_place(r->place, like) ||
		    (number == like_nth && !same_place((*best)->place, like))))) {
			most = answer;
			*best = r;
			*nth = number;
		}
	}
	return most;
}

/*
 * The last step ends where the others do, or after the calls of the longest one. ENDS: the first
 * step begins with the loop, but has no more calls than the longest one.
 */
static struct rank_steps
rank_steps(const struct group *g, const struct turns *turns, bool ends)
{
	const struct repeated *r = turns->place;
	struct rank_steps steps = { r->place, r->first, r->last + r->gaps.most - 1, r->unit,
	    r->burst, turns->period };

	if (ends) {
		steps.last = r->end + r->unit - 1;
		steps.first = r->first - g->first < r->gaps.most ? g->first :
		    r->first - r->gaps.most + 1;
		return steps;
	}
	for (size_t i = 0; i < g->count; i++)
		if (same_place(g->places[i].place, r->before) &&
		    g->places[i].end >= r->last && g->places[i].end < steps.last)
			steps.last = g->places[i].end;
	if (steps.last > g->last)
		steps.last = g->last;
	return steps;
}

static struct loop
loop_of(const struct search *s)
{
	const struct group *g = s->groups[0];
	const struct repeated *r = s->places[0].place;
	struct loop loop = { .steps = r->count / s->places[0].period,
	    .ends = r->first - g->first > g->last - r->last,
	    .calls = (double)(r->last - r->first) / (double)(r->count - 1) *
	    (double)s->places[0].period, .begin_ns = g->begin_ns, .end_ns = g->end_ns,
	    .ranks = zalloc((size_t)s->ranks, sizeof *loop.ranks) };

	for (int32_t i = 0; i < s->ranks; i++)
		loop.ends &= s->places[i].period == 1;
	for (int32_t i = 0; i < s->ranks; i++) {
		loop.ranks[i] = rank_steps(s->groups[i], &s->places[i], loop.ends);
		loop.chance = fmax(loop.chance, s->places[i].place->chance);
	}
	return loop;
}

/* STEPS on all ranks, divided by LIKE where it can be. */
static enum answer
try_place(const struct search *s, uint64_t steps, struct call_place like)
{
	enum answer least = YES;
	size_t nth = 0;

	for (int32_t r = 0; r < s->ranks && least > NO; r++) {
		const enum answer answer = best_place(s->groups[r], steps, s->wanted, like, &nth,
		    &s->places[r].place);

		s->places[r].period = 1;
		least = answer < least ? answer : least;
	}
	return least;
}

/* The same for each place of the first rank; first for one that divides the loop on all ranks. */
static enum answer
try_steps(const struct search *s, uint64_t steps)
{
	enum answer most = NO;

	for (size_t i = 0; i < s->groups[0]->count; i++) {
		const struct call_place like = s->groups[0]->places[i].place;
		enum answer answer;
		bool same = true;

		if (s->groups[0]->places[i].count != steps)
			continue;
		answer = try_place(s, steps, like);
		for (int32_t r = 0; r < s->ranks && answer == YES; r++)
			same &= same_place(s->places[r].place->place, like);
		if (answer == YES && same)
			return YES;
		most = answer > most ? answer : most;
	}
	return most == NO ? NO : try_place(s, steps, (struct call_place){ 0, 0 });
}

ORDER(by_count, uint64_t, COMPARED(*a, *b))

/* The fewest steps of the loop that are possible, and its places. */
static enum answer
try_counts(const struct search *s, uint64_t *steps)
{
	const struct group *g = s->groups[0];
	uint64_t *counts = zalloc(g->count, sizeof *counts);
	enum answer answer = NO;

	for (size_t i = 0; i < g->count; i++)
		counts[i] = g->places[i].count;
	SORT(counts, g->count, by_count);
	for (size_t i = 0; i < g->count && answer == NO; i++)
		if (counts[i] >= LEAST_STEPS && (i == 0 || counts[i] != counts[i - 1]) &&
		    (s->wanted == 0 || counts[i] == s->wanted)) {
			answer = try_steps(s, counts[i]);
			*steps = answer == NO ? *steps : counts[i];
		}
	free(counts);
	return answer;
}

/* The steps of a loop of which all ranks have a group. */
static void
find_loop(struct steps *steps, const struct search *s, const char *file)
{
	uint64_t most = UINT64_MAX;
	enum answer answer = try_counts(s, &most);
	struct loop loop = answer > NO ? loop_of(s) : (struct loop){ .ranks = NULL };

	if (answer < YES && s->wanted == 0 &&
	    turns_find(file, s->groups, s->ranks, most, s->places)) {
		free(loop.ranks);
		loop = loop_of(s);
		answer = YES;
	}
	if (answer == YES) {
		*APPEND(steps->loops, steps->count, steps->capacity) = loop;
		return;
	}
	if (loop.end_ns - loop.begin_ns > steps->undecided.end_ns - steps->undecided.begin_ns) {
		steps->undecided = loop;
		steps->undecided_at = loop.ranks[0].place;
		steps->undecided.ranks = NULL;
	}
	free(loop.ranks);
}

void
steps_find(struct steps *steps, const char *file, uint64_t wanted)
{
	struct call_groups groups = call_groups_find(file);
	const struct groups *first = &groups.ranks[0];

	struct search s = { zalloc((size_t)groups.count, sizeof *s.groups),
	    zalloc((size_t)groups.count, sizeof *s.places), groups.count, wanted };

	*steps = (struct steps){ .ranks = groups.count };
	for (size_t i = 0; i < first->count; i++) {
		bool all = first->at[i].count <= MOST_PLACES &&
		    first->at[i].end_ns - first->at[i].begin_ns >= groups.run_ns / LEAST_SHARE;

		s.groups[0] = &first->at[i];
		for (int32_t r = 1; r < groups.count && all; r++)
			all = (s.groups[r] = meanwhile(&groups.ranks[r], s.groups[0])) != NULL;
		if (all)
			find_loop(steps, &s, file);
	}
	free(s.groups);
	free(s.places);
	call_groups_free(&groups);
}

/*
 * ---- steps that the program names ----
 *
 * The instances of the outermost regions that repeat, equally often on all ranks. Most of the time
 * from the first to the last lies in them, and two such regions do not interleave: else they are
 * parts of steps without a name.
 */

/* A region on a rank. */
struct named {
	uint64_t count;
	uint32_t within;		/* the region around its first instance; 0: none */
	int64_t first_ns, last_ns;	/* its begin, and the end of the last instance */
	int64_t total_ns;		/* of all instances */
};

struct open_region {
	uint32_t region;
	int64_t begin_ns;
};

struct names {
	struct named *of;		/* by region */
	size_t capacity;
	struct open_region *inside;	/* the outermost first */
	size_t depth, room;
};

static void
see_event(struct names *names, int64_t at_ns, int32_t region)
{
	if (region > 0) {
		struct named *n = AT(names->of, names->capacity, region);

		if (n->count++ == 0) {
			n->first_ns = at_ns;
			n->within = names->depth > 0 ? names->inside[names->depth - 1].region : 0;
		}
		*APPEND(names->inside, names->depth, names->room) = (struct open_region){
		    (uint32_t)region, at_ns };
	} else if (names->depth > 0) {
		const struct open_region *ended = &names->inside[--names->depth];
		struct named *n = &names->of[ended->region];

		n->last_ns = at_ns;
		n->total_ns += at_ns - ended->begin_ns;
	}
}

static struct names *
read_names(const char *file, struct definitions *known)
{
	struct names *ranks = NULL;
	struct samples block = { 0 };
	struct message message;
	struct reader *in;

	if (reader_open(&in, file, READ_LAZY) < 0)
		die_input(in);
	while (definitions_next(known, in, &message)) {
		if (is_kind(&message, "run") && ranks == NULL)
			ranks = zalloc((size_t)known->ranks, sizeof *ranks);
		if (!is_kind(&message, "regions"))
			continue;
		if (reader_verify(in, &message) < 0 || samples_read(&block, in, &message) < 0)
			die_input(in);
		check_regions(known, in, &message, &block);
		for (size_t i = 0; i < block.count && block.worker == 0 &&
		    block.location < (uint32_t)known->ranks; i++)
			see_event(&ranks[block.location], block.time_ns[i], block.region[i]);
	}
	samples_free(&block);
	reader_close(in);
	return ranks;
}

/* Does no region around it repeat? */
static bool
is_outermost(const struct names *names, uint32_t region)
{
	size_t left = names->capacity;

	for (uint32_t r = names->of[region].within; r > 0; r = names->of[r].within)
		if (names->of[r].count >= LEAST_STEPS || left-- == 0)
			return false;
	return true;
}

ORDER(by_begin, struct loop, BY(begin_ns) BY(region))

bool
steps_named(struct steps *steps, const char *file, uint64_t wanted)
{
	struct definitions known = { 0 };
	struct names *ranks = read_names(file, &known);

	*steps = (struct steps){ .ranks = known.ranks };
	for (uint32_t region = 1; ranks != NULL && region < ranks[0].capacity; region++) {
		const struct named *n = &ranks[0].of[region];
		bool same = n->count >= LEAST_STEPS && is_outermost(&ranks[0], region) &&
		    n->last_ns - n->first_ns >= known.run_ns / LEAST_SHARE &&
		    n->total_ns >= (n->last_ns - n->first_ns) / 2 &&
		    (wanted == 0 || n->count == wanted);

		for (int32_t r = 1; r < known.ranks && same; r++)
			same = region < ranks[r].capacity && ranks[r].of[region].count == n->count;
		if (same)
			*APPEND(steps->loops, steps->count, steps->capacity) = (struct loop){
			    .steps = n->count, .ends = -1, .chance = NAN, .calls = NAN,
			    .begin_ns = n->first_ns, .end_ns = n->last_ns, .region = region };
	}
	SORT(steps->loops, steps->count, by_begin);
	for (size_t i = 1; i < steps->count; i++)
		if (steps->loops[i].begin_ns < steps->loops[i - 1].end_ns)
			steps->count = 0;
	for (int32_t r = 0; r < known.ranks; r++) {
		free(ranks[r].of);
		free(ranks[r].inside);
	}
	free(ranks);
	return steps->count > 0;
}
