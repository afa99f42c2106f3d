/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators as each rank defines them in its raw trace, and how MPI_COMM_WORLDs have met:
 * spawned processes, or runs that connected. Their recorders have not talked to each other, since
 * one world may not be recorded. Each recorded how and when it met another world. The two sides of
 * a meeting match by their calls (spawn and parent, accept and connect), by the sizes of both
 * groups, and by their common port. If several match, times decide, provided that these are of one
 * kernel's clock.
 */
#ifndef MEETINGS_H
#define MEETINGS_H

#include "../stream/stream.h"

/* One rank's definition of a communicator. */
struct membership {
	uint64_t id;		/* as recorded */
	uint64_t name;		/* unique name, the same on all members: meetings_join() */
	uint32_t comm;		/* number within the rank */
	int32_t rank, size;	/* own rank in its group, members of the group */
	int32_t side;		/* 0 or 1 */
	int32_t remote_size;	/* -1: no intercommunicator */
	uint32_t from;	/* the rank's number of the communicator that its id belongs to; 0: none */
	uint32_t on;		/* of partitions: the number of their communicator; else 0 */
	char *met;		/* how it met another world; NULL: it did not */
	uint64_t port;		/* the same on both sides; 0: unknown */
	int64_t at_ns;		/* of the meeting; own clock */
	bool joined;		/* both sides of the meeting are here; or nobody looks any more */
	bool alone;		/* the other side is in no trace */
	char *type;		/* "window", "file", or NULL: a communicator */
	int32_t *sources;	/* neighbours in its topology; NULL: it has none */
	uint32_t source_count;
};

/* The rank's own clock and the kernel's, at one instant. */
struct kernel_clock {
	uint64_t kernel;
	int64_t at_ns, offset_ns;
};

#define LATEST_NS (INT64_MAX / 4)	/* keeps sums of times in range */

/* A rank, its world, and its definitions so far. */
struct met_rank {
	uint64_t run;		/* of its world */
	struct membership *comms;
	size_t comm_count;
	const struct kernel_clock *kernels;
	size_t kernel_count;
};

/* Two ranks that have met, and when, on their own clocks. The first has the lower number. */
struct meeting {
	int32_t rank, other;
	int64_t at_ns, other_ns;
};

/* These read messages of raw traces; 0, or -1 with the reason in the reader. */
int membership_read(struct membership *of, struct reader *in, const struct message *message);
/* The neighbours of the communicator defined last. */
int neighbours_read(struct membership *of, struct reader *in, const struct message *message);
int kernel_clock_read(struct kernel_clock *of, struct reader *in, const struct message *message);

/* The communicator of the same rank that the object's id belongs to; NULL: none. */
const struct membership *membership_from(const struct membership *comms, size_t count,
    const struct membership *of);
/* The rank's look at the kernel's clock nearest to its own time AT_NS; NULL: none. */
const struct kernel_clock *kernel_at(const struct kernel_clock *kernels, size_t count,
    int64_t at_ns);
/*
 * Names all communicators, and gives both sides of each object that worlds made at a meeting one
 * name. WHOLE: only sides that all of their members have defined. Returns the new meetings, in
 * COUNT; to be freed.
 */
struct meeting *meetings_join(struct met_rank *ranks, int32_t rank_count, bool whole,
    size_t *count);

#endif
