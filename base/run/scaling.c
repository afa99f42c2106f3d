/* SPDX-License-Identifier: BSD-3-Clause */
#include "scaling.h"

#include <stdlib.h>

#include "../stream/calls.h"
#include "../tool/tool.h"
#include "definitions.h"

struct rank_spans
read_spans(const char *file, bool matched)
{
	struct rank_spans run = { 0 };
	struct definitions known = { 0 };
	struct calls calls = { 0 };
	struct reader *in;
	struct message message;

	if (reader_open(&in, file, READ_STREAM) < 0 ||
	    (matched && reader_refuse_content(in, "trace", "lp-graph matches it first") < 0))
		die_input(in);
	while (definitions_next(&known, in, &message)) {
		if (is_kind(&message, "run"))
			run.spans = zalloc((size_t)known.ranks, sizeof *run.spans);
		if (!is_kind(&message, "calls"))
			continue;
		if (calls_read(&calls, in, &message) < 0)
			die_input(in);
		/* Nested calls count within their outer call; only first threads count as ranks. */
		for (size_t i = 0; i < calls.count && calls.location < (uint32_t)known.ranks; i++)
			if (calls.call[i] != 0)
				span_call(&run.spans[calls.location], calls.call[i],
				    calls.enter_ns[i], calls.leave_ns[i]);
	}
	run.ranks = known.ranks;
	run.run_ns = known.run_ns;
	calls_free(&calls);
	reader_close(in);
	return run;
}

struct times
read_times(const char *file, bool whole)
{
	const struct rank_spans run = read_spans(file, false);
	struct times t = { .file = file, .ranks = run.ranks, .run_ns = run.run_ns };

	t.of = efficiency_of_spans(run.spans, run.ranks, 0, run.run_ns, whole);
	if (t.ranks == 0 || t.of.useful_max_ns == 0 || t.of.span_ns == 0)
		die("%s: no rank computes", file);
	free(run.spans);
	return t;
}

ORDER(by_ranks, struct times, BY(ranks) BY(run_ns))

void
scale_against(struct times *run, const struct times *smallest, bool weak)
{
	const double size = weak ? (double)run->ranks / smallest->ranks : 1;

	run->computation_scaling = size * (double)smallest->of.useful_total_ns /
	    (double)run->of.useful_total_ns;
	run->speedup = size * (double)smallest->of.span_ns / (double)run->of.span_ns;
	run->global = run->of.parallel * run->computation_scaling;
}

void
sort_and_scale(struct times *runs, size_t count, bool weak)
{
	SORT(runs, count, by_ranks);
	for (size_t i = 0; i < count; i++)
		scale_against(&runs[i], &runs[0], weak);
}
