/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAUSES_H
#define CAUSES_H

#include "fixed.h"
#include "imbalance.h"
#include "origins.h"

/* What one rank's excess time on one piece of code cost others. */
struct delay {
	uint32_t key;		/* 2 * site: compute up to it; 2 * site + 1: MPI in it */
	int32_t rank;		/* -1: free slot */
	uint32_t short_fraction, long_fraction;
	int64_t short_whole_ns, long_whole_ns;
	int64_t cells_ns;	/* both, each cut to nanoseconds when it came: for the cells */
};

static inline double
delay_short_ns(const struct delay *d)
{
	return fixed_ns(d->short_whole_ns, d->short_fraction);
}

static inline double
delay_long_ns(const struct delay *d)
{
	return fixed_ns(d->long_whole_ns, d->long_fraction);
}

static inline double
delay_cost_ns(const struct delay *d)
{
	int64_t ns = d->short_whole_ns;
	uint32_t fraction = d->short_fraction;

	fixed_add(&ns, &fraction, d->long_whole_ns, d->long_fraction);
	return fixed_ns(ns, fraction);
}

void causes_begin(struct imbalance *im);
/* A call with its waits; calls come in order of their leaves. */
void count_causes(struct imbalance *im, const struct whole_call *call, const struct wait *waits, int count);
/*
 * All have synchronised, the last of them at AT, and the last call of each was where: no wait to come looks
 * back to before that.
 */
void causes_forget(struct imbalance *im, int64_t at_ns);
/* A call is the first that is known of its location. */
void causes_start(struct imbalance *im, const struct whole_call *call);
void causes_end(struct imbalance *im);

struct delays *delays_of(const struct imbalance *im);
struct delay *sorted_delays(const struct imbalance *im, size_t *count);	/* most costly first */
size_t chain_count(const struct imbalance *im);
/* One of the longest waits and, behind it, the waits that led to it; returns how many. */
size_t chain_of(const struct imbalance *im, size_t index, struct wait chain[MOST_LINKS]);
/* One of another part of the run. */
void join_chain(struct imbalance *im, const struct wait *chain, size_t links);

#endif
