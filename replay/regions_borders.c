/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions.h"

#include <math.h>
#include <stdlib.h>

#include "../base/tool/search.h"

/* Of the logarithm of what pairs last: phases differ by more. */
static const double SAME_SIZE = 0.25;

/* The logarithm of a part of a pair; below 100 ns all is alike. */
static double
size_of(const struct series *s, size_t i, enum part part)
{
	return log(fmax(part_of(s, i, part), 100));
}

/* So many of the pairs FIRST to before END are smaller, a share. */
static double
typical(const struct series *s, size_t first, size_t end, enum part part, double share)
{
	double *all = zalloc(end - first, sizeof *all), result;

	for (size_t i = first; i < end; i++)
		all[i - first] = size_of(s, i, part);
	qsort(all, end - first, sizeof *all, by_value);
	result = all[(size_t)(share * (double)(end - first))];
	free(all);
	return result;
}

/*
 * Where between two phases, that begin at pair FIRST and end before END, the border lies exactly,
 * to a pair: from FROM to before TO, so that distances of all pairs from what is typical of their
 * phase add up to the least.
 */
static size_t
exact_border(const struct series *s, size_t first, size_t from, size_t to, size_t end)
{
	double left[PARTS], right[PARTS], sum = 0, least = 0;
	size_t border = from;

	for (enum part k = 0; k < PARTS; k++) {
		left[k] = typical(s, first, from, k, 0.5);
		right[k] = typical(s, to, end, k, 0.5);
	}
	for (size_t i = from; i < to; i++) {
		for (enum part k = 0; k < PARTS; k++) {
			double x = size_of(s, i, k);

			sum += fabs(x - left[k]) - fabs(x - right[k]);
		}
		if (sum < least) {
			least = sum;
			border = i + 1;
		}
	}
	return border;
}

/* The first pair that ends at this bin or later. */
#define BEFORE(end, bin) (*(end) < (bin))
SEARCH(pair_at, double, double, BEFORE)

/* Bins that are not independent put a border up to so many too far. */
enum { REACH = 3 * LEAST_BINS };

void
find_lasts(const struct series *s, const double *ends, const int *cut, int cuts, size_t *last)
{
	for (int k = 0; k + 1 < cuts; k++) {
		size_t first = k > 0 ? last[k - 1] + 1 : 0, end = pair_at(ends, s->count, cut[k + 1]);
		double left = (cut[k] - (k > 0 ? cut[k - 1] : 0)) / 2.0, right = (cut[k + 1] - cut[k]) / 2.0;
		size_t from = pair_at(ends, s->count, cut[k] - fmin(left, REACH));
		size_t to = pair_at(ends, s->count, cut[k] + fmin(right, REACH));

		last[k] = pair_at(ends, s->count, cut[k]);
		if (first < from && from < to && to < end) {
			size_t border = exact_border(s, first, from, to, end);

			last[k] = border > 0 ? border - 1 : 0;
		}
	}
	last[cuts - 1] = s->count - 1;
}

/* A step may be of two kinds of pairs, so both the smaller and the larger ones are looked at. */
static bool
are_alike(const struct series *s, size_t first, size_t border, size_t end)
{
	for (enum part k = 0; k < PARTS; k++)
		for (double share = 0.3; share < 0.8; share += 0.4)
			if (fabs(typical(s, first, border, k, share) - typical(s, border, end, k, share)) >
			    SAME_SIZE)
				return false;
	return true;
}

static double
recorded_until(const struct series *s, size_t pairs)
{
	return pairs > 0 ? (double)s->pairs[pairs - 1].recorded_ns : 0;
}

int
unite(const struct series *s, size_t *last, int cuts)
{
	double least = recorded_until(s, s->count) * LEAST_BINS / BINS / 2;
	int kept = 0;

	for (int k = 0; k < cuts; k++) {
		size_t first = kept > 1 ? last[kept - 2] + 1 : 0;

		if (kept > 0 && first <= last[kept - 1] && last[kept - 1] < last[k] &&
		    (recorded_until(s, last[kept - 1] + 1) - recorded_until(s, first) < least ||
		    recorded_until(s, last[k] + 1) - recorded_until(s, last[kept - 1] + 1) < least ||
		    are_alike(s, first, last[kept - 1] + 1, last[k] + 1)))
			kept--;
		last[kept++] = last[k];
	}
	return kept;
}
