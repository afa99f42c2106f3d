/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of samples by rank and function: instructions, cycles, page faults and so on.
 *
 * A sample has the counts since the thread's sample before. They are the computation's if no call
 * lies between the two, so if this is not the first sample of its piece. They are a function's if
 * both samples are in it. Counts of the first sample of a piece or of a call may be of both, or of
 * several pieces: they are of no function, and stay apart.
 *
 * Memory: 64 bytes for each rank and sampled place.
 */
#ifndef COUNTED_H
#define COUNTED_H

#include "../run/thread_waits.h"
#include "waits.h"

/* In place of a site: the two samples are in different functions; a call lies between them. */
enum counted_place { COUNTED_BETWEEN = UINT32_MAX - 2, COUNTED_ACROSS };

struct counted {
	int32_t rank;
	uint32_t place;			/* UINT32_MAX: a free slot */
	int64_t on_core_ns;		/* meanwhile; 0: unknown, or across calls */
	uint64_t of[COUNTERS];
};

/* A piece of a rank's computation in one thread, if the thread has counters. */
void counted_piece(struct imbalance *im, int32_t rank, const struct thread_lane *lane,
    const struct off_lane *off, const struct awaited_piece *piece);
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

#endif
