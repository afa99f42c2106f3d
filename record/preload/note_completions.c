/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls that complete, cancel or free requests. */
#include "notes.h"

ALWAYS void
fill_completed(struct entry *e, const struct request *done, const MPI_Status *status)
{
	int cancelled = 0;

	if (done->cancelled)
		PMPI_Test_cancelled(status, &cancelled);
	if (cancelled)
		return;
	e->comm = done->comm;
	fill_received(e, status);
}

/* Looks up the request that the call completed, and forgets it unless it is persistent. */
static bool
take_request(const struct at *at, MPI_Request handle, struct request *done)
{
	bool taken;

	if (handle == MPI_REQUEST_NULL)
		return false;
	lock_tables();
	if (request_is_static(handle)) {
		done->kind = OF_SEND;
		taken = static_take(at->thread->location, at->leave_ticks, &done->location,
		    &done->start);
	} else
		taken = request_complete(handle, at->enter_ticks, done);
	unlock_tables();
	return taken;
}

/*
 * Makes the rows E for the completion of one request, the first of which will be row SEQ. Returns
 * their number, 0 if the request is unknown.
 */
static uint32_t
complete(struct at *at, const struct entry *call, struct entry *e, uint64_t seq, MPI_Request handle,
    const MPI_Status *status)
{
	struct request done;

	if (!take_request(at, handle, &done))
		return 0;
	e[0] = *call;
	refer(at, &e[0], seq, done.location, done.start);
	if (done.kind == OF_IDUP)
		register_communicator(done.made, done.creation);
	if (done.kind == OF_RECEIVE)
		fill_completed(&e[0], &done, status);
	if (done.kind != OF_SENDRECV)
		return 1;
	e[1] = *call;
	if (done.start != NO_ROW)
		refer(at, &e[1], seq + 1, done.location, done.start + 1);
	fill_completed(&e[1], &done, status);
#ifdef MPICH_VERSION
	/*
	 * MPICH 4.0 leaves the status unchanged or fills in the send. So the row gets the source
	 * and tag asked for, if no wildcards, and the size of the buffer.
	 */
	e[1].peer = done.peer != ANY_PEER ? done.peer : e[1].peer;
	e[1].tag = done.tag != -1 ? done.tag : e[1].tag;
	e[1].bytes_received = done.peer != NULL_PEER ? done.received : 0;
#endif
	return 2;
}

enum { MOST_ROWS = 2 };		/* per completion */

/* Commits a row without a reference. */
static __attribute__((noinline)) void
complete_none(struct at *at)
{
	struct entry e = entry_of(at);

	commit_foldable(at, &e, POLL);
}

/* Commits the rows so far as one call; it has one row even if nothing completed. */
static void
commit_completions(struct at *at, struct entry *e, uint32_t count)
{
	if (count == 0) {
		complete_none(at);
		return;
	}
	for (uint32_t i = 1; i < count; i++)
		e[i].call = NUMBER_part;
	rows_commit(at->thread, e, count);
}

static SELDOM void
complete_apart(struct at *at, MPI_Request handle, const MPI_Status *status)
{
	struct entry e[MOST_ROWS], call = entry_of(at);

	commit_completions(at, e, complete(at, &call, e, at->thread->seq, handle, status));
}

/* Whether rows like that of the call, at most ROWS, may be stored directly. */
ALWAYS bool
stores(const struct at *at, const struct entry *call, uint32_t rows)
{
	return !many_threads && rows_room(at->thread, rows, at->call) && row_is_plain(call);
}

/*
 * Makes E, a row of the call, that of the completion, as row SEQ, if the request is in the near
 * table and the row is plain, and forgets the request. Otherwise returns false, and E has no
 * meaning.
 */
ALWAYS bool
complete_near(const struct at *at, struct entry *e, uint64_t seq, MPI_Request handle,
    const MPI_Status *status)
{
	const bool is_static = request_is_static(handle);
	const struct pending *first = &pending.slots[pending.first];
	struct near_request *it = near_request(handle);
	uint64_t start;

	if (is_static) {
		/* the oldest: if this thread started it, it completes it */
		if (UNLIKELY(pending.count == 0 || first->location != at->thread->location))
			return false;
		start = first->start;
	} else {
		if (UNLIKELY(it->handle != handle || it->location != at->thread->location))
			return false;
		start = it->start;
		if (it->kind == OF_RECEIVE) {
			e->comm = it->comm;
			fill_received(e, status);
		}
	}
	if (UNLIKELY(seq - start > UINT16_MAX ||
	    (e->bytes_received | (uint64_t)e->comm << 16) > UINT32_MAX))
		return false;
	e->request = (uint32_t)(seq - start);
	if (is_static)
		static_drop_first();
	else
		it->handle = MPI_REQUEST_NULL;
	return true;
}

