/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Focus-of-analysis regions: phases of the run with different local efficiency. First finds pieces
 * of the run in which pairs have one distribution of computing, waiting and ideal duration. Then
 * moves each border to its exact pair, and merges neighbours with pairs of similar sizes into one
 * phase.
 *
 * The best cut into pieces uses empirical distribution functions (ED-PELT: Haynes, Fearnhead and
 * Eckley, Statistics and Computing 2017, 27, 1293). It counts the pairs of a piece below some
 * quantiles of all pairs. A single long pair changes each count by at most one: so a process that
 * the system stops for a time slice is not a phase.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/fields.h"
#include "../base/tool/search.h"
#include "replay.h"

/* during the search a piece lasts at least 1/MOST_PHASES of the run */
enum { MOST_PHASES = 40 };

/* The durations of a pair: computing, waiting and, on the ideal network, all of it. */
enum part { USEFUL, WAITING, SIMULATED, PARTS };

/* The pairs of a rank, with the logarithms of these in ns; sizes below 100 ns are equal. */
struct sizes {
	const struct pair *pairs;
	size_t count;
	double *of[PARTS];
};

static inline double
recorded_until(const struct sizes *s, size_t pairs)
{
	return pairs > 0 ? (double)s->pairs[pairs - 1].recorded_ns : 0;
}

enum {
	BLOCKS = 300,		/* by time and by number of pairs; pieces end where blocks do */
	MOST_BLOCKS = 2 * BLOCKS + 2,
	THRESHOLDS = 20,	/* of each part of pairs */
	TABLE = 1 << 16,
};

/* Times log n for each piece: there are three distribution functions. */
static const double PENALTY = 3;

struct blocks {
	int count, thresholds;
	size_t end[MOST_BLOCKS + 1];		/* pairs before the end of each block */
	/* by threshold and block: pairs before it; those below count 2, those on it 1 */
	int64_t below[PARTS * THRESHOLDS][MOST_BLOCKS + 1];
	double weight;
};

ORDER(by_value, double, COMPARED(*a, *b))

/*
 * A block has 1/BLOCKS of the time or of the pairs, for phases of few long or of many short pairs.
 */
static void
make_blocks(struct blocks *blocks, const struct sizes *s)
{
	const double most_ns = recorded_until(s, s->count) / BLOCKS;
	const size_t most = s->count / BLOCKS + 1;

	blocks->count = 0;
	blocks->end[0] = 0;
	for (size_t i = 1; i <= s->count; i++) {
		size_t first = blocks->end[blocks->count];

		if ((i - first >= most || recorded_until(s, i) - recorded_until(s,
		    first) >= most_ns) && blocks->count < MOST_BLOCKS - 1)
			blocks->end[++blocks->count] = i;
	}
	if (blocks->end[blocks->count] < s->count)
		blocks->end[++blocks->count] = s->count;
}

static void
count_below(struct blocks *blocks, const double *size, double threshold)
{
	int64_t *below = blocks->below[blocks->thresholds++];

	for (int b = 0; b < blocks->count; b++) {
		below[b + 1] = below[b];
		for (size_t i = blocks->end[b]; i < blocks->end[b + 1]; i++)
			below[b + 1] += (size[i] < threshold) + (size[i] <= threshold);
	}
}

/* Quantiles are denser in the tails, as in the paper: phases with few pairs differ there. */
static void
count_blocks(struct blocks *blocks, const struct sizes *s)
{
	const double n = (double)s->count, c = log(2 * n - 1);
	double *sorted = zalloc(s->count, sizeof *sorted);

	blocks->thresholds = 0;
	for (int part = 0; part < PARTS; part++) {
		double before = -INFINITY;

		memcpy(sorted, s->of[part], s->count * sizeof *sorted);
		SORT(sorted, s->count, by_value);
		for (int k = 1; k <= THRESHOLDS; k++) {
			const double p = 1 / (1 + (2 * n - 1) * exp(-c * (2 * k - 1) / THRESHOLDS));
			const double threshold = sorted[p * n < n - 1 ? (size_t)(p * n) :
			    s->count - 1];

			if (threshold > before)
				count_below(blocks, s->of[part], threshold);
			before = threshold;
		}
	}
	blocks->weight = c / (THRESHOLDS * PARTS);
	free(sorted);
}

/* x log x of a count. */
static double
entropy(const double *table, int64_t x)
{
	return x < TABLE ? table[x] : (double)x * log((double)x);
}

/* Minus twice the log likelihood of blocks [FROM, TO) as one piece. */
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

