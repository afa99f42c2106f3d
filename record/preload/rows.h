/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows, what a thread has to write its own, and the block that it writes them to: blocks.c. */
#ifndef ROWS_H
#define ROWS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "recorder.h"

#define NO_ROW UINT64_MAX	/* where there is none, since recording was paused */

/* One row. */
struct entry {
	int64_t enter_ns, leave_ns;
	uint64_t bytes_sent, bytes_received;
	uint32_t site, comm, request;
	int32_t peer, tag;
	/* request_at: 1 + location of the row, if not the own one */
	uint16_t call, request_at;
};

/* The block that a thread fills, in a mapping of the file. */
struct block {
	struct mapping *mapping;	/* of the file, in which it lies; NULL: none open */
	unsigned char *message;	/* its first byte */
	size_t message_bytes;
	uint32_t count, capacity;
	uint32_t plain_end;	/* capacity, where row_commit() may store; 0: where not */
	/* 8 bytes for durations and sizes, 4 for communicators; else 4, 2 */
	bool wide;
	unsigned char *request_at, *folded;	/* NULL: the block is without */
	unsigned char *count_at, *enter, *duration, *call, *site, *comm, *peer, *tag, *sent,
	    *received, *request;
	struct open_call *open;	/* in it; no_block where none is open */
};

/* What a thread has of its own. */
struct thread {
	bool known;		/* has a location */
	/* Frame of the MPI call it is in: those below are the library's own. NULL: in none;
	 * stretch_mark: in none, and the stretch until the next one is timed. */
	const void *within;
	const char *stack, *stack_end;	/* as the system gave it; NULL: not asked for yet */
	uint32_t location;
	pid_t tid;
	bool refers;		/* to rows of other threads: its blocks have a column for that */
	uint64_t seq;		/* of its next row */
	int64_t polled_ns;	/* when the last poll that found nothing was left */
	struct poll_gaps *gaps;	/* between such polls: poll_gaps.c; NULL: none so far */
	/* seq as it was behind the last row that may stand for more calls */
	uint64_t fold_seq;
	int64_t fold_leave_ns;	/* when the last of them was left */
	uint32_t next_capacity;	/* of its next block */
	struct block block;
	struct thread *next;	/* all threads; they outlive their end, for their blocks */
	MPI_Status status;	/* stands in for MPI_STATUS_IGNORE */
	MPI_Status *statuses;	/* and MPI_STATUSES_IGNORE */
	MPI_Request *requests;	/* as they were before the call */
	struct entry *entries;
	struct frame_memory *frames;	/* of stacks, where they are asked for */
	struct switching *switching;	/* where switches are asked for; NULL: not of this thread */
	size_t statuses_capacity, requests_capacity, entries_capacity;
};

/* blocks.c: rows of a thread, by itself. */
SHARED struct open_call no_block;	/* nobody reads it */
void rows_commit(struct thread *thread, const struct entry *entries, uint32_t count);
/* One more call for the row committed last, which now lasts until LEAVE_NS; false: it is full. */
bool rows_fold(struct thread *thread, int64_t leave_ns);
void rows_begin(struct thread *thread);	/* a block before the first row: it has the open call */
void rows_replace(struct thread *thread, const struct entry *entry);	/* the row committed last */

SHARED _Atomic bool named[];	/* by number: calls whose name is in the trace */
SELDOM void name_call(uint16_t call);

/* In one store, as the process may end between any two. */
ALWAYS void
put_count(const struct block *b)
{
	const uint32_t count = __builtin_bswap32(b->count);

	__atomic_signal_fence(__ATOMIC_RELEASE);	/* the rows are there before they count */
	memcpy(b->count_at, &count, 4);
}

/* Field by field: a copy of the whole would need the whole in memory. */
#define ENTRY_COPY(e) \
	{ .enter_ns = (e)->enter_ns, .leave_ns = (e)->leave_ns, .bytes_sent = (e)->bytes_sent, \
	.bytes_received = (e)->bytes_received, .site = (e)->site, .comm = (e)->comm, \
	    .request = (e)->request, \
	.peer = (e)->peer, .tag = (e)->tag, .call = (e)->call, .request_at = (e)->request_at }

/* Whether it has no value that needs a wide column, and no reference to another thread. */
ALWAYS bool
row_is_plain(const struct entry *e)
{
	const uint64_t wide = (uint64_t)(e->leave_ns - e->enter_ns) | e->bytes_sent |
	    e->bytes_received | (uint64_t)(e->site | e->comm | e->request) << 16;

	return wide <= UINT32_MAX && e->request_at == 0;
}