/* The common case: one request, one row. */
static __attribute__((noinline)) void
complete_alone(struct at *at, MPI_Request handle, const MPI_Status *status)
{
	struct thread *thread = at->thread;
	struct entry e = entry_of(at);

	if (UNLIKELY(handle == MPI_REQUEST_NULL))
		complete_none(at);
	else if (LIKELY(stores(at, &e, 1) &&
	    complete_near(at, &e, thread->seq, handle, status))) {
		row_store(&thread->block, thread->block.count, &e, false);
		rows_count(thread, 1);
	} else
		complete_apart(at, handle, status);
}

/* Reads back the rows that are stored but not yet counted. */
static void
take_back(const struct thread *thread, const struct entry *call, struct entry *e, uint32_t rows)
{
	const struct block *b = &thread->block;

	for (size_t i = b->count; i < b->count + (size_t)rows; i++, e++) {
		*e = *call;
		e->comm = e->request = 0;
		e->bytes_received = 0;
		memcpy(&e->comm, b->comm + 2 * i, 2);
		memcpy(&e->peer, b->peer + 4 * i, 4);
		memcpy(&e->tag, b->tag + 4 * i, 4);
		memcpy(&e->bytes_received, b->received + 4 * i, 4);
		memcpy(&e->request, b->request + 2 * i, 2);
	}
}

/* ROWS rows of the call are stored; the requests from I on need the general way. */
static SELDOM void
complete_others(struct at *at, int i, int count, const MPI_Request *before,
    const MPI_Status *statuses, uint32_t rows)
{
	struct entry *e = own_entries(at->thread, MOST_ROWS * count);
	const struct entry call = entry_of(at);

	if (e == NULL)
		return;
	take_back(at->thread, &call, e, rows);
	for (; i < count; i++)
		rows += complete(at, &call, &e[rows], at->thread->seq + rows, before[i],
		    &statuses[i]);
	commit_completions(at, e, rows);
}

/* Stores rows directly into the block and counts them together. */
static __attribute__((noinline)) void
complete_many(struct at *at, int count, const MPI_Request *before, const MPI_Status *statuses)
{
	struct thread *thread = at->thread;
	const struct entry call = entry_of(at);
	uint32_t rows = 0;
	int i = 0;

	if (LIKELY(stores(at, &call, (uint32_t)count)))
		for (; i < count; i++) {
			struct entry e = ENTRY_COPY(&call);

			if (before[i] == MPI_REQUEST_NULL)
				continue;
			if (!complete_near(at, &e, thread->seq + rows, before[i], &statuses[i]))
				break;
			e.call = rows == 0 ? at->call : NUMBER_part;
			row_store(&thread->block, thread->block.count + rows, &e, false);
			rows++;
		}
	if (LIKELY(i == count && rows > 0))
		rows_count(thread, rows);
	else
		complete_others(at, i, count, before, statuses, rows);
}

void
note_complete_all(struct at *at, int count, const MPI_Request *before, const MPI_Status *statuses)
{
	if (count == 1)
		complete_alone(at, before[0], statuses);
	else if (count == 0)
		complete_none(at);
	else
		complete_many(at, count, before, statuses);
}

void
note_complete_one(struct at *at, bool done, const MPI_Request *before, int index,
    const MPI_Status *status)
{
	if (done && index >= 0)		/* MPI_UNDEFINED is negative */
		complete_alone(at, before[index], status);
	else
		complete_none(at);
}

void
note_complete_some(struct at *at, const MPI_Request *before, int count, const int *indices,
    int base, const MPI_Status *statuses)
{
	/* COUNT may be MPI_UNDEFINED, which is negative */
	struct entry *e = own_entries(at->thread, MOST_ROWS * count);
	const struct entry call = entry_of(at);
	uint32_t rows = 0;

	if (e == NULL)
		return;
	for (int i = 0; i < count; i++)
		rows += complete(at, &call, &e[rows], at->thread->seq + rows,
		    before[indices[i] - base], &statuses[i]);
	commit_completions(at, e, rows);
}

void
note_cancel(struct at *at, MPI_Request handle)
{
	struct entry e = entry_of(at);
	struct request *request;

	lock_tables();
	if ((request = request_find(handle)) != NULL) {
		request->cancelled = true;
		refer(at, &e, at->thread->seq, request->location, request->start);
	}
	unlock_tables();
	commit(at, &e);
}

void
note_request_free(struct at *at, MPI_Request handle)
{
	struct entry e = entry_of(at);
	struct request *request;
	uint32_t location;
	uint64_t start;

	lock_tables();
	if (request_is_static(handle)) {
		if (static_take(at->thread->location, at->enter_ticks, &location, &start))
			refer(at, &e, at->thread->seq, location, start);
	} else if ((request = request_find(handle)) != NULL) {
		if (request->persistent && !request->active)
			refer(at, &e, at->thread->seq, request->init_location, request->init);
		else
			refer(at, &e, at->thread->seq, request->location, request->start);
		request_remove(request);
	}
	unlock_tables();
	commit(at, &e);
}