/*
 * Finds the best cut up to each block and the begin of its last piece; pieces last at least
 * LEAST_NS.
 */
static void
find_best(const struct blocks *blocks, const struct sizes *s, double least_ns, int *before)
{
	const double penalty = PENALTY * log((double)s->count);
	double best[MOST_BLOCKS + 1], *table = zalloc(TABLE, sizeof *table), costs[MOST_BLOCKS + 1];
	int candidates[MOST_BLOCKS + 1], count = 0, next = 0;

	for (int x = 1; x < TABLE; x++)
		table[x] = x * log(x);
	best[0] = -penalty;
	for (int to = 1; to <= blocks->count; to++) {
		int kept = 0;

		while (next < to && recorded_until(s, blocks->end[to]) - recorded_until(s,
		    blocks->end[next]) >= least_ns)
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

/* The number of pairs up to the end of each piece; returns the number of pieces. */
static int
find_cuts(const struct sizes *s, size_t *ends)
{
	static struct blocks blocks;
	int before[MOST_BLOCKS + 1], count = 0;

	make_blocks(&blocks, s);
	count_blocks(&blocks, s);
	find_best(&blocks, s, recorded_until(s, s->count) / MOST_PHASES, before);
	for (int to = blocks.count; to > 0; to = before[to])
		count++;
	for (int to = blocks.count, i = count; to > 0; to = before[to])
		ends[--i] = blocks.end[to];
	return count;
}

/* ---- the borders between phases ------------------------------------------------------ */

/* Width of the classes of sizes, in logarithms; a pair lasts less than 2^64 ns. */
static const double WIDTH = 0.2;
enum { CLASSES = 225, ROUNDS = 2 };

static int
class_of(double size)
{
	int class = (int)(size / WIDTH);

	return class < 1 ? 1 : class > CLASSES - 2 ? CLASSES - 2 : class;
}

/* The log probability of each class among the pairs [FIRST, END), smoothed over neighbours. */
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

/* The most likely border between two phases, [FIRST, FROM) and [TO, END). */
static size_t
likely_border(const struct sizes *s, size_t first, size_t from, size_t to, size_t end)
{
	double left[PARTS][CLASSES], right[PARTS][CLASSES], sum = 0, most = 0;
	size_t border = from;

	for (int part = 0; part < PARTS; part++) {
		find_density(s->of[part], first, from, left[part]);
		find_density(s->of[part], to, end, right[part]);
	}
	for (size_t i = from; i < to; i++) {
		for (int part = 0; part < PARTS; part++) {
			const int class = class_of(s->of[part][i]);

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

/* Moves each border to its exact pair. */
static void
move_borders(const struct sizes *s, size_t *ends, int count)
{
	const double reach_ns = 1.5 * recorded_until(s, s->count) / MOST_PHASES;

	for (int round = 0; round < ROUNDS; round++)
		for (int k = 0; k + 1 < count; k++) {
			const size_t first = k > 0 ? ends[k - 1] : 0;
			const double at_ns = recorded_until(s, ends[k]);
			const double left_ns = (at_ns - recorded_until(s, first)) / 2;
			const double right_ns = (recorded_until(s, ends[k + 1]) - at_ns) / 2;
			const size_t from = pair_at(s->pairs, s->count,
			    at_ns - fmin(left_ns, reach_ns));
			const size_t to = pair_at(s->pairs, s->count,
			    at_ns + fmin(right_ns, reach_ns));

			if (first < from && from < ends[k] && ends[k] <= to && to < ends[k + 1])
				ends[k] = likely_border(s, first, from, to, ends[k + 1]);
		}
}

/* ---- merging similar pieces ---------------------------------------------------------- */

/* Phases differ by more than this in the logarithm of a duration. */
static const double SAME_SIZE = 0.25;

static struct sizes
sizes_of(const struct series *series)
{
	struct sizes s = { .pairs = series->pairs, .count = series->count };
	struct pair last = { 0, 0, 0 };

	for (int part = 0; part < PARTS; part++)
		s.of[part] = zalloc(s.count, sizeof *s.of[part]);
	for (size_t i = 0; i < s.count; last = s.pairs[i++]) {
		const struct pair *p = &s.pairs[i];
		const double useful = (double)p->useful_ns - (double)last.useful_ns;
		const double all = (double)p->recorded_ns - (double)last.recorded_ns;

		s.of[USEFUL][i] = log(fmax(useful, 100));
		s.of[WAITING][i] = log(fmax(all - useful, 100));
		s.of[SIMULATED][i] = log(fmax((double)p->simulated_ns -
		    (double)last.simulated_ns, 100));
	}
	return s;
}

/* The quantile SHARE of the pairs [FIRST, END). */
static double
typical(const double *size, size_t first, size_t end, double share)
{
	double *all = zalloc(end - first, sizeof *all), result;

	for (size_t i = first; i < end; i++)
		all[i - first] = size[i];
	SORT(all, end - first, by_value);
	result = all[(size_t)(share * (double)(end - first))];
	free(all);
	return result;
}

/* A step may mix two kinds of pairs, so this compares smaller and larger ones. */
static bool
are_alike(const struct sizes *s, size_t first, size_t border, size_t end)
{
	for (int part = 0; part < PARTS; part++)
		for (double share = 0.3; share < 0.8; share += 0.4)
			if (fabs(typical(s->of[part], first, border, share) -
			    typical(s->of[part], border, end, share)) > SAME_SIZE)
				return false;
	return true;
}

/* Merges pieces that are too short, or whose pairs are alike. Returns the remaining number. */
static int
unite(const struct sizes *s, size_t *ends, int count)
{
	const double least_ns = recorded_until(s, s->count) / MOST_PHASES / 2;
	int kept = 0;

	for (int k = 0; k < count; k++) {
		while (kept > 0) {
			const size_t first = kept > 1 ? ends[kept - 2] : 0, border = ends[kept - 1];

			if (recorded_until(s, border) - recorded_until(s, first) >= least_ns &&
			    recorded_until(s, ends[k]) - recorded_until(s, border) >= least_ns &&
			    !are_alike(s, first, border, ends[k]))
				break;
			kept--;
		}
		ends[kept++] = ends[k];
	}
	return kept;
}

struct found { int64_t rank, number, begin_ns, end_ns, duration_ns; double efficiency, computing; };
#define FOUND(member) FIELD(struct found, member)
#define SECONDS .text = "%.9f", .scale = 1e-9
static const struct field fields[] = {
	{ "rank", FOUND(rank), .text = PLAIN, .key = "rank" },
	{ "region", FOUND(number), .text = PLAIN },
	{ "begin_s", FOUND(begin_ns), SECONDS, .key = "begin_ns" },
	{ "end_s", FOUND(end_ns), SECONDS, .key = "end_ns" },
	{ "duration_s", FOUND(duration_ns), SECONDS },
	{ "transfer_efficiency", FOUND(efficiency), .text = "%.6f", .key = "transfer_efficiency" },
	{ "computing", FOUND(computing), .text = "%.6f", .key = "computing" },
	FIELDS_END
};

/* The pieces of one rank, each from the end of a pair to the end of a pair. */
static size_t
find(const struct series *s, uint32_t rank, struct found *found)
{
	size_t ends[MOST_PHASES + 1], n = 0;
	struct pair begin = { 0, 0, 0 };
	struct sizes sizes;
	int count;

	if (s->count < 2 || s->pairs[s->count - 1].recorded_ns <= 0)
		return 0;
	sizes = sizes_of(s);
	count = find_cuts(&sizes, ends);
	move_borders(&sizes, ends, count);
	count = unite(&sizes, ends, count);
	for (int part = 0; part < PARTS; part++)
		free(sizes.of[part]);
	for (int k = 0; k < count; k++) {
		const struct pair *end = &s->pairs[ends[k] - 1];
		const int64_t ns = end->recorded_ns - begin.recorded_ns;

		if (ns <= 0)
			continue;
		found[n] = (struct found){ rank, (int64_t)n + 1, begin.recorded_ns,
		    end->recorded_ns, ns, ((double)end->simulated_ns - (double)begin.simulated_ns) /
		    (double)ns, ((double)end->useful_ns - (double)begin.useful_ns) / (double)ns };
		n++;
		begin = *end;
	}
	return n;
}

void
regions_print(struct text *out, const struct monitor *m)
{
	struct found found[MOST_PHASES + 1];
	struct table_writer table;

	table_begin(&table, out, NULL);
	table_head(&table, fields);
	for (uint32_t r = 0; r < m->count; r++)
		for (size_t i = 0, n = find(&m->series[r], r, found); i < n; i++)
			table_row(&table, fields, &found[i]);
	table_end(&table);
}

void
regions_write(const struct monitor *m, struct writer *out)
{
	struct found found[MOST_PHASES + 1];

	for (uint32_t r = 0; r < m->count; r++)
		for (size_t i = 0, n = find(&m->series[r], r, found); i < n; i++)
			put_row(out, "region", fields, &found[i]);
}
