/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a run that belongs to the program, and its efficiencies: one rule for all tools.
 *
 * A rank's life is, in this order:
 *	start		before it entered MPI_Init: the process is made and loaded
 *	init		in MPI_Init
 *	its span	from leaving MPI_Init to entering MPI_Finalize
 *	finalize	in MPI_Finalize
 *	end		after it, until the run ends
 * Efficiencies refer to spans; the rest is neither useful nor lost. With WHOLE the span is the
 * whole run, and time outside MPI before the last call is useful, including the start. If a rank
 * does not call MPI_Init (for example in the trace of another tool), its span begins with the run.
 * If it does not call MPI_Finalize, its span ends with its last call.
 *
 * POP's efficiencies, where useful is the time outside MPI of each rank's first thread, within its
 * span, and T the longest span of a rank:
 *	load balance = mean useful / largest useful
 *	communication = largest useful / T
 *	parallel = load balance * communication = mean useful / T
 */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	int64_t begin_ns, end_ns;	/* the span, as far as known */
	int64_t last_ns;		/* the leave of the last call */
	int64_t useful_ns;		/* within the span */
	int64_t outside_ns;		/* outside MPI, including before the first call */
	int64_t start_ns, init_ns, finalize_ns;
	bool any, began, finalized;	/* a call; MPI_Init or the like; MPI_Finalize */
};

/* May the time of a rank before this first call be its start? */
bool span_begins(unsigned call);
/* MPI_Init or MPI_Finalize, which are outside spans. */
bool span_frames(unsigned call);

/* Calls of one rank's first thread, in order; CALL of call_name. Times from the run's begin. */
void span_call(struct span *span, unsigned call, int64_t enter_ns, int64_t leave_ns);
/* The same, counting only from FROM to TO. */
void span_call_within(struct span *span, unsigned call, int64_t enter_ns, int64_t leave_ns,
    int64_t from_ns, int64_t to_ns);
/* The same for a later call other than MPI_Init and MPI_Finalize, after BEFORE_NS outside MPI. */
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

/* Begins a span in the middle of a run: the rank left its last call at LEAVE_NS. */
void span_start(struct span *span, int64_t leave_ns);
/* Appends MORE, which span_start began, to SPAN. */
void span_join(struct span *span, const struct span *more);

struct efficiency {
	int64_t span_ns;		/* T */
	int64_t useful_max_ns, useful_total_ns;
	double load_balance, communication, parallel;	/* NaN if nothing is useful */
};

/* For the run from FROM to TO. */
struct efficiency efficiency_of_spans(const struct span *spans, int32_t ranks, int64_t from_ns,
    int64_t to_ns, bool whole);

/* The span of the efficiencies, as text. */
const char *span_rule(bool whole);

/* ---- runs on different numbers of ranks; reads only the computing time of each rank ---- */

/* The spans of the ranks of a run; MATCHED: refuses a trace. Memory: ranks. */
struct rank_spans {
	int32_t ranks;
	int64_t run_ns;
	struct span *spans;
};
struct rank_spans read_spans(const char *file, bool matched);

struct times {
	const char *file;
	int32_t ranks;
	int64_t run_ns;
	struct efficiency of;
	/* POP's, relative to the smallest run: */
	double speedup, computation_scaling, global;
};
struct times read_times(const char *file, bool whole);

/* WEAK: the work grows with the ranks. */
void scale_against(struct times *run, const struct times *smallest, bool weak);
void sort_and_scale(struct times *runs, size_t count, bool weak);	/* smallest run first */

/* For fields.h. IN: "times." if struct TYPE has its times in a member TIMES; else empty. */
#define SCALING_FIELDS(type, in) \
	{ "run_time_s", FIELD(type, in run_ns), IN_SECONDS }, \
	{ "speedup", FIELD(type, in speedup), IN_FIXED(3, 9) }, \
	{ "parallel", FIELD(type, in of.parallel), IN_FIXED(4, 9) }, \
	{ "load_balance", FIELD(type, in of.load_balance), IN_FIXED(4, 9), .head = "load_bal" }, \
	{ "communication", FIELD(type, in of.communication), IN_FIXED(4, 9), .head = "communic" }, \
	{ "computation_scaling", FIELD(type, in computation_scaling), IN_FIXED(4, 9), \
	    .head = "comp_scal" }, \
	{ "global", FIELD(type, in global), IN_FIXED(4, 9) }

#endif
