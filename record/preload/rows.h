/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows, what a thread has to write its own, and the block that it writes them to: blocks.c. */
#ifndef ROWS_H
#define ROWS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NO_ROW UINT64_MAX	/* where there is none, since recording was paused */

/* One row. */
struct entry {
	int64_t enter_ns, leave_ns;
	uint64_t bytes_sent, bytes_received;
	uint32_t site, comm, request;
	int32_t peer, tag;
	uint16_t call, request_at;	/* request_at: 1 + location of the row, if not the own one */
};

/* The block that a thread fills, in a mapping of the file. */
struct block {
	struct mapping *mapping;	/* of the file, in which it lies; NULL: none open */
	unsigned char *message;	/* its first byte */
	size_t message_bytes;
	uint32_t count, capacity;
	bool wide;		/* 8 bytes for durations and sizes, 4 for communicators; else 4, 2 */
	unsigned char *request_at, *folded;	/* NULL: the block is without */
	unsigned char *count_at, *enter, *duration, *call, *site, *comm, *peer, *tag, *sent, *received,
	    *request;
};

/* What a thread has of its own. */
struct thread {
	bool known;		/* has a location */
	int depth;		/* in an MPI call: calls within it are the library's own */
	uint32_t location;
	pid_t tid;
	bool refers;		/* to rows of other threads: its blocks have a column for that */
	uint64_t seq;		/* of its next row */
	uint64_t fold_seq;	/* seq as it was behind the last row that may stand for more calls */
	int64_t fold_leave_ns;	/* when the last of them was left */
	uint32_t next_capacity;	/* of its next block */
	struct block block;
	struct thread *next;	/* all threads; they outlive their end, for their blocks */
	MPI_Status status;	/* stands in for MPI_STATUS_IGNORE */
	MPI_Status *statuses;	/* and MPI_STATUSES_IGNORE */
	MPI_Request *requests;	/* as they were before the call */
	struct entry *entries;
	size_t statuses_capacity, requests_capacity, entries_capacity;
};

/* blocks.c: rows of a thread, by itself. */
void rows_commit(struct thread *thread, const struct entry *entries, uint32_t count);
/* One more call for the row committed last, which now lasts until LEAVE_NS; false: it is full. */
bool rows_fold(struct thread *thread, int64_t leave_ns);
void rows_replace(struct thread *thread, const struct entry *entry);	/* the row committed last */

/* threads.c: storage of the thread, so that a wrapper needs no memory of its own. NULL: recording has ended. */
MPI_Status *own_statuses(struct thread *thread, int count);
MPI_Request *own_requests(struct thread *thread, int count);
struct entry *own_entries(struct thread *thread, int count);

#endif
