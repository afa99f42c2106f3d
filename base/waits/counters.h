/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters by rank, and by function and rank; and why the rank that computes longest does: its time
 * on a core is a product of instructions and cycles per instruction, divided by the clock rate.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "../run/sampled_place.h"
#include "functions.h"

struct counter_line {
	int32_t rank;
	const char *function;		/* NULL: all of the rank */
	const char *file;
	struct shown_counts counts;
	double share;			/* of the rank's time on a core */
	int64_t across[COUNTERS];	/* negative: none in the whole run */
};

struct counters {
	struct counter_line *ranks, *functions;
	int32_t rank_count;
	size_t function_count;		/* the one with most time first */
	bool known[COUNTERS];
};

/* The rank that computes longest, to the mean of the others. */
struct product {
	int32_t rank;
	double compute, on_core;
	/* factors of on_core; NaN: unknown */
	double instructions, cycles_per_instruction, clock;
	double blocked_ns, preempted_ns, unknown_ns;	/* more than the others */
};

/* False: the run has no counters. */
bool counters_find(const struct imbalance *im, const struct by_function *by, struct counters *all);
void counters_free(struct counters *all);
/* False: there is nothing to compare, or no switches. */
bool counters_product(const struct by_function *by, const struct counters *all, struct product *p);
/* "counts between two samples without a call between them; none of cycles" */
void counters_say(const struct counters *all, char *text, size_t size);
/* "rank 1 computes 2.000 x as long as the mean of the others: ..." */
void product_say(const struct counters *all, const struct product *p, char *text, size_t size);

#endif