/* Whether so many more plain rows of the call may be stored. */
ALWAYS bool
rows_room(const struct thread *thread, uint32_t rows, uint16_t call)
{
	return thread->block.count + (size_t)rows <= thread->block.plain_end &&
	    !silent && named[call];
}

/* A row that has no wide value, as number I of a block that is not wide. It is not counted yet. */
ALWAYS void
row_store(const struct block *b, size_t i, const struct entry *e)
{
	const uint64_t duration_ns = (uint64_t)(e->leave_ns - e->enter_ns);

	memcpy(b->enter + 8 * i, &e->enter_ns, 8);
	memcpy(b->duration + 4 * i, &duration_ns, 4);	/* the low bytes come first */
	memcpy(b->call + 2 * i, &e->call, 2);
	memcpy(b->site + 2 * i, &e->site, 2);
	memcpy(b->comm + 2 * i, &e->comm, 2);
	memcpy(b->peer + 4 * i, &e->peer, 4);
	memcpy(b->tag + 4 * i, &e->tag, 4);
	memcpy(b->sent + 4 * i, &e->bytes_sent, 4);
	memcpy(b->received + 4 * i, &e->bytes_received, 4);
	memcpy(b->request + 2 * i, &e->request, 2);
}

/* Those stored behind the last one become part of the trace. */
ALWAYS void
rows_count(struct thread *thread, uint32_t rows)
{
	thread->block.count += rows;
	thread->seq += rows;
	put_count(&thread->block);
}

/*
 * One row, as most are. Always inlined, and the entry is a variable of the caller whose address
 * goes nowhere else: so what a kind of call does not have is a constant there, and each kind has a
 * sequence of stores of its own, without a struct in memory. All else goes through rows_commit().
 */
ALWAYS void
row_commit(struct thread *thread, const struct entry *e)
{
	if (UNLIKELY(!rows_room(thread, 1, e->call) || !row_is_plain(e))) {
		const struct entry other = ENTRY_COPY(e);

		rows_commit(thread, &other, 1);
		return;
	}
	row_store(&thread->block, thread->block.count, e);
	rows_count(thread, 1);
}

/* Two values of a column with one store. */
ALWAYS void
store_both(unsigned char *column, size_t i, unsigned size, uint64_t first, uint64_t second)
{
	const uint64_t both = (first & (UINT64_MAX >> (64 - 8 * size))) | second << 8 * size;

	memcpy(column + size * i, &both, 2 * size);
}

/* The same for a call of two rows, which differ in call, peer, tag and sizes alone. */
ALWAYS void
pair_commit(struct thread *thread, const struct entry *e, const struct entry *part)
{
	const struct block *b = &thread->block;
	const size_t i = b->count;
	const uint64_t duration_ns = (uint64_t)(e->leave_ns - e->enter_ns);

	if (UNLIKELY(!rows_room(thread, 2, e->call) || !row_is_plain(e) || !row_is_plain(part))) {
		const struct entry others[2] = { ENTRY_COPY(e), ENTRY_COPY(part) };

		rows_commit(thread, others, 2);
		return;
	}
	memcpy(b->enter + 8 * i, &e->enter_ns, 8);
	memcpy(b->enter + 8 * i + 8, &e->enter_ns, 8);
	store_both(b->duration, i, 4, duration_ns, duration_ns);
	store_both(b->call, i, 2, e->call, part->call);
	store_both(b->site, i, 2, e->site, e->site);
	store_both(b->comm, i, 2, e->comm, e->comm);
	store_both(b->peer, i, 4, (uint32_t)e->peer, (uint32_t)part->peer);
	store_both(b->tag, i, 4, (uint32_t)e->tag, (uint32_t)part->tag);
	store_both(b->sent, i, 4, e->bytes_sent, part->bytes_sent);
	store_both(b->received, i, 4, e->bytes_received, part->bytes_received);
	store_both(b->request, i, 2, 0, 0);
	rows_count(thread, 2);
}

/*
 * poll_gaps.c: a poll of the thread found nothing, as the one before, which lies further apart:
 * from time to time it is measured whether the thread slept, if there was no other call. Its row is
 * the next one.
 */
SELDOM void poll_gap(struct thread *thread, uint32_t site, int64_t leave_ns);
void poll_gaps_append(void);	/* what was measured, of all threads */

/* threads.c: storage of the thread, so that a wrapper needs no memory of its own. NULL: recording
 * has ended. */
MPI_Status *own_statuses(struct thread *thread, int count);
MPI_Request *own_requests(struct thread *thread, int count);
struct entry *own_entries(struct thread *thread, int count);

#endif
