/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two parts that find waits of one-sided communication know of windows. */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "one_sided.h"

/* The last operation of an origin on a target's memory in its epoch, and the last in that before. */
struct accesses {
	uint32_t origin, epoch;
	struct access { int64_t leave_ns; uint64_t seq; } last, before;
};

/* A rank's part of a window, by world rank: who holds its lock, who let go of it last, who accessed it. */
struct target {
	uint32_t window;
	int32_t rank;			/* -1: free slot */
	struct holder { uint32_t location; bool shared; } *holders;
	size_t holder_count, holder_capacity;
	uint32_t unlocked_by;		/* NOBODY */
	bool unlocked_shared;
	uint64_t unlock_seq;
	int64_t unlock_ns;
	struct accesses *accesses;	/* in order of origins */
	size_t access_count, access_capacity;
};

/* An origin's own state in a window. */
struct accessor {
	uint32_t window, location;	/* NOBODY: free slot */
	uint32_t epochs;		/* of active targets, ended */
	bool all;			/* MPI_Win_lock_all */
	int32_t *pending;		/* ranks that it accessed by a lock and has not flushed since; in order */
	size_t pending_count, pending_capacity;
};

struct target *target_of(struct imbalance *im, uint32_t window, int32_t rank);
struct accessor *accessor_of(struct imbalance *im, uint32_t window, uint32_t location);
/* The world rank that a row's call is about; -1: none, or it is not known. */
int32_t target_rank(const struct imbalance *im, uint32_t location, const struct row *row);
/* The place of the location among the holders; their count where it is none. */
size_t holder_at(const struct target *target, uint32_t location);

/* active_targets.c: an operation on the memory of another rank. */
void note_access(struct imbalance *im, const struct whole_call *call);

#endif
