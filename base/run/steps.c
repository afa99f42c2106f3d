/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps.h"

#include <math.h>
#include <stdlib.h>

#include "../tool/tool.h"
#include "turns.h"

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
rank_steps(const struct group *g, const struct repeated *r, bool ends)
{
	struct rank_steps steps = { r->place, r->first, r->last + r->gaps.most - 1, r->unit,
	    r->burst, 1 };

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

/* STEPS on COUNT ranks in the loop of the first rank's GROUP, divided by LIKE where it can be. */
static enum answer
try_place(const struct groups *ranks, int32_t count, const struct group *group, uint64_t steps,
    uint64_t wanted, struct call_place like, struct loop *loop)
{
	enum answer least = YES;
	size_t nth = 0;

	loop->steps = steps;
	loop->chance = 0;
	loop->begin_ns = group->begin_ns;
	loop->end_ns = group->end_ns;
	for (int32_t r = 0; r < count && least > NO; r++) {
		const struct group *g = r == 0 ? group : meanwhile(&ranks[r], group);
		const struct repeated *best = NULL;
		const enum answer answer = g == NULL ? NO :
		    best_place(g, steps, wanted, like, &nth, &best);

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

/* Fewer than these, which are undecided, or 0: by the peers of calls. */
static bool
try_turns(struct steps *steps, const struct groups *ranks, const struct group *group,
    const char *file, struct loop *loop)
{
	const size_t count = (size_t)steps->ranks;
	const struct group **groups = zalloc(count, sizeof *groups);
	struct turns *found = zalloc(count, sizeof *found);
	bool peers = false, all = true;
	uint64_t n = 0;

	for (int32_t r = 0; r < steps->ranks && all; r++) {
		groups[r] = r == 0 ? group : meanwhile(&ranks[r], group);
		all = groups[r] != NULL;
		for (size_t i = 0; all && i < groups[r]->count; i++)
			peers |= groups[r]->places[i].peers;
	}
	if (all && peers)
		n = turns_find(file, groups, steps->ranks, loop->steps > 0 ? loop->steps :
		    UINT64_MAX, found);
	if (n > 0) {
		const struct repeated *r = found[0].place;

		*loop = (struct loop){ .steps = n, .begin_ns = group->begin_ns,
		    .end_ns = group->end_ns, .ranks = loop->ranks, .chance = r->chance,
		    .calls = (double)(r->last - r->first) / (double)(r->count - 1) *
		    (double)found[0].period };
	}
	for (int32_t r = 0; r < steps->ranks && n > 0; r++) {
		loop->ranks[r] = rank_steps(groups[r], found[r].place, false);
		loop->ranks[r].period = found[r].period;
	}
	free(groups);
	free(found);
	return n > 0;
}

ORDER(by_count, uint64_t, COMPARED(*a, *b))

/* The steps of the loop of the first rank's GROUP. */
static void
find_loop(struct steps *steps, const struct groups *ranks, const struct group *group,
    const char *file, uint64_t wanted)
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
	if (answer == NO)
		loop.steps = 0;
	if (answer < YES && wanted == 0 && try_turns(steps, ranks, group, file, &loop))
		answer = YES;
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
	struct call_groups groups = call_groups_find(file);
	const struct groups *first = &groups.ranks[0];

	*steps = (struct steps){ .ranks = groups.count };
	for (size_t i = 0; i < first->count; i++)
		if (first->at[i].count <= MOST_PLACES &&
		    first->at[i].end_ns - first->at[i].begin_ns >= groups.run_ns / LEAST_SHARE)
			find_loop(steps, groups.ranks, &first->at[i], file, wanted);
	call_groups_free(&groups);
}
