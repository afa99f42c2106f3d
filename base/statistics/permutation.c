/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of two sides of runs by relabelling. If the sides are alike, every choice of side B among
 * the runs is as likely as the real one [F]. Exact if there are few ways to choose; otherwise from
 * a random sample of them and the real one [D].
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "statistics.h"

enum { WAYS_MOST = 4000 };	/* 7 and 7 runs have 3432 */
#define ALIKE 1e-9		/* smaller differences are rounding, which breaks ties at random */

double
ways_to_choose(size_t a, size_t b)
{
	double ways = 1;

	for (size_t i = 1; i <= a; i++)
		ways *= (double)(b + i) / (double)i;
	return round(ways);
}

/* The next set of COUNT ascending numbers below RUNS; false: that was the last. */
static bool
next_choice(size_t *chosen, size_t count, size_t runs)
{
	size_t i = count;

	while (i > 0 && chosen[i - 1] == runs - count + i - 1)
		i--;
	if (i == 0)
		return false;
	chosen[i - 1]++;
	for (; i < count; i++)
		chosen[i] = chosen[i - 1] + 1;
	return true;
}

size_t
random_below(struct random *random, size_t limit)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (size_t)((z ^ z >> 31) % limit);
}

void
random_order(struct random *random, size_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t other = random_below(random, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
}

/* Draws the smaller side, so that swapped sides give the same partitions. */
static void
draw(size_t *chosen, size_t count, size_t runs, struct random *random, size_t *order)
{
	for (size_t i = 0; i < runs; i++)
		order[i] = i;
	for (size_t i = 0; i < count; i++) {
		const size_t other = i + random_below(random, runs - i), kept = order[i];

		chosen[i] = order[other];
		order[other] = kept;
	}
}

static struct way
way_of(const bool *is_b, const bool *real, size_t runs)
{
	struct way way = { .sign = is_b[0] ? -1 : 1, .others = zalloc(runs, sizeof *way.others) };

	for (size_t i = 0; i < runs; i++) {
		if (is_b[i] != is_b[0])
			way.others[way.count++] = (uint32_t)i;
		way.changed += real[i] && !is_b[i];
	}
	return way;
}

/* Adds the way with CHOSEN as side B (ARE_B) or side A. IS_B is scratch space. */
static void
add_way(struct relabelling *r, const size_t *chosen, bool are_b, const bool *real, bool *is_b)
{
	const size_t count = are_b ? r->in_b : r->runs - r->in_b;

	memset(is_b, !are_b, r->runs);
	for (size_t i = 0; i < count; i++)
		is_b[chosen[i]] = are_b;
	r->way[r->ways++] = way_of(is_b, real, r->runs);
}

struct relabelling
relabel(const bool *real, size_t runs)
{
	struct relabelling r = { .runs = runs, .way = zalloc(WAYS_MOST + 1, sizeof *r.way),
	    .real = way_of(real, real, runs) };
	size_t *chosen = zalloc(runs, sizeof *chosen), *order = zalloc(runs, sizeof *order), few;
	bool *is_b = zalloc(runs, sizeof *is_b), is_exact;
	struct random random = { 1 };

	for (size_t i = 0; i < runs; i++)
		r.in_b += real[i];
	few = r.in_b < runs - r.in_b ? r.in_b : runs - r.in_b;
	is_exact = ways_to_choose(r.in_b, runs - r.in_b) <= WAYS_MOST;
	if (!is_exact)
		r.way[r.ways++] = way_of(real, real, runs);
	for (size_t i = 0; i < few; i++)
		chosen[i] = i;
	do {
		if (!is_exact)
			draw(chosen, few, runs, &random, order);
		add_way(&r, chosen, few == r.in_b, real, is_b);
		if (!is_exact && 2 * few == runs)	/* its mirror image, too */
			add_way(&r, chosen, false, real, is_b);
	} while (is_exact ? next_choice(chosen, few, runs) : r.ways < WAYS_MOST);
	free(chosen);
	free(order);
	free(is_b);
	return r;
}

/* The sum over side B; all values add up to 0. Swapping sides flips the sign, but no digit. */
static double
sum_of(const struct way *way, const double *values)
{
	double sum = 0;

	for (size_t i = 0; i < way->count; i++)
		sum += values[way->others[i]];
	return way->sign * sum;
}

/* Subtracts the mean, so that the sums of A and B differ only in sign. Returns the squares' sum. */
static double
centre(double *to, const double *values, size_t count)
{
	const double middle = mean((struct sample){ (double *)(uintptr_t)values, count });
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		to[i] = values[i] - middle;
		squares += to[i] * to[i];
	}
	return squares;
}

