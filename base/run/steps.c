/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps.h"

#include <math.h>
#include <stdlib.h>

#include "../tool/tool.h"
#include "dividing_places.h"

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
