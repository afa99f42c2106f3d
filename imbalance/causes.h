/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAUSES_H
#define CAUSES_H

#include "imbalance.h"
#include "origins.h"

/* What one rank's excess time on one piece of code cost others. */
struct delay {
	uint32_t key;		/* 2 * site: compute up to it; 2 * site + 1: MPI in it */
	int32_t rank;		/* -1: free slot */
	double short_ns, long_ns;
};

void causes_begin(struct imbalance *im);
/* A call with its waits; calls come in order of their leaves. */
void count_causes(struct imbalance *im, const struct whole_call *call, const struct wait *waits, int count);
void causes_end(struct imbalance *im);

struct delay *sorted_delays(const struct imbalance *im, size_t *count);	/* most costly first */
size_t chain_count(const struct imbalance *im);
/* One of the longest waits and, behind it, the waits that led to it; returns how many. */
size_t chain_of(const struct imbalance *im, size_t index, struct wait chain[MOST_LINKS]);

#endif
