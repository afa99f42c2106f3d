/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Focus-of-analysis regions: where the local efficiency changes. Time is cut into bins; a bin has
 * three signals: local transfer efficiency, share of computing, and the logarithm of the number of
 * calls. The best cut into pieces of constant mean is found by PELT (Killick, Fearnhead and Eckley,
 * JASA 2012, 107, 1590), with the noise of each signal estimated from differences of neighbours.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

enum { BINS = 1000, SIGNALS = 3, WINDOW = 20 };	/* a phase is at least a window long */

struct bins {
	double signal[SIGNALS][BINS];
	double sum[SIGNALS][BINS + 1], squares[SIGNALS][BINS + 1];	/* of those before */
	double noise[SIGNALS];						/* variance */
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

static void
fill_bins(struct bins *bins, const struct series *s)
{
	static double observed[BINS], simulated[BINS], useful[BINS], calls[BINS];
	double ns = (double)s->pairs[s->count - 1].recorded_ns / BINS, from = 0, to;
	struct pair last = { 0, 0, 0 };

	memset(observed, 0, sizeof observed);
	memset(simulated, 0, sizeof simulated);
	memset(useful, 0, sizeof useful);
	memset(calls, 0, sizeof calls);
	for (size_t i = 0; i < s->count; i++) {
		const struct pair *p = &s->pairs[i];
		/* A clock may have begun below 0; what lies there counts in the first bin. */
		to = (double)p->recorded_ns / ns;
		to = to < from ? from : to > BINS ? BINS : to;
		spread(observed, from, to, (double)p->recorded_ns - (double)last.recorded_ns);
		spread(simulated, from, to, (double)p->simulated_ns - (double)last.simulated_ns);
		spread(useful, from, to, (double)p->useful_ns - (double)last.useful_ns);
		spread(calls, from, to, 1);
		from = to;
		last = *p;
	}
	for (int b = 0; b < BINS; b++) {
		double all = observed[b] > 0 ? observed[b] : 1;

		bins->signal[0][b] = simulated[b] / all;
		bins->signal[1][b] = useful[b] / all;
		bins->signal[2][b] = log(calls[b] + 1e-3);
	}
}

static int
by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/*
 * Variance of the noise, as it counts for a mean over many bins: neighbours are alike, for a step of a
 * program may be longer than a bin and a disturbance lasts. So means of WINDOW bins are compared; the
 * median of their |differences| is 0.9539 sigma for a normal one, and few of them are changes of phase.
 */
static double
noise_of(const double *signal)
{
	double differences[BINS / WINDOW], sigma, last = 0;
	int n = 0;

	for (int b = 0; b + WINDOW <= BINS; b += WINDOW) {
		double mean = 0;

		for (int i = b; i < b + WINDOW; i++)
			mean += signal[i] / WINDOW;
		if (b > 0)
			differences[n++] = fabs(mean - last);
		last = mean;
	}
	qsort(differences, (size_t)n, sizeof *differences, by_value);
	sigma = differences[n / 2] / 0.9539;
	return WINDOW * (sigma > 0.01 ? sigma * sigma : 0.01 * 0.01);	/* 1 % is no change of phase */
}

static void
add_up(struct bins *bins)
{
	for (int k = 0; k < SIGNALS; k++) {
		bins->noise[k] = noise_of(bins->signal[k]);
		bins->sum[k][0] = bins->squares[k][0] = 0;
		for (int b = 0; b < BINS; b++) {
			bins->sum[k][b + 1] = bins->sum[k][b] + bins->signal[k][b];
			bins->squares[k][b + 1] = bins->squares[k][b] + bins->signal[k][b] * bins->signal[k][b];
		}
	}
}

/* Squared distances from the mean of bins FROM to before TO, in units of the noise. */
static double
cost(const struct bins *bins, int from, int to)
{
	double all = 0;

	for (int k = 0; k < SIGNALS; k++) {
		double sum = bins->sum[k][to] - bins->sum[k][from];

		all += (bins->squares[k][to] - bins->squares[k][from] - sum * sum / (to - from)) /
		    bins->noise[k];
	}
	return all;
}

/* Cuts into CUT, ends of the pieces in order; how many. */
static int
find_cuts(const struct bins *bins, int *cut)
{
	/* A piece costs what BIC asks for its means and its place, and a margin for noise that has tails. */
	const double penalty = 4 * (SIGNALS + 1) * log(BINS);
	static double best[BINS + 1];
	static int before[BINS + 1], candidates[BINS + 1];
	int count = 0, cuts = 0;

	best[0] = -penalty;
	for (int to = 1; to < WINDOW; to++)
		best[to] = INFINITY;
	for (int to = WINDOW; to <= BINS; to++) {
		int kept = 0;

		candidates[count++] = to - WINDOW;
		best[to] = INFINITY;
		for (int i = 0; i < count; i++) {
			double all = best[candidates[i]] + cost(bins, candidates[i], to) + penalty;

			if (all < best[to]) {
				best[to] = all;
				before[to] = candidates[i];
			}
		}
		for (int i = 0; i < count; i++)		/* the pruning of PELT */
			if (best[candidates[i]] < INFINITY && best[candidates[i]] + cost(bins, candidates[i], to) <= best[to])
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

/* The pieces of one rank, each from the end of a pair to the end of a pair. */
size_t
regions_find(const struct series *s, struct region_found *found)
{
	static struct bins bins;
	static int cut[BINS + 1];
	struct pair begin = { 0, 0, 0 };
	double ns;
	int cuts;
	size_t i = 0, n = 0;

	if (s->count < 2 || s->pairs[s->count - 1].recorded_ns <= 0)
		return 0;
	fill_bins(&bins, s);
	add_up(&bins);
	cuts = find_cuts(&bins, cut);
	ns = (double)s->pairs[s->count - 1].recorded_ns / BINS;
	for (int k = 0; k < cuts; k++) {
		while (i + 1 < s->count && (double)s->pairs[i].recorded_ns < cut[k] * ns)
			i++;
		if (s->pairs[i].recorded_ns <= begin.recorded_ns)
			continue;
		found[n++] = (struct region_found){ begin.recorded_ns, s->pairs[i].recorded_ns,
		    ((double)s->pairs[i].simulated_ns - (double)begin.simulated_ns) /
		    (double)(s->pairs[i].recorded_ns - begin.recorded_ns),
		    ((double)s->pairs[i].useful_ns - (double)begin.useful_ns) /
		    (double)(s->pairs[i].recorded_ns - begin.recorded_ns) };
		begin = s->pairs[i];
	}
	return n;
}

void
regions_print(const struct monitor *m)
{
	static struct region_found found[BINS + 1];

	printf("rank\tregion\tbegin_s\tend_s\tduration_s\ttransfer_efficiency\tcomputing\n");
	for (uint32_t r = 0; r < m->count; r++) {
		size_t n = regions_find(&m->series[r], found);

		for (size_t i = 0; i < n; i++)
			printf("%u\t%zu\t%.9f\t%.9f\t%.9f\t%.6f\t%.6f\n", r, i + 1,
			    (double)found[i].begin_ns / 1e9, (double)found[i].end_ns / 1e9,
			    (double)(found[i].end_ns - found[i].begin_ns) / 1e9, found[i].efficiency,
			    found[i].computing);
	}
}
