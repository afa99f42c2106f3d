/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of a loop in which one function makes several calls of a step. Each p-th call at a place
 * begins a step if the peers of the calls repeat with period p, on each rank with one of its own.
 * Partners that change from step to step repeat, too: so on rank 0 there is computation before the
 * calls of some turn of the period that others lack.
 *
 * Memory: 1.6 KB for each rank and place of the loop.
 */
#ifndef TURNS_H
#define TURNS_H

#include "dividing_places.h"

/* Each of so many calls at the place, on one rank, divides the loop. */
struct turns {
	const struct repeated *place;
	uint64_t period;
};

/*
 * Reads FILE for the loop that has one group of each rank, and finds the places that divide it into
 * the fewest steps. False: there are none, or more than MOST.
 */
bool turns_find(const char *file, const struct group **loop, int32_t ranks, uint64_t most,
    struct turns *found);

#endif
