/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the phases of a rank: time in bins, the best cut of them into pieces, the exact borders. */
#ifndef REGIONS_H
#define REGIONS_H

#include "replay.h"

enum { BINS = 300, SIGNALS = 3, LEAST_BINS = 8 };	/* a phase has that many at least */

struct bins {
	double signal[SIGNALS][BINS];
	double sum[SIGNALS][BINS + 1], squares[SIGNALS][BINS + 1];	/* of those before */
};

/* What a pair lasted: computing, waiting and, on the ideal network, all of it. */
enum part { USEFUL, WAITING, SIMULATED, PARTS };

static inline double
part_of(const struct series *s, size_t i, enum part part)
{
	const struct pair *p = &s->pairs[i];
	struct pair last = i > 0 ? s->pairs[i - 1] : (struct pair){ 0, 0, 0 };
	double useful = (double)p->useful_ns - (double)last.useful_ns;

	return part == USEFUL ? useful : part == SIMULATED ?
	    (double)p->simulated_ns - (double)last.simulated_ns :
	    (double)p->recorded_ns - (double)last.recorded_ns - useful;
}

/* For qsort, of doubles. */
int by_value(const void *left, const void *right);

/* regions_fences.c: by block of FENCED pairs how long a part of a pair may be and count. */
enum { FENCED = 8 };
void find_fences(const struct series *s, enum part part, double *fence);
/* regions_bins.c: ENDS is where each pair ends, in bins. */
void fill_bins(struct bins *bins, const struct series *s, double *ends);
/* regions_pelt.c: into CUT, ends of the pieces in order; how many. */
int find_cuts(const struct bins *bins, int *cut);
/* regions_borders.c: LAST of each piece becomes the pair that ends it. */
void find_lasts(const struct series *s, const double *ends, const int *cut, int cuts, size_t *last);
/* Pieces whose pairs are alike, or that are too short, become one phase. How many are left. */
int unite(const struct series *s, size_t *last, int cuts);

#endif
