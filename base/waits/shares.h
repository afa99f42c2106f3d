/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internal to the causes of waits: the share of each delay in a wait. A wait may have thousands of
 * causes, and each is a cause of the waits that follow from it. So only few are kept, as a sample
 * that stands for all: large shares as they are, and of the others some, with an equal share each.
 * The sum of shares does not change, and the expected share of each cause is its own (systematic
 * sampling with probability proportional to size: Madow, Annals of Mathematical Statistics 20,
 * 1949). The sample depends on the wait alone, so it is the same in each analysis of a run.
 */
#ifndef SHARES_H
#define SHARES_H

#include <stddef.h>
#include <stdint.h>

/* Scratch memory, empty between uses. */
struct share_sums {
	double *of;		/* by number of a delay */
	size_t capacity;
	uint32_t *delays;	/* the delays with a share */
	size_t count, delay_capacity;
};

void share_sums_grow(struct share_sums *sums, size_t delays);

/* Makes room for DELAYS delays, before any of them gets a share. */
static inline void
share_sums_know(struct share_sums *sums, size_t delays)
{
	if (delays > sums->capacity)
		share_sums_grow(sums, delays);
}

/* Without a branch: which delays are new is hard to predict. */
static inline void
share_add(struct share_sums *sums, uint32_t delay, double share)
{
	double *sum = &sums->of[delay];

	sums->delays[sums->count] = delay;
	sums->count += *sum == 0 && share > 0;
	*sum += share;
}

/* Empties the sums into at most MOST delays and their shares. Returns their number. */
size_t share_take(struct share_sums *sums, size_t most, uint64_t seed, uint32_t *delay,
    double *share);

#endif
