/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pairs of a phase are of one distribution, whatever that is: the best cut into pieces by their
 * empirical distribution functions (ED-PELT: Haynes, Fearnhead and Eckley, Statistics and Computing 2017,
 * 27, 1293). At some quantiles of all pairs it is counted how many pairs of a piece are below, which no
 * single long pair changes by more than one: a process that the system stops for a time slice is no phase.
 */
#include "regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/search.h"

enum {
	BLOCKS = 300,		/* by time and by number of pairs: a piece ends where a block does */
	MOST_BLOCKS = 2 * BLOCKS + 2,
	THRESHOLDS = 20,	/* of each part of pairs */
	TABLE = 1 << 16,
};

/* Times log n for each piece: three distribution functions are looked at. */
static const double PENALTY = 3;

struct blocks {
	int count, thresholds;
	size_t end[MOST_BLOCKS + 1];		/* pairs up to the end of so many blocks */
	int64_t *below[PARTS * THRESHOLDS];	/* the same for those below the threshold, twice; on it, once */
	double weight;
};

int
by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* A block has a 300th of the time or of the pairs: phases of few long pairs, and of many short ones. */
static void
make_blocks(struct blocks *blocks, const struct series *s)
{
	const double most_ns = recorded_until(s, s->count) / BLOCKS;
	const size_t most = s->count / BLOCKS + 1;

	blocks->count = 0;
	blocks->end[0] = 0;
	for (size_t i = 1; i <= s->count; i++) {
		size_t first = blocks->end[blocks->count];

		if ((i - first >= most || recorded_until(s, i) - recorded_until(s, first) >= most_ns) &&
		    blocks->count < MOST_BLOCKS - 1)
			blocks->end[++blocks->count] = i;
	}
	if (blocks->end[blocks->count] < s->count)
		blocks->end[++blocks->count] = s->count;
}

static void
count_below(struct blocks *blocks, const double *size, double threshold)
{
	int64_t *below = zalloc((size_t)blocks->count + 1, sizeof *below);

	for (int b = 0; b < blocks->count; b++) {
		below[b + 1] = below[b];
		for (size_t i = blocks->end[b]; i < blocks->end[b + 1]; i++)
			below[b + 1] += (size[i] < threshold) + (size[i] <= threshold);
	}
	blocks->below[blocks->thresholds++] = below;
}

/* Quantiles, denser in the tails, as in the paper: there phases differ that have few pairs. */
static void
count_blocks(struct blocks *blocks, const struct sizes *sizes)
{
	const double n = (double)sizes->count, c = log(2 * n - 1);
	double *sorted = zalloc(sizes->count, sizeof *sorted);

	blocks->thresholds = 0;
	for (int part = 0; part < PARTS; part++) {
		double before = -INFINITY;

		memcpy(sorted, sizes->of[part], sizes->count * sizeof *sorted);
		qsort(sorted, sizes->count, sizeof *sorted, by_value);
		for (int k = 1; k <= THRESHOLDS; k++) {
			const double p = 1 / (1 + (2 * n - 1) * exp(-c * (2 * k - 1) / THRESHOLDS));
			const double threshold = sorted[p * n < n - 1 ? (size_t)(p * n) : sizes->count - 1];

			if (threshold > before)
				count_below(blocks, sizes->of[part], threshold);
			before = threshold;
		}
	}
	blocks->weight = c / (THRESHOLDS * PARTS);
	free(sorted);
}

/* x log x, of what is counted. */
static double
entropy(const double *table, int64_t x)
{
	return x < TABLE ? table[x] : (double)x * log((double)x);
}

/* Twice the negative logarithm of the likelihood of blocks FROM to before TO as one piece. */
static double
cost(const struct blocks *blocks, const double *table, int from, int to)
{
	const int64_t all = 2 * (int64_t)(blocks->end[to] - blocks->end[from]);
	double sum = 0;

	for (int k = 0; k < blocks->thresholds; k++) {
		const int64_t below = blocks->below[k][to] - blocks->below[k][from];

		sum += entropy(table, below) + entropy(table, all - below);
	}
	return blocks->weight * (blocks->thresholds * entropy(table, all) - sum);
}

