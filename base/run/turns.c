/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of a loop in which one function makes several calls of a step. Each p-th call at a place
 * begins a step if the peers of the calls repeat with period p, on each rank with one of its own.
 * Partners that change from step to step repeat, too: so on rank 0 there is computation before the
 * calls of some turn of the period that others lack.
 *
 * Memory: 1.6 KB for each rank and place of the loop.
 */
#include "steps.h"

#include <math.h>
#include <stdlib.h>

#include "../tool/hash_table.h"
#include "../tool/tool.h"

enum { MOST_TURNS = 32, KEPT = 2 * MOST_TURNS };
/* Computation differs between turns: by such a factor, and so many standard errors. */
static const double LONGER = 1.5, SURELY = 6;

/* The calls at a place of a rank, one of each burst. */
struct called {
	uint64_t at;			/* the last one + 1 */
	uint64_t count;
	uint32_t period;		/* with which peers repeat; 0: none, or not known yet */
	int32_t peers[KEPT];		/* of the first ones */
	double before[KEPT];		/* the logarithm of the computation before them */
	struct turn { double count, sum, squares; } turns[MOST_TURNS];
};

struct slot {
	int32_t rank;			/* -1: free */
	struct call_place place;
	uint64_t burst;
	struct called *called;
};

HASH_TABLE_BY(slot_table, struct slot, RANK_PLACE_HASH, RANK_PLACE_SAME, rank, -1)

static void
add_turn(struct called *c, uint64_t number, double before)
{
	struct turn *turn = &c->turns[number % c->period];

	turn->count++;
	turn->sum += before;
	turn->squares += before * before;
}

/* The period of the calls that are kept. It lasts: a shorter one would have shown in twice it. */
static void
find_period(struct called *c)
{
	const uint32_t kept = c->count < KEPT ? (uint32_t)c->count : KEPT;

	for (uint32_t p = 1; p <= MOST_TURNS && p <= kept && c->period == 0; p++) {
		uint32_t i = p;

		while (i < kept && c->peers[i] == c->peers[i - p])
			i++;
		if (i == kept)
			c->period = p;
	}
	for (uint32_t i = 0; i < kept && c->period > 0; i++)
		add_turn(c, i, c->before[i]);
}

static void
take_call(void *context, const struct step_call *call)
{
	const struct slot *slot = slot_table_find(context,
	    &(struct slot){ .rank = call->rank, .place = call->place });
	const double before = log(1 + (double)(call->enter_ns - call->left_ns));
	struct called *c = slot != NULL ? slot->called : NULL;
	bool burst;

	if (c == NULL)
		return;
	burst = c->at > 0 && call->number + 1 - c->at == slot->burst;
	c->at = call->number + 1;
	if (burst)
		return;
	if (c->count == KEPT)
		find_period(c);
	if (c->count < KEPT) {
		c->peers[c->count] = call->peer;
		c->before[c->count] = before;
	} else if (c->period > 0 && call->peer == c->peers[c->count % c->period]) {
		add_turn(c, c->count, before);
	} else {
		c->period = 0;
	}
	c->count++;
}

/* Of places that may divide the loop. */
static void
read_turns(const char *file, const struct group **loop, int32_t ranks, struct slot_table **table)
{
	for (int32_t r = 0; r < ranks; r++)
		for (size_t i = 0; i < loop[r]->count; i++) {
			const struct repeated *place = &loop[r]->places[i];
			const struct slot new = { r, place->place, place->burst, NULL };

			if (place_divides(loop[r], place, 0) == YES)
				slot_table_add(table, &new)->called =
				    zalloc(1, sizeof(struct called));
		}
	rewind_input(file);
	step_calls_read(file, ranks, take_call, *table);
	for (const struct slot *s = NULL; (s = slot_table_next(*table, s)) != NULL; )
		if (s->called->count <= KEPT)
			find_period(s->called);
}

static double
mean(const struct turn *turn)
{
	return turn->sum / turn->count;
}

static double
error_squared(const struct turn *turn)
{
	return fmax(turn->squares / turn->count - mean(turn) * mean(turn), 0) / turn->count;
}

static bool
begins_by_time(const struct called *c)
{
	const struct turn *most = &c->turns[0], *least = most;
	double far;

	for (uint32_t i = 1; i < c->period; i++) {
		most = mean(&c->turns[i]) > mean(most) ? &c->turns[i] : most;
		least = mean(&c->turns[i]) < mean(least) ? &c->turns[i] : least;
	}
	far = mean(most) - mean(least);
	return far >= log(LONGER) &&
	    far * far >= SURELY * SURELY * (error_squared(most) + error_squared(least));
}

static const struct called *
called_at(const struct slot_table *table, const struct repeated *place)
{
	const struct slot *slot = slot_table_find(table,
	    &(struct slot){ .rank = place->rank, .place = place->place });

	return slot != NULL && slot->called->period > 0 ? slot->called : NULL;
}

/* The next number of steps above LEAST that a place of rank 0 has by itself; 0: none. */
static uint64_t
next_steps(const struct slot_table *table, const struct group *g, uint64_t least)
{
	uint64_t next = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct called *c = called_at(table, &g->places[i]);
		const uint64_t steps = c != NULL ? c->count / c->period : 0;

		if (steps > least && (next == 0 || steps < next) && c->count % c->period == 0 &&
		    (c->period == 1 || begins_by_time(c)))
			next = steps;
	}
	return next;
}

/* The place of the group that divides it into STEPS: LIKE, if it does; else the first one. */
static struct turns
dividing_turns(const struct slot_table *table, const struct group *g, uint64_t steps,
    struct call_place like)
{
	struct turns best = { NULL, 0 };

	for (size_t i = 0; i < g->count; i++) {
		const struct repeated *place = &g->places[i];
		const struct called *c = called_at(table, place);
		const uint64_t period = c != NULL ? c->count / steps : 0;

		if (period > 0 && period * steps == c->count && period % c->period == 0 &&
		    (c->period > 1 || period == 1) && are_enough(g, place, steps) &&
		    (best.place == NULL || same_place(place->place, like)))
			best = (struct turns){ place, period };
	}
	return best;
}

bool
turns_find(const char *file, const struct group **loop, int32_t ranks, uint64_t most,
    struct turns *found)
{
	uint64_t steps = LEAST_STEPS - 1;
	struct slot_table *table = NULL;
	bool peers = false;

	for (int32_t r = 0; r < ranks; r++)
		for (size_t i = 0; i < loop[r]->count; i++)
			peers |= loop[r]->places[i].peers;
	if (!peers)
		return false;
	read_turns(file, loop, ranks, &table);
	while ((steps = next_steps(table, loop[0], steps)) > 0 && steps <= most) {
		int32_t r = 0;

		do {
			found[r] = dividing_turns(table, loop[r], steps, r > 0 ?
			    found[0].place->place : (struct call_place){ 0, 0 });
		} while (found[r].place != NULL && ++r < ranks);
		if (r == ranks)
			break;
	}
	for (const struct slot *s = NULL; (s = slot_table_next(table, s)) != NULL; )
		free(s->called);
	free(table);
	return steps > 0 && steps <= most;
}
