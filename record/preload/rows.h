/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows, the state that a thread needs to write them, and the block that they go to: blocks.c. */
#ifndef ROWS_H
#define ROWS_H

#include <string.h>
#include <sys/types.h>

#include "recorder.h"

/* There is no row, since recording was paused: one that is far from every other. */
#define NO_ROW (UINT64_MAX / 2)

/* One row. */
struct entry {
	int64_t enter_ns, leave_ns;
	uint64_t bytes_sent, bytes_received;
	uint32_t site, comm, request;
	int32_t peer, tag;
	/* request_at: 1 + location of the row referred to, if not the thread's own */
	uint16_t call, request_at;
};

/* What the rows of a block may hold: values for wide columns, references to other threads' rows. */
enum { WIDE = 1, REFERS = 2 };

/* The block that a thread fills, in a mapping of the file. */
struct block {
	struct mapping *mapping;	/* of the file; NULL: no block is open */
	unsigned char *message;	/* its first byte */
	size_t message_bytes;
	uint32_t count, capacity;
	uint32_t plain_end;	/* capacity, if row_commit() may store; else 0 */
	int64_t made_ns;		/* when it was ready, if a call had to wait for it */
	/* WIDE: 8 bytes for durations and sizes, 4 for communicators; else 4 and 2 */
	unsigned form;
	unsigned char *request_at;	/* if its rows refer */
	unsigned char *folded;		/* if calls are folded */
	unsigned char *count_at, *enter, *duration, *call, *site, *comm, *peer, *tag, *sent,
	    *received, *request;
	struct open_call *open;	/* of the block; no_block if none is open */
};

/*
 * Whether the thread sleeps between polls that find nothing: poll_gaps.c. The sums are by site; any
 * further sites are not measured.
 */
enum { GAP_SITES = 16 };
struct poll_gaps {
	struct gap_sum {
		uint64_t site, count, apart_ns, awake_ns;
	} of[GAP_SITES];
	uint64_t seen;
	/* row of the poll that ends the measured gap; 0: none is being measured */
	uint64_t from_seq;
	int64_t from_ns, from_cpu_ns;
	long from_slept;
};

/* State of a thread. */
struct thread {
	/*
	 * Frame of the MPI call it is in: frames below are the library's own. NULL: in no call;
	 * sample_mark: in no call, and sample_enter() is told of the next one.
	 */
	const void *within;
	uintptr_t stack, stack_end;	/* bounds given by the system; 0: not asked for yet */
	uint32_t location;
	uint32_t number;		/* a worker's, if it makes no calls; 0: the first thread */
	pid_t tid;
	uint64_t seq;		/* number of its next row */
	int64_t polled_ns;	/* when the last unsuccessful poll was left */
	struct poll_gaps gaps;
	/* seq after the last row that may absorb more calls */
	uint64_t fold_seq;
	int64_t fold_leave_ns;	/* when the last call in that row was left */
	struct block block, regions;
	struct thread *next;	/* list of all threads; kept after their end, for their blocks */
	MPI_Status status;	/* replaces MPI_STATUS_IGNORE */
	/* Storage that grows: replaces MPI_STATUSES_IGNORE; has requests as they were before. */
	struct storage { void *at; size_t capacity; } statuses, requests, entries;
	struct frame_memory *frames;	/* for stacks, if asked for */
	struct switching *switching;	/* if switches are recorded; NULL: not of this thread */
};

/* blocks.c: writes rows of the calling thread. */
SHARED struct open_call no_block;	/* never read */
void rows_commit(struct thread *thread, const struct entry *entries, uint32_t count);
/*
 * Folds one more call into the last row, which now lasts until LEAVE_NS. Returns false if it is
 * full.
 */
bool rows_fold(struct thread *thread, int64_t leave_ns);
/* opens a block before the first row, to hold the open call */
void rows_begin(struct thread *thread);
void rows_replace(struct thread *thread, const struct entry *entry);	/* replaces the last row */

SHARED _Atomic bool named[];	/* by number: calls whose name is in the trace */
SELDOM void name_call(uint16_t call);	/* small.c */

/* A single store, as the process may end between any two. */
ALWAYS void
put_count(const struct block *b)
{
	const uint32_t count = __builtin_bswap32(b->count);

	/* rows are stored before they count, and the open call has ended */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(b->count_at, &count, 4);
}

