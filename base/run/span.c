/* SPDX-License-Identifier: BSD-3-Clause */
#include "span.h"

#include <math.h>
#include <string.h>

#include "../mpi/call_class.h"
#include "../stream/calls.h"

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

		e.span_ns = span_ns > e.span_ns ? span_ns : e.span_ns;
		e.useful_max_ns = useful_ns > e.useful_max_ns ? useful_ns : e.useful_max_ns;
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
