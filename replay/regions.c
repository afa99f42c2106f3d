/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Focus-of-analysis regions: where the local efficiency changes. Time is cut into bins; a bin has
 * three signals: local transfer efficiency, share of computing, and the logarithm of the number of
 * calls. The best cut into pieces, each with means and variances of its own, is found by PELT
 * (Killick, Fearnhead and Eckley, JASA 2012, 107, 1590); then each border is moved to the pair
 * where it lies, and phases whose pairs are alike are one. What a rank lost to other processes of the machine is no phase: it is taken out first.
 */
#include "regions.h"

#include <stdlib.h>

#include "../base/tool/table.h"

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