/* The best cut up to each block, and where its last piece begins; pieces of at least LEAST_NS. */
static void
find_best(const struct blocks *blocks, const struct series *s, double least_ns, int *before)
{
	const double penalty = PENALTY * log((double)s->count);
	double best[MOST_BLOCKS + 1], *table = zalloc(TABLE, sizeof *table), costs[MOST_BLOCKS + 1];
	int candidates[MOST_BLOCKS + 1], count = 0, next = 0;

	for (int x = 1; x < TABLE; x++)
		table[x] = x * log(x);
	best[0] = -penalty;
	for (int to = 1; to <= blocks->count; to++) {
		int kept = 0;

		while (next < to && recorded_until(s, blocks->end[to]) - recorded_until(s, blocks->end[next]) >= least_ns)
			candidates[count++] = next++;
		best[to] = INFINITY;
		before[to] = 0;
		for (int i = 0; i < count; i++) {
			costs[i] = best[candidates[i]] + cost(blocks, table, candidates[i], to);
			if (costs[i] + penalty < best[to]) {
				best[to] = costs[i] + penalty;
				before[to] = candidates[i];
			}
		}
		for (int i = 0; i < count; i++)		/* the pruning of PELT */
			if (costs[i] <= best[to])
				candidates[kept++] = candidates[i];
		count = kept;
	}
	free(table);
}

int
find_cuts(const struct series *s, const struct sizes *sizes, size_t *ends)
{
	static struct blocks blocks;
	int before[MOST_BLOCKS + 1], count = 0;

	make_blocks(&blocks, s);
	count_blocks(&blocks, sizes);
	find_best(&blocks, s, recorded_until(s, s->count) / MOST_PHASES, before);
	for (int to = blocks.count; to > 0; to = before[to])
		count++;
	for (int to = blocks.count, i = count; to > 0; to = before[to])
		ends[--i] = blocks.end[to];
	for (int k = 0; k < blocks.thresholds; k++)
		free(blocks.below[k]);
	return count;
}

/* ---- the borders: blocks end near one, which is where the pairs before look like one phase and those behind like the other */

/* Sizes are looked at in classes that are that wide, in logarithms; a pair lasts less than 2^64 ns. */
static const double WIDTH = 0.2;
enum { CLASSES = 225, ROUNDS = 2 };

static int
class_of(double size)
{
	int class = (int)(size / WIDTH);

	return class < 1 ? 1 : class > CLASSES - 2 ? CLASSES - 2 : class;
}

/* The logarithm of how likely each class is among the pairs FIRST to before END; neighbours look alike. */
static void
find_density(const double *size, size_t first, size_t end, double *density)
{
	const double all = (double)(end - first);
	double pairs[CLASSES] = { 0 };

	for (size_t i = first; i < end; i++) {
		const int class = class_of(size[i]);

		pairs[class - 1] += 0.25;
		pairs[class] += 0.5;
		pairs[class + 1] += 0.25;
	}
	for (int class = 0; class < CLASSES; class++)
		density[class] = log((pairs[class] + 0.5) / (all + 0.5 * CLASSES));
}

/* Of two phases, FIRST to before FROM and TO to before END, where between them the border is most likely. */
static size_t
likely_border(const struct sizes *sizes, size_t first, size_t from, size_t to, size_t end)
{
	double left[PARTS][CLASSES], right[PARTS][CLASSES], sum = 0, most = 0;
	size_t border = from;

	for (int part = 0; part < PARTS; part++) {
		find_density(sizes->of[part], first, from, left[part]);
		find_density(sizes->of[part], to, end, right[part]);
	}
	for (size_t i = from; i < to; i++) {
		for (int part = 0; part < PARTS; part++) {
			const int class = class_of(sizes->of[part][i]);

			sum += left[part][class] - right[part][class];
		}
		if (sum > most) {
			most = sum;
			border = i + 1;
		}
	}
	return border;
}

#define ENDS_BEFORE(pair, ns) ((double)(pair)->recorded_ns < (ns))
SEARCH(pair_at, struct pair, double, ENDS_BEFORE)

void
move_borders(const struct series *s, const struct sizes *sizes, size_t *ends, int count)
{
	const double reach_ns = 1.5 * recorded_until(s, s->count) / MOST_PHASES;

	for (int round = 0; round < ROUNDS; round++)
		for (int k = 0; k + 1 < count; k++) {
			const size_t first = k > 0 ? ends[k - 1] : 0;
			const double at_ns = recorded_until(s, ends[k]);
			const double left_ns = (at_ns - recorded_until(s, first)) / 2;
			const double right_ns = (recorded_until(s, ends[k + 1]) - at_ns) / 2;
			const size_t from = pair_at(s->pairs, s->count, at_ns - fmin(left_ns, reach_ns));
			const size_t to = pair_at(s->pairs, s->count, at_ns + fmin(right_ns, reach_ns));

			if (first < from && from < ends[k] && ends[k] <= to && to < ends[k + 1])
				ends[k] = likely_border(sizes, first, from, to, ends[k + 1]);
		}
}
