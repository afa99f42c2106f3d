/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls that complete, cancel or free requests. */
#include "communicators.h"
#include "notes.h"
#include "recorder.h"
#include "requests.h"
#include "rows.h"

/* Looks up, and for the last time but for a persistent one, what the call has completed. */
ALWAYS bool
take_request(const struct at *at, MPI_Request handle, struct request *done)
{
	bool taken;

	if (handle == MPI_REQUEST_NULL)
		return false;
	lock_tables();
	if (request_is_static(handle)) {
		done->kind = OF_SEND;
		taken = static_take(at->thread->location, at->leave_ticks, &done->location, &done->start);
	} else
		taken = request_complete(handle, at->enter_ticks, done);
	unlock_tables();
	return taken;
}

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

/*
 * The receive of an MPI_Isendrecv. MPICH 4.0 leaves the status as it was, or gives that of the send:
 * there what was asked for stands where it is no wildcard, and the room in place of the size.
 */
static void
fill_both(struct entry *e, const struct request *done, const MPI_Status *status)
{
	fill_completed(e, done, status);
#ifdef MPICH_VERSION
	e->peer = done->peer != ANY_PEER ? done->peer : e->peer;
	e->tag = done->tag != -1 ? done->tag : e->tag;
	e->bytes_received = done->peer != NULL_PEER ? done->received : 0;
#endif
}

/* The completion of one request: rows E of the call, the first of which will be SEQ. */
static uint32_t
rows_of(struct at *at, const struct entry *call, struct entry *e, uint64_t seq, const struct request *done,
    const MPI_Status *status)
{
	e[0] = *call;
	refer(at, &e[0], seq, done->location, done->start);
	if (done->kind == OF_IDUP)
		register_communicator(done->made, done->creation);
	if (done->kind == OF_RECEIVE)
		fill_completed(&e[0], done, status);
	if (done->kind != OF_SENDRECV)
		return 1;
	e[1] = *call;
	if (done->start != NO_ROW)
		refer(at, &e[1], seq + 1, done->location, done->start + 1);
	fill_both(&e[1], done, status);
	return 2;
}

static uint32_t
complete(struct at *at, const struct entry *call, struct entry *e, uint64_t seq, MPI_Request handle,
    const MPI_Status *status)
{
	struct request done;

	return take_request(at, handle, &done) ? rows_of(at, call, e, seq, &done, status) : 0;
}

enum { MOST_ROWS = 2 };		/* of one completion */

/* The rows gathered so far become those of one call; it has one row even if nothing was completed. */
static void
commit_completions(struct at *at, struct entry *e, uint32_t count)
{
	if (count == 0) {
		e[0] = entry_of(at);
		commit_foldable(at, e, POLL);
		return;
	}
	for (uint32_t i = 1; i < count; i++)
		e[i].call = NUMBER_part;
	rows_commit(at->thread, e, count);
}

/* One that leaves two rows, or a communicator. */
static SELDOM void
complete_special(struct at *at, const struct request *done, const MPI_Status *status)
{
	struct entry e[MOST_ROWS], call = entry_of(at);

	commit_completions(at, e, rows_of(at, &call, e, at->thread->seq, done, status));
}

/* A row that refers to nothing. */
static __attribute__((noinline)) void
complete_none(struct at *at)
{
	struct entry e = entry_of(at);

	commit_foldable(at, &e, POLL);
}

ALWAYS void
complete_ordinary(struct at *at, const struct request *done, const MPI_Status *status)
{
	struct entry e = entry_of(at);

	refer(at, &e, at->thread->seq, done->location, done->start);
	if (done->kind == OF_RECEIVE)
		fill_completed(&e, done, status);
	commit(at, &e);
}

/* As most completions are: by itself, and one row. */
static __attribute__((noinline)) void
complete_alone(struct at *at, MPI_Request handle, const MPI_Status *status)
{
	struct request done;

	if (!take_request(at, handle, &done))
		complete_none(at);
	else if (UNLIKELY(is_special(&done)))
		complete_special(at, &done, status);
	else
		complete_ordinary(at, &done, status);
}

void
note_complete_all(struct at *at, int count, const MPI_Request *before, const MPI_Status *statuses)
{
	struct entry *e, call;
	uint32_t rows = 0;

	if (count <= 1) {
		if (count == 1)
			complete_alone(at, before[0], &statuses[0]);
		else
			complete_none(at);
		return;
	}
	if ((e = own_entries(at->thread, MOST_ROWS * count)) == NULL)
		return;
	call = entry_of(at);
	for (int i = 0; i < count; i++)
		rows += complete(at, &call, &e[rows], at->thread->seq + rows, before[i], &statuses[i]);
	commit_completions(at, e, rows);
}

void
note_complete_one(struct at *at, bool done, const MPI_Request *before, int index,
    const MPI_Status *status)
{
	if (done && index != MPI_UNDEFINED && index >= 0)
		complete_alone(at, before[index], status);
	else
		complete_none(at);
}

void
note_complete_some(struct at *at, const MPI_Request *before, int count, const int *indices, int base,
    const MPI_Status *statuses)
{
	struct entry *e = own_entries(at->thread, MOST_ROWS * (count == MPI_UNDEFINED ? 0 : count));
	const struct entry call = entry_of(at);
	uint32_t rows = 0;

	if (e == NULL)
		return;
	for (int i = 0; i < count && count != MPI_UNDEFINED; i++)
		rows += complete(at, &call, &e[rows], at->thread->seq + rows, before[indices[i] - base],
		    &statuses[i]);
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
