/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a pair adds to the bins that it covers: FROM and TO in bins, 0 <= FROM <= TO <= BINS. */
static void
spread(double *bins, double from, double to, double amount)
{
	double length = to - from;
	int first = from < BINS - 1 ? (int)from : BINS - 1, last = to < BINS - 1 ? (int)to : BINS - 1;

	for (int b = first; b <= last; b++) {
		double begin = from > b ? from : b, end = to < b + 1 ? to : b + 1;

		bins[b] += length > 0 ? amount * (end - begin) / length : amount / (last - first + 1);
	}
}

static void
add_up(struct bins *bins)
{
	for (int k = 0; k < SIGNALS; k++) {
		bins->sum[k][0] = bins->squares[k][0] = 0;
		for (int b = 0; b < BINS; b++) {
			bins->sum[k][b + 1] = bins->sum[k][b] + bins->signal[k][b];
			bins->squares[k][b + 1] = bins->squares[k][b] + bins->signal[k][b] * bins->signal[k][b];
		}
	}
}

/*
 * Bins are of equal time without what does not count: in a time slice lost there would else be many
 * bins of one pair. ENDS is where each pair ends, in bins.
 */
void
fill_bins(struct bins *bins, const struct series *s, double *ends)
{
	static double amounts[PARTS][BINS], calls[BINS];
	double *counted[PARTS], all = 0, from = 0;

	memset(amounts, 0, sizeof amounts);
	memset(calls, 0, sizeof calls);
	for (enum part k = 0; k < PARTS; k++) {
		double *fence = zalloc(s->count / FENCED + 1, sizeof *fence);

		counted[k] = zalloc(s->count, sizeof *counted[k]);
		find_fences(s, k, fence);
		for (size_t i = 0; i < s->count; i++)
			counted[k][i] = fmin(part_of(s, i, k), fence[i / FENCED]);
		free(fence);
	}
	for (size_t i = 0; i < s->count; i++)
		ends[i] = all += fmax(0, counted[USEFUL][i] + counted[WAITING][i]);
	all = all > 0 ? all : 1;
	for (size_t i = 0; i < s->count; i++) {
		ends[i] *= BINS / all;
		for (int k = 0; k < PARTS; k++)
			spread(amounts[k], from, ends[i], counted[k][i]);
		spread(calls, from, ends[i], 1);
		from = ends[i];
	}
	for (int k = 0; k < PARTS; k++)
		free(counted[k]);
	for (int b = 0; b < BINS; b++) {
		double time = fmax(1, amounts[USEFUL][b] + amounts[WAITING][b]);

		bins->signal[0][b] = fmax(0, fmin(2, amounts[SIMULATED][b] / time));
		bins->signal[1][b] = fmax(0, fmin(2, amounts[USEFUL][b] / time));
		bins->signal[2][b] = log(calls[b] + 1e-3);
	}
	add_up(bins);
}