/* The value that K of COUNT others precede; reorders them. C. A. R. Hoare, Comm. ACM 4 (1961). */
static double
select_value(double *at, size_t count, size_t k)
{
	size_t from = 0, to = count - 1;

	while (from < to) {
		const double pivot = at[from + (to - from) / 2];
		size_t i = from, j = to;

		for (;; i++, j--) {
			while (at[i] < pivot)
				i++;
			while (at[j] > pivot)
				j--;
			if (i >= j)
				break;
			const double kept = at[i];

			at[i] = at[j];
			at[j] = kept;
		}
		if (k <= j)
			to = j;
		else
			from = j + 1;
	}
	return at[k];
}

/*
 * If B were longer by a shift S and nothing else, subtracting S from B would make the sides alike.
 * A way then has a difference as great as the real one if S is at least the bound of that way. So p
 * changes only at the bounds, and the interval holds every S that the test does not reject at this
 * level [G].
 */
struct effect
permuted_shift(const struct relabelling *r, const double *values, double confidence, double *p)
{
	double *at = zalloc(r->runs, sizeof *at), *bounds = zalloc(r->ways, sizeof *bounds);
	const double rounding = ALIKE * sqrt(centre(at, values, r->runs));
	const double real = sum_of(&r->real, at), in_b = (double)r->in_b;
	size_t count = 0, more = 0, less = 0, out;
	struct effect effect = { .shift = real / in_b + real / ((double)r->runs - in_b) };

	for (size_t w = 0; w < r->ways; w++) {
		const double off = real - sum_of(&r->way[w], at);

		more += off <= rounding;
		less += off >= -rounding;
		if (r->way[w].changed > 0)
			bounds[count++] = fabs(off) <= rounding ? 0 :
			    off / (double)r->way[w].changed;
	}
	*p = fmin(1, 2 * (double)(more < less ? more : less) / (double)r->ways);
	/* Half of 1 - CONFIDENCE of all ways, less the ways that move no run and have no bound. */
	out = (size_t)((double)r->ways * (1 - confidence) / 2 + ALIKE) - (r->ways - count);
	effect.low = out < count ? select_value(bounds, count, out) : -INFINITY;
	effect.high = out < count ? select_value(bounds, count, count - 1 - out) : INFINITY;
	free(at);
	free(bounds);
	return effect;
}

struct ordered {
	double size;
	size_t index;
};

ORDER(by_size, struct ordered, MOST(size) BY(index))

ORDER(downwards, double, COMPARED(*b, *a))

/*
 * In every way, the runs of a test have the same total sum of squares. So the two-sample t grows
 * with the share of it that lies between the sides. So does |sum of B| once the squares are scaled
 * to add up to 1.
 */
double
max_t(const struct relabelling *r, const double *values, size_t tests, double level,
    double *adjusted)
{
	const double in_b = (double)r->in_b, in_a = (double)(r->runs - r->in_b);
	double *at = zalloc(tests * r->runs, sizeof *at), *most = zalloc(r->ways, sizeof *most);
	struct ordered *order = zalloc(tests, sizeof *order);
	size_t *reached = zalloc(tests, sizeof *reached);
	double critical;

	for (size_t t = 0; t < tests; t++) {
		const double root = sqrt(centre(at + t * r->runs, values + t * r->runs, r->runs));

		for (size_t i = 0; i < r->runs; i++)
			at[t * r->runs + i] *= root > 0 ? 1 / root : 0;
		order[t] = (struct ordered){ fabs(sum_of(&r->real, at + t * r->runs)), t };
	}
	SORT(order, tests, by_size);
	for (size_t w = 0; w < r->ways; w++)
		for (size_t k = tests; k-- > 0; ) {
			const double *of = at + order[k].index * r->runs;

			/* the maximum over this test and all less significant ones */
			most[w] = fmax(most[w], fabs(sum_of(&r->way[w], of)));
			reached[k] += most[w] >= order[k].size - ALIKE;
		}
	for (size_t k = 0; k < tests; k++) {
		if (k > 0 && reached[k] < reached[k - 1])
			reached[k] = reached[k - 1];
		adjusted[order[k].index] = (double)reached[k] / (double)r->ways;
	}
	SORT(most, r->ways, downwards);
	critical = most[(size_t)(level * (double)r->ways + ALIKE)];
	critical = fmin(1, critical * critical * (1 / in_a + 1 / in_b));	/* share between */
	free(at);
	free(most);
	free(order);
	free(reached);
	return sqrt((double)(r->runs - 2) * critical / (1 - critical));
}
