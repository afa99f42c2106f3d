/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares runs on different numbers of ranks with the smallest. Reads only the computing time of
 * each rank.
 */
#ifndef SCALING_H
#define SCALING_H

#include <stddef.h>

#include "span.h"

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
