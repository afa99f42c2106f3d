/* SPDX-License-Identifier: BSD-3-Clause */
#include "span.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../stream/calls.h"
#include "../tool/tool.h"
#include "definitions.h"

bool
span_begins(unsigned call)
{
	return call_class(call) == CLASS_INIT || strcmp(call_name(call), "MPI_Session_init") == 0;
}

bool
span_frames(unsigned call)
{
	return call_class(call) == CLASS_INIT || call_class(call) == CLASS_FINALIZE;
}

static int64_t
between(int64_t from_ns, int64_t to_ns, int64_t low_ns, int64_t high_ns)
{
	from_ns = from_ns > low_ns ? from_ns : low_ns;
	to_ns = to_ns < high_ns ? to_ns : high_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

void
span_call_within(struct span *s, unsigned call, int64_t enter_ns, int64_t leave_ns, int64_t from_ns,
    int64_t to_ns)
{
	const int64_t before_ns = between(s->any ? s->last_ns : 0, enter_ns, from_ns, to_ns);
	const int64_t mpi_ns = between(enter_ns, leave_ns, from_ns, to_ns);

	/* With sessions only, the first one begins the span; later ones are calls like others. */
	const bool begins = call_class(call) == CLASS_INIT || (!s->any && span_begins(call));
	const bool ends = !begins && call_class(call) == CLASS_FINALIZE && !s->finalized;

	span_call_between(s, before_ns, leave_ns);
	s->any = true;
	if (begins) {
		s->began = true;
		s->start_ns = between(0, enter_ns, from_ns, to_ns);
		s->init_ns = mpi_ns;
		s->begin_ns = s->end_ns = leave_ns;
		s->useful_ns = 0;
	} else if (ends) {
		s->finalized = true;
		s->finalize_ns = mpi_ns;
		s->end_ns = enter_ns;
	}
}

void
span_call(struct span *span, unsigned call, int64_t enter_ns, int64_t leave_ns)
{
	span_call_within(span, call, enter_ns, leave_ns, INT64_MIN, INT64_MAX);
}

void
span_start(struct span *s, int64_t leave_ns)
{
	*s = (struct span){ .last_ns = leave_ns, .end_ns = leave_ns, .any = true };
}

void
span_join(struct span *s, const struct span *more)
{
	const bool finalized = s->finalized;

	if (!more->any)
		return;
	s->outside_ns += more->outside_ns;
	s->last_ns = more->last_ns;
	s->any = true;
	s->finalized |= more->finalized;
	if (more->began) {
		s->began = true;
		s->start_ns = more->start_ns;
		s->init_ns = more->init_ns;
		s->begin_ns = more->begin_ns;
		s->useful_ns = finalized ? 0 : more->useful_ns;
		s->end_ns = finalized ? more->begin_ns : more->end_ns;
	} else if (!finalized) {
		s->useful_ns += more->useful_ns;
		s->end_ns = more->end_ns;
	}
	if (!finalized)
		s->finalize_ns = more->finalize_ns;
}

struct efficiency
efficiency_of_spans(const struct span *spans, int32_t ranks, int64_t from_ns,
    int64_t to_ns, bool whole)
{
	struct efficiency e = { .load_balance = NAN, .communication = NAN, .parallel = NAN };

	for (const struct span *s = spans; s < spans + ranks; s++) {
		const int64_t span_ns = whole ? to_ns - from_ns :
		    between(s->begin_ns, s->end_ns, from_ns, to_ns);
		const int64_t useful_ns = whole ? s->outside_ns : s->useful_ns;

		e.span_ns = larger(span_ns, e.span_ns);
		e.useful_max_ns = larger(useful_ns, e.useful_max_ns);
		e.useful_total_ns += useful_ns;
	}
	if (e.useful_max_ns > 0 && e.span_ns > 0) {
		const double mean_ns = (double)e.useful_total_ns / ranks;

		e.load_balance = mean_ns / (double)e.useful_max_ns;
		e.communication = (double)e.useful_max_ns / (double)e.span_ns;
		e.parallel = mean_ns / (double)e.span_ns;
	}
	return e;
}

const char *
span_rule(bool whole)
{
	return whole ? "of the whole run, start, MPI_Init and MPI_Finalize included" :
	    "from leaving MPI_Init to entering MPI_Finalize";
}

/* ---- runs on different numbers of ranks ---- */

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
