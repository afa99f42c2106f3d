/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions.h"

#include <math.h>

/* Of a signal: a smaller deviation within a phase counts as this one. */
static const double LEAST = 0.1;

/*
 * Twice the negative logarithm of the likelihood of bins FROM to before TO as normal ones with a
 * mean and a variance of their own: a phase that is restless by itself is one phase. A deviation below
 * LEAST says nothing.
 */
static double
cost(const struct bins *bins, int from, int to)
{
	double all = 0, n = to - from;

	for (int k = 0; k < SIGNALS; k++) {
		double sum = bins->sum[k][to] - bins->sum[k][from];
		double squares = bins->squares[k][to] - bins->squares[k][from] - sum * sum / n;

		all += n * log(fmax(squares / n, 0) + LEAST * LEAST);
	}
	return all;
}

int
find_cuts(const struct bins *bins, int *cut)
{
	/* Twice what BIC asks for means, variances and place: neighbours are alike. */
	const double penalty = 2 * (2 * SIGNALS + 1) * log(BINS);
	static double best[BINS + 1];
	static int before[BINS + 1], candidates[BINS + 1];
	int count = 0, cuts = 0;

	best[0] = -penalty;
	for (int to = 1; to < LEAST_BINS; to++)
		best[to] = INFINITY;
	for (int to = LEAST_BINS; to <= BINS; to++) {
		int kept = 0;

		candidates[count++] = to - LEAST_BINS;
		best[to] = INFINITY;
		for (int i = 0; i < count; i++) {
			double all = best[candidates[i]] + cost(bins, candidates[i], to) + penalty;

			if (all < best[to]) {
				best[to] = all;
				before[to] = candidates[i];
			}
		}
		for (int i = 0; i < count; i++)		/* the pruning of PELT */
			if (best[candidates[i]] < INFINITY &&
			    best[candidates[i]] + cost(bins, candidates[i], to) <= best[to])
				candidates[kept++] = candidates[i];
		count = kept;
	}
	for (int to = BINS; to > 0; to = before[to])
		cut[cuts++] = to;
	for (int i = 0; i < cuts / 2; i++) {
		int other = cut[i];

		cut[i] = cut[cuts - 1 - i];
		cut[cuts - 1 - i] = other;
	}
	return cuts;
}
