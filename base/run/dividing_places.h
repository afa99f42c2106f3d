/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which places of a group divide it into steps, by how the calls of rank 0 at each of them lie
 * among those at the others.
 */
#ifndef DIVIDING_PLACES_H
#define DIVIDING_PLACES_H

#include "call_groups.h"

/*
 * The calls at a place among those of another one, with as many calls or more; among all, if it is
 * the place itself.
 */
struct among {
	uint64_t after;			/* calls directly after one of any other place */
	uint64_t since;			/* calls of the other one at the last call of this one */
	struct gaps gaps;
	uint64_t usual, votes;		/* the gap of most, by majority vote */
};

/* Most steps have a place, and some have others instead. */
struct instead {
	uint32_t divides, main;		/* the places that divides the steps, and that most have */
	uint64_t steps;			/* without it */
	uint64_t *others;		/* of these, steps with each place */
};

/* From a place to the one of the next call. */
struct way {
	uint32_t from, to;
	double calls, share;
};

/* Places of a group, those with the most calls first. */
struct clocks {
	struct group *group;
	uint64_t *calls;		/* so far */
	uint64_t *at;			/* the last call + 1 */
	uint64_t all_calls;		/* so far, of all of them */
	size_t before;			/* the place of the last one */
	struct among *among;		/* this place, among that one */
	struct way *ways;		/* NULL: not counted yet */
	size_t way_count;
	struct instead *instead;
	size_t instead_count, instead_capacity;
};

/*
 * Which places are regular; those with the most calls come first: others need them. And which of
 * their steps lack a place that most have: the caller then counts what these have instead.
 */
void judge_group(struct clocks *clocks);
/*
 * chain.c: the probability that the calls at a place are so regular if each call of the group
 * depends only on the one before. 0 if each way leads back to the place: it is in no inner loop.
 */
double chain_chance(struct clocks *clocks, size_t place);
/* Which places pass or are doubtful. Frees all but the group. */
void end_judgement(struct clocks *clocks);

/*
 * Does the place divide the group into steps? Its calls reach from begin to end, and are regular;
 * or there are STEPS of them, as wanted, where STEPS is not 0.
 */
enum answer { NO, UNDECIDED, YES };
enum answer place_divides(const struct group *g, const struct repeated *r, uint64_t steps);
/* Else so many steps may be output: there are few, and they have many other calls. */
bool are_enough(const struct group *g, const struct repeated *r, uint64_t steps);

/* Each of so many calls at the place, on one rank, divides the loop. */
struct turns {
	const struct repeated *place;
	uint64_t period;
};

/*
 * turns.c: reads FILE for the loop that has one group of each rank, and finds the places that
 * divide it into the fewest steps. False: there are none, or more than MOST.
 */
bool turns_find(const char *file, const struct group **loop, int32_t ranks, uint64_t most,
    struct turns *found);

#endif
