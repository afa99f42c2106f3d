/* SPDX-License-Identifier: BSD-3-Clause */
#include "shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "../tool/tool.h"

void
share_sums_grow(struct share_sums *sums, size_t delays)
{
	(void)AT(sums->of, sums->capacity, delays);
	GROW(sums->delays, sums->delay_capacity, sums->capacity + 1);	/* for one too many */
}

/* Counts the shares of at least LEAST, and adds up the others. */
static double
sum_smaller(const struct share_sums *sums, double least, size_t *large)
{
	double sum = 0;

	*large = 0;
	for (size_t i = 0; i < sums->count; i++) {
		const double share = sums->of[sums->delays[i]];

		*large += share >= least;
		sum += share >= least ? 0 : share;
	}
	return sum;
}

/* Shares of at least this are kept as they are. The others get the places that are left. */
static double
least_kept(const struct share_sums *sums, size_t most)
{
	size_t large, before;
	double least = sum_smaller(sums, INFINITY, &before) / (double)most, sum;

	for (; (sum = sum_smaller(sums, least, &large)) > 0 && large > before && large < most;
	    before = large)
		least = sum / (double)(most - large);
	return least;
}

/* Moves the large shares, and a sample of the others, to the front. */
static void
sample(struct share_sums *sums, size_t most, uint64_t seed)
{
	const double least = least_kept(sums, most);
	double passed = least * (double)(mix(seed, 0) >> 11) * 0x1p-53;
	size_t kept = 0;

	for (size_t i = 0; i < sums->count; i++) {
		const uint32_t delay = sums->delays[i];
		const double share = sums->of[delay];

		passed += share < least ? share : 0;
		if (kept == most || (share < least && passed < least)) {
			sums->of[delay] = 0;
			continue;
		}
		if (share < least) {
			sums->of[delay] = least;
			passed -= least;
		}
		sums->delays[kept++] = delay;
	}
	sums->count = kept;
}

size_t
share_take(struct share_sums *sums, size_t most, uint64_t seed, uint32_t *delay, double *share)
{
	size_t count;

	if (sums->count > most)
		sample(sums, most, seed);
	count = sums->count;
	for (size_t i = 0; i < count; i++) {
		delay[i] = sums->delays[i];
		share[i] = sums->of[delay[i]];
		sums->of[delay[i]] = 0;
	}
	sums->count = 0;
	return count;
}
