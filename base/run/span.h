/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which part of a run is the program's, and the efficiencies of that: the one rule of all tools.
 *
 * A rank's life is, in this order:
 *	start		before it entered MPI_Init: the process is made and loaded
 *	init		in MPI_Init
 *	its span	from leaving MPI_Init to entering MPI_Finalize
 *	finalize	in MPI_Finalize
 *	end		behind it, until the run ends
 * Efficiencies are of spans; the rest is neither useful nor lost, unless WHOLE is asked for: then the
 * span is the whole run, and what is outside of MPI before the last call is useful, the start
 * included. Where a rank makes no MPI_Init (in the trace of another tool, say), its span begins with
 * the run; where it makes no MPI_Finalize it ends with its last call.
 *
 * POP's efficiencies, useful being the time outside of MPI of each rank's first thread, within its
 * span, and T the longest span of a rank:
 *	load balance = mean useful / largest useful
 *	communication = largest useful / T
 *	parallel = load balance * communication = mean useful / T
 */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stdint.h>

struct span {
	int64_t begin_ns, end_ns;	/* the span, as far as it is known */
	int64_t last_ns;		/* when the last call was left */
	int64_t useful_ns;		/* within the span */
	int64_t outside_ns;		/* outside of MPI, before the first call included */
	int64_t start_ns, init_ns, finalize_ns;
	bool any, began, finalized;	/* a call; MPI_Init or what begins the span; MPI_Finalize */
};

/* May what a rank did before this call, its first, be its start? */
bool span_begins(unsigned call);
/* MPI_Init or MPI_Finalize, which are outside of spans. */
bool span_frames(unsigned call);

/* Calls of one rank's first thread, in order; INDEX of call_name. Times from the begin of the run. */
void span_call(struct span *span, unsigned call, int64_t enter_ns, int64_t leave_ns);
/* It counts only from FROM to TO. */
void span_call_within(struct span *span, unsigned call, int64_t enter_ns, int64_t leave_ns,
    int64_t from_ns, int64_t to_ns);
/* The same for one that is not the first and neither MPI_Init nor MPI_Finalize, after so much outside. */
static inline void
span_call_between(struct span *s, int64_t before_ns, int64_t leave_ns)
{
	s->outside_ns += before_ns;
	s->last_ns = leave_ns;
	if (s->finalized)
		return;
	s->useful_ns += before_ns;
	s->finalize_ns = 0;
	s->end_ns = leave_ns;
}

/* Of a rank that left its last call then, and has made its start before: only what comes is to be known. */
void span_start(struct span *span, int64_t leave_ns);
/* What MORE, which was begun so, knows of the time behind that of SPAN. */
void span_join(struct span *span, const struct span *more);

struct efficiency {
	int64_t span_ns;		/* T */
	int64_t useful_max_ns, useful_total_ns;
	double load_balance, communication, parallel;	/* NaN where nothing is useful */
};

/* Of the run from FROM to TO. */
struct efficiency efficiency_of_spans(const struct span *spans, int32_t ranks, int64_t from_ns,
    int64_t to_ns, bool whole);

/* What efficiencies are of, for people. */
const char *span_rule(bool whole);

#endif