/* Field by field: copying the struct would need it in memory. */
#define ENTRY_COPY(e) \
	{ .enter_ns = (e)->enter_ns, .leave_ns = (e)->leave_ns, .bytes_sent = (e)->bytes_sent, \
	.bytes_received = (e)->bytes_received, .site = (e)->site, .comm = (e)->comm, \
	.request = (e)->request, .peer = (e)->peer, .tag = (e)->tag, .call = (e)->call, \
	.request_at = (e)->request_at }

/* More than UINT32_MAX if a value needs a wide column. */
ALWAYS uint64_t
row_width(const struct entry *e)
{
	return (uint64_t)(e->leave_ns - e->enter_ns) | e->bytes_sent | e->bytes_received |
	    (uint64_t)(e->site | e->comm | e->request) << 16;
}

/* Whether no value needs a wide column and no reference goes to another thread. */
ALWAYS bool
row_is_plain(const struct entry *e)
{
	return row_width(e) <= UINT32_MAX && e->request_at == 0;
}

/* Whether ROWS more plain rows of the call may be stored. */
ALWAYS bool
rows_room(const struct thread *thread, uint32_t rows, uint16_t call)
{
	return thread->block.count + (size_t)rows <= thread->block.plain_end &&
	    !silent && named[call];
}

/*
 * Stores a row as row I of a block, without counting it. WIDE is a constant: that of the block, or
 * false for a plain row.
 */
ALWAYS void
row_store(const struct block *b, size_t i, const struct entry *e, bool wide)
{
	const size_t size = wide ? 8 : 4;	/* of some columns; little-endian */
	const uint64_t duration_ns = (uint64_t)(e->leave_ns - e->enter_ns);

	memcpy(b->enter + 8 * i, &e->enter_ns, 8);
	memcpy(b->duration + size * i, &duration_ns, size);
	memcpy(b->call + 2 * i, &e->call, 2);
	memcpy(b->site + size / 2 * i, &e->site, size / 2);
	memcpy(b->comm + size / 2 * i, &e->comm, size / 2);
	memcpy(b->peer + 4 * i, &e->peer, 4);
	memcpy(b->tag + 4 * i, &e->tag, 4);
	memcpy(b->sent + size * i, &e->bytes_sent, size);
	memcpy(b->received + size * i, &e->bytes_received, size);
	memcpy(b->request + size / 2 * i, &e->request, size / 2);
}

/* Counts the rows stored last, which makes them part of the trace. */
ALWAYS void
rows_count(struct thread *thread, uint32_t rows)
{
	thread->block.count += rows;
	thread->seq += rows;
	put_count(&thread->block);
}

/*
 * Commits one row, the common case. It is always inlined, and the entry is a local variable of the
 * caller whose address does not escape. So fields that a kind of call lacks are constants, and each
 * kind becomes its own sequence of stores, without a struct in memory. The rest is rows_commit()'s.
 */
ALWAYS void
row_commit(struct thread *thread, const struct entry *e)
{
	if (UNLIKELY(!rows_room(thread, 1, e->call) || !row_is_plain(e))) {
		const struct entry other = ENTRY_COPY(e);

		rows_commit(thread, &other, 1);
		return;
	}
	row_store(&thread->block, thread->block.count, e, false);
	rows_count(thread, 1);
}

/* Stores two values of a column at once. */
ALWAYS void
store_both(unsigned char *column, size_t i, unsigned size, uint64_t first, uint64_t second)
{
	const uint64_t both = (first & (UINT64_MAX >> (64 - 8 * size))) | second << 8 * size;

	memcpy(column + size * i, &both, 2 * size);
}

/* The same for a call of two rows, which differ only in call, peer, tag and sizes. */
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
 * poll_gaps.c: a poll found nothing, like the one before, and lies further apart from it. At times
 * this measures whether the thread slept, if no other call came in between. Its row is the next
 * one.
 */
SELDOM void poll_gap(struct thread *thread, uint32_t site, int64_t leave_ns);
void poll_gaps_append(void);	/* measurements of all threads */

/* threads.c: storage of the thread, so that a wrapper needs none. NULL: recording has ended. */
void *own_storage(struct storage *storage, int count, size_t size);

ALWAYS MPI_Status *
own_statuses(struct thread *thread, int count)
{
	return own_storage(&thread->statuses, count, sizeof(MPI_Status));
}

ALWAYS MPI_Request *
own_requests(struct thread *thread, int count)
{
	return own_storage(&thread->requests, count, sizeof(MPI_Request));
}

ALWAYS struct entry *
own_entries(struct thread *thread, int count)
{
	return own_storage(&thread->entries, count, sizeof(struct entry));
}

#endif
