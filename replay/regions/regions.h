/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the phases of a rank: pairs in blocks, the best cut of them into pieces, the exact borders. */
#ifndef REGIONS_H
#define REGIONS_H

#include "../replay.h"

enum { MOST_PHASES = 40 };	/* none is shorter than a fortieth of the run while it is looked for */

/* What a pair lasts: computing, waiting and, on the ideal network, all of it. */
enum part { USEFUL, WAITING, SIMULATED, PARTS };

/* The logarithms of these, in ns; below 100 ns all is alike. */
struct sizes {
	double *of[PARTS];
	size_t count;
};

static inline double
recorded_until(const struct series *s, size_t pairs)
{
	return pairs > 0 ? (double)s->pairs[pairs - 1].recorded_ns : 0;
}

/* For qsort, of doubles. */
int by_value(const void *left, const void *right);

/*
 * cuts.c: how many pairs there are up to the end of each piece, into ENDS, which has room for
 * MOST_PHASES; how many pieces.
 */
int find_cuts(const struct series *series, const struct sizes *sizes, size_t *ends);
/* cuts.c: each border to the pair where it lies. */
void move_borders(const struct series *series, const struct sizes *sizes, size_t *ends, int count);

#endif
