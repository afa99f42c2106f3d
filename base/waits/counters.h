/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of samples by rank and function: instructions, cycles, page faults and so on; and why
 * the rank that computes longest does: its time on a core is a product of instructions and cycles
 * per instruction, divided by the clock rate.
 *
 * A sample has the counts since the thread's sample before. They are the computation's if no call
 * lies between the two, so if this is not the first sample of its piece. They are a function's if
 * both samples are in it. Counts of the first sample of a piece or of a call may be of both, or of
 * several pieces: they are of no function, and stay apart.
 *
 * Memory: 64 bytes for each rank and sampled place.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "../run/sampled_place.h"
#include "../run/thread_waits.h"
#include "functions.h"

/* ---- counting ---- */

/* In place of a site: the two samples are in different functions; a call lies between them. */
enum counted_place { COUNTED_BETWEEN = UINT32_MAX - 2, COUNTED_ACROSS };

struct counted {
	int32_t rank;
	uint32_t place;			/* UINT32_MAX: a free slot */
	int64_t on_core_ns;		/* meanwhile; 0: unknown, or across calls */
	uint64_t of[COUNTERS];
};

/* A piece of a rank's computation in one thread, if the thread has counters. */
void counted_piece(struct imbalance *im, int32_t rank, const struct awaited_piece *piece);
/* A call of that thread. */
void counted_call(struct imbalance *im, int32_t rank, const struct thread_lane *lane,
    const struct row *row);
/*
 * The number of sums, 0 without counters; the one at an index (false: none); and one from another
 * part of the run.
 */
size_t counted_places(const struct imbalance *im);
bool counted_at(const struct imbalance *im, size_t at, struct counted *counted);
void counted_add(struct imbalance *im, const struct counted *more);

/* ---- for reports ---- */

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
