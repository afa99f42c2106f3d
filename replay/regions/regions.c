/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Focus-of-analysis regions: where the local efficiency changes. What a pair computes, waits and lasts on the
 * ideal network is looked at, pair by pair: pieces of the run whose pairs are of one distribution each are found
 * (cuts.c), their borders moved to the pair where they lie (cuts.c), and pieces whose pairs
 * are of like sizes are one phase.
 */
#include "regions.h"

#include <math.h>
#include <stdlib.h>

#include "../../base/tool/fields.h"

/* Of the logarithm of what pairs last: phases differ by more. */
static const double SAME_SIZE = 0.25;

static void
find_sizes(const struct series *s, struct sizes *sizes)
{
	struct pair last = { 0, 0, 0 };

	sizes->count = s->count;
	for (int part = 0; part < PARTS; part++)
		sizes->of[part] = zalloc(s->count, sizeof *sizes->of[part]);
	for (size_t i = 0; i < s->count; last = s->pairs[i++]) {
		const struct pair *p = &s->pairs[i];
		const double useful = (double)p->useful_ns - (double)last.useful_ns;
		const double all = (double)p->recorded_ns - (double)last.recorded_ns;

		sizes->of[USEFUL][i] = log(fmax(useful, 100));
		sizes->of[WAITING][i] = log(fmax(all - useful, 100));
		sizes->of[SIMULATED][i] = log(fmax((double)p->simulated_ns - (double)last.simulated_ns, 100));
	}
}

/* So many of the pairs FIRST to before END are smaller, a share. */
static double
typical(const double *size, size_t first, size_t end, double share)
{
	double *all = zalloc(end - first, sizeof *all), result;

	for (size_t i = first; i < end; i++)
		all[i - first] = size[i];
	qsort(all, end - first, sizeof *all, by_value);
	result = all[(size_t)(share * (double)(end - first))];
	free(all);
	return result;
}

/* A step may be of two kinds of pairs, so both the smaller and the larger ones are looked at. */
static bool
are_alike(const struct sizes *sizes, size_t first, size_t border, size_t end)
{
	for (int part = 0; part < PARTS; part++)
		for (double share = 0.3; share < 0.8; share += 0.4)
			if (fabs(typical(sizes->of[part], first, border, share) -
			    typical(sizes->of[part], border, end, share)) > SAME_SIZE)
				return false;
	return true;
}

/* Pieces whose pairs are alike, or that are too short, are one phase. Returns how many are left. */
static int
unite(const struct series *s, const struct sizes *sizes, size_t *ends, int count)
{
	const double least_ns = recorded_until(s, s->count) / MOST_PHASES / 2;
	int kept = 0;

	for (int k = 0; k < count; k++) {
		while (kept > 0) {
			const size_t first = kept > 1 ? ends[kept - 2] : 0, border = ends[kept - 1];

			if (recorded_until(s, border) - recorded_until(s, first) >= least_ns &&
			    recorded_until(s, ends[k]) - recorded_until(s, border) >= least_ns &&
			    !are_alike(sizes, first, border, ends[k]))
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
	find_sizes(s, &sizes);
	count = find_cuts(s, &sizes, ends);
	move_borders(s, &sizes, ends, count);
	count = unite(s, &sizes, ends, count);
	for (int part = 0; part < PARTS; part++)
		free(sizes.of[part]);
	for (int k = 0; k < count; k++) {
		const struct pair *end = &s->pairs[ends[k] - 1];
		const int64_t ns = end->recorded_ns - begin.recorded_ns;

		if (ns <= 0)
			continue;
		found[n] = (struct found){ rank, (int64_t)n + 1, begin.recorded_ns, end->recorded_ns, ns,
		    ((double)end->simulated_ns - (double)begin.simulated_ns) / (double)ns,
		    ((double)end->useful_ns - (double)begin.useful_ns) / (double)ns };
		n++;
		begin = *end;
	}
	return n;
}

void
regions_print(const struct monitor *m)
{
	struct found found[MOST_PHASES + 1];
	static struct text text;	/* large for a stack */
	struct table_writer table;

	text_begin(&text, stdout, NULL);
	table_begin(&table, &text, NULL);
	table_head(&table, fields);
	for (uint32_t r = 0; r < m->count; r++)
		for (size_t i = 0, n = find(&m->series[r], r, found); i < n; i++)
			table_row(&table, fields, &found[i]);
	table_end(&table);
	text_flush(&text);
}

void
regions_write(const struct monitor *m, struct writer *out)
{
	struct found found[MOST_PHASES + 1];

	for (uint32_t r = 0; r < m->count; r++)
		for (size_t i = 0, n = find(&m->series[r], r, found); i < n; i++)
			put_row(out, "region", fields, &found[i]);
}
