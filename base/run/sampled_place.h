/* SPDX-License-Identifier: BSD-3-Clause */
/* The meaning of samples: places with names, time on a core, and counters. */
#ifndef SAMPLED_PLACE_H
#define SAMPLED_PLACE_H

#include "../stream/samples.h"
#include "../tool/stacks.h"
#include "definitions.h"

/* The name of computation without samples, a line beside the functions. */
extern const char not_sampled[];
#define NOT_SAMPLED "(not on a core, or not sampled)"
/* The name of computation on a core without samples, if there are switches: likewise. */
extern const char on_core_name[];
extern const char thread_wait_name[];

/*
 * The function of a sampled place, or of its caller; "[module]" if it is unknown. Names and files
 * live as long as the definitions.
 */
struct stack_frame place_frame(const struct definitions *known, uint32_t site);
struct stack_frame caller_frame(const struct definitions *known, uint32_t site);

bool same_function(const struct definitions *known, uint32_t site, uint32_t other);

/*
 * The innermost place of a sample that is in the program or in a library of the user, not of the
 * system. The place itself if there is no such caller, or where a runtime waits.
 */
uint32_t own_place(const struct definitions *known, uint32_t site, uint32_t callers);
/* The same where a thread waits in a runtime: the place in the program that called this. */
uint32_t waiting_place(const struct definitions *known, uint32_t site, uint32_t callers);
/* The place that it called, in a library of the system; 0: it called none. */
uint32_t called_place(const struct definitions *known, uint32_t site, uint32_t callers);
/*
 * The function of such a place, in the user's files: the outermost into which the code there is
 * inlined. INLINED: the innermost; without a name if none is inlined. "Python code" is all that
 * samples show of a script.
 */
struct stack_frame own_frame(const struct definitions *known, uint32_t site,
    struct stack_frame *inlined);

/* The time of each sample: the period, or less if all would exceed the computation. */
int64_t sample_worth(int64_t period_ns, uint64_t samples, int64_t compute_ns);
/*
 * The standard error of the time of COUNT samples, in ns. Of n = compute / worth draws, k are this
 * function's. By Laplace's rule the variance of the share is (k+1)(n-k+1) / ((n+2)^2 (n+3)), which
 * is never 0. In a run without samples the error is 0.
 */
double sampled_error(uint64_t count, int64_t worth_ns, int64_t compute_ns);

/* ---- counters of a rank or a function, as reports show them; the fields need fields.h ---- */

struct shown_counts {
	int64_t on_core_ns;		/* while this was counted; negative: unknown */
	int64_t of[COUNTERS];		/* negative: no counts in the whole run */
	double cycles_per_instruction, clock_hz;	/* NaN: unknown */
};

#define SECONDS_COUNT .text = "%.6f", .json = "%.9f", .scale = 1e-9, .known = UNLESS_NEGATIVE
#define WHOLE_COUNT .text = PLAIN, .json = PLAIN, .known = UNLESS_NEGATIVE, .optional = true
/* The fields of a struct TYPE with such a MEMBER. */
#define SHOWN_COUNTS(type, member) \
	{ "counted_s", FIELD(type, member.on_core_ns), SECONDS_COUNT }, \
	{ "task_clock_s", FIELD(type, member.of[COUNT_task_clock]), SECONDS_COUNT, \
	    .optional = true }, \
	{ "page_faults", FIELD(type, member.of[COUNT_page_faults]), WHOLE_COUNT }, \
	{ "migrations", FIELD(type, member.of[COUNT_migrations]), WHOLE_COUNT }, \
	{ "instructions", FIELD(type, member.of[COUNT_instructions]), WHOLE_COUNT }, \
	{ "cycles", FIELD(type, member.of[COUNT_cycles]), WHOLE_COUNT }, \
	{ "cycles_per_instruction", FIELD(type, member.cycles_per_instruction), .text = "%.3f", \
	    .json = "%.6f", .optional = true }, \
	{ "clock_hz", FIELD(type, member.clock_hz), .text = "%.3e", .json = "%.0f", \
	    .optional = true }

void counts_add(struct shown_counts *to, const struct shown_counts *more);
/* The quotient; NaN if either is not positive. */
double count_ratio(double count, double to);
/* After all is added up: KNOWN are the counters of the run; SWITCHED: time on a core is known. */
void counts_show(struct shown_counts *counts, const bool known[COUNTERS], bool switched);

/*
 * ---- runtimes.c: which functions of thread runtimes and of the C library wait for other threads
 */

/* How a place was recognised as waiting for threads. */
enum waiting { NOT_WAITING, WAITING_BY_FUNCTION, WAITING_BY_MODULE, WAITING_IN_C_LIBRARY };

/* In a stripped runtime all functions without a name count as waiting. */
enum waiting waiting_at(const struct definitions *known, uint32_t site);
/*
 * May it be a place of the C library for any system call, such as syscall()? Runtimes and waiting
 * functions call it to wait, others for other things.
 */
bool is_system_call(const struct definitions *known, uint32_t site);
/* Has a runtime or a waiting function called it to wait? */
enum waiting waiting_below(const struct definitions *known, uint32_t site, uint32_t callers);
/* Off its core there, did the thread perhaps wait? Its callers do not say it. */
bool may_wait_below(const struct definitions *known, uint32_t site, uint32_t callers);

#endif
