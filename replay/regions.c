/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Focus-of-analysis regions: where the local efficiency changes. Time is cut into bins; a bin has
 * three signals: local transfer efficiency, share of computing, and the logarithm of the number of
 * calls. The best cut into pieces, each with means and variances of its own, is found by PELT
 * (Killick, Fearnhead and Eckley, JASA 2012, 107, 1590); then each border is moved to the pair
 * where it lies, and phases whose pairs are alike are one. What a rank lost to other processes of the machine is no phase: it is taken out first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/search.h"
#include "../base/tool/table.h"
#include "replay.h"

/* Of a signal: a smaller deviation within a phase counts as this one. */
static const double LEAST = 0.1;
/* Of the logarithm of what pairs last: phases differ by more. */
static const double SAME_SIZE = 0.25;

enum { BINS = 300, SIGNALS = 3, LEAST_BINS = 8 };	/* a phase has that many at least */
enum { BLOCK = 8, NEAR = 40 };	/* pairs that have one fence; those that it is of, on each side */

struct bins {
	double signal[SIGNALS][BINS];
	double sum[SIGNALS][BINS + 1], squares[SIGNALS][BINS + 1];	/* of those before */
};

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

static int
by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* What a pair lasted: computing, waiting and, on the ideal network, all of it. */
enum part { USEFUL, WAITING, SIMULATED, PARTS };

static double
part_of(const struct series *s, size_t i, enum part part)
{
	const struct pair *p = &s->pairs[i];
	struct pair last = i > 0 ? s->pairs[i - 1] : (struct pair){ 0, 0, 0 };
	double useful = (double)p->useful_ns - (double)last.useful_ns;

	return part == USEFUL ? useful : part == SIMULATED ?
	    (double)p->simulated_ns - (double)last.simulated_ns :
	    (double)p->recorded_ns - (double)last.recorded_ns - useful;
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
static void
find_fences(const struct series *s, enum part part, double *fence)
{
	for (size_t first = 0; first < s->count; first += BLOCK) {
		size_t before = first + BLOCK > NEAR ? first + BLOCK - NEAR : 0;
		size_t end = first + BLOCK < s->count ? first + BLOCK : s->count;
		size_t after = first + NEAR < s->count ? first + NEAR : s->count;

		fence[first / BLOCK] = fmax(far_fence(s, part, before, end),
		    far_fence(s, part, first, after));
	}
}

/*
 * Bins are of equal time without what does not count: in a time slice lost there would else be many
 * bins of one pair. ENDS is where each pair ends, in bins.
 */
static void
fill_bins(struct bins *bins, const struct series *s, double *ends)
{
	static double amounts[PARTS][BINS], calls[BINS];
	double *counted[PARTS], all = 0, from = 0;

	memset(amounts, 0, sizeof amounts);
	memset(calls, 0, sizeof calls);
	for (enum part k = 0; k < PARTS; k++) {
		double *fence = zalloc(s->count / BLOCK + 1, sizeof *fence);

		counted[k] = zalloc(s->count, sizeof *counted[k]);
		find_fences(s, k, fence);
		for (size_t i = 0; i < s->count; i++)
			counted[k][i] = fmin(part_of(s, i, k), fence[i / BLOCK]);
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

/* Cuts into CUT, ends of the pieces in order; how many. */
static int
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

/* LAST of each piece becomes the pair that ends it. */
static void
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

/* Pieces whose pairs are alike, or that are too short, are one phase. Returns how many are left. */
static int
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

/* The pieces of one rank, each from the end of a pair to the end of a pair. */
size_t
regions_find(const struct series *s, struct region_found *found)
{
	static struct bins bins;
	static int cut[BINS + 1];
	static size_t last[BINS + 1];
	struct pair begin = { 0, 0, 0 };
	double *ends;
	int cuts;
	size_t n = 0;

	if (s->count < 2 || s->pairs[s->count - 1].recorded_ns <= 0)
		return 0;
	ends = zalloc(s->count, sizeof *ends);
	fill_bins(&bins, s, ends);
	add_up(&bins);
	cuts = find_cuts(&bins, cut);
	find_lasts(s, ends, cut, cuts, last);
	cuts = unite(s, last, cuts);
	free(ends);
	for (int k = 0; k < cuts; k++) {
		const struct pair *end = &s->pairs[last[k]];
		double ns = (double)(end->recorded_ns - begin.recorded_ns);

		if (end->recorded_ns <= begin.recorded_ns)
			continue;
		found[n++] = (struct region_found){ begin.recorded_ns, end->recorded_ns,
		    ((double)end->simulated_ns - (double)begin.simulated_ns) / ns,
		    ((double)end->useful_ns - (double)begin.useful_ns) / ns };
		begin = *end;
	}
	return n;
}

void
regions_print(const struct monitor *m)
{
	static struct region_found found[BINS + 1];
	static struct text text;	/* large for a stack */
	struct table_writer table;

	text_begin(&text, stdout, NULL);
	table_begin(&table, &text,
	    "rank\tregion\tbegin_s\tend_s\tduration_s\ttransfer_efficiency\tcomputing");
	for (uint32_t r = 0; r < m->count; r++) {
		size_t n = regions_find(&m->series[r], found);

		for (size_t i = 0; i < n; i++) {
			table_uint(&table, r);
			table_uint(&table, i + 1);
			table_fixed(&table, (double)found[i].begin_ns / 1e9, 9);
			table_fixed(&table, (double)found[i].end_ns / 1e9, 9);
			table_fixed(&table, (double)(found[i].end_ns - found[i].begin_ns) / 1e9, 9);
			table_fixed(&table, found[i].efficiency, 6);
			table_fixed(&table, found[i].computing, 6);
			table_end_line(&table);
		}
	}
	table_end(&table);
	text_flush(&text);
}

void
regions_write(const struct monitor *m, struct writer *out)
{
	static struct region_found found[BINS + 1];

	for (uint32_t r = 0; r < m->count; r++) {
		size_t n = regions_find(&m->series[r], found);

		for (size_t i = 0; i < n; i++) {
			message_begin(out, "region", 5);
			put_uint(out, "rank", r);
			put_int(out, "begin_ns", found[i].begin_ns);
			put_int(out, "end_ns", found[i].end_ns);
			put_double(out, "transfer_efficiency", found[i].efficiency);
			put_double(out, "computing", found[i].computing);
			if (message_end(out) < 0)
				die_output();
		}
	}
}
