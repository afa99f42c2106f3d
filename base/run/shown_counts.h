/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a rank or a function, as reports show them. */
#ifndef SHOWN_COUNTS_H
#define SHOWN_COUNTS_H

#include "../stream/samples.h"
#include "../tool/fields.h"

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

#endif
