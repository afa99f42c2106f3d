/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions.h"

#include <math.h>
#include <stdlib.h>

enum { NEAR = 40 };	/* pairs on each side that a fence is of */

int
by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double
far_fence(const struct series *s, enum part part, size_t first, size_t end)
{
	double near[NEAR] = { 0 };
	size_t n = 0;

	for (size_t i = first; i < end; i++)
		near[n++] = part_of(s, i, part);
	qsort(near, n, sizeof *near, by_value);
	return near[3 * n / 4] + 3 * (near[3 * n / 4] - near[n / 4]);
}

/*
 * A process that the system stops for a time slice is no phase: what a part of a pair lasts beyond
 * the far fence of its neighbours (Tukey: three quartile distances over the upper quartile) does
 * not count. At a border those on one side are others: the higher fence of both sides holds.
 * FENCE is by block.
 */
void
find_fences(const struct series *s, enum part part, double *fence)
{
	for (size_t first = 0; first < s->count; first += FENCED) {
		size_t before = first + FENCED > NEAR ? first + FENCED - NEAR : 0;
		size_t end = first + FENCED < s->count ? first + FENCED : s->count;
		size_t after = first + NEAR < s->count ? first + NEAR : s->count;

		fence[first / FENCED] = fmax(far_fence(s, part, before, end),
		    far_fence(s, part, first, after));
	}
}
