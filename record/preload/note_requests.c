/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls that start, complete, cancel or free requests. */
#include <stdlib.h>

#include "communicators.h"
#include "notes.h"
#include "recorder.h"
#include "requests.h"
#include "rows.h"

/* Where the call's row will be. */
static uint64_t
next_row(const struct at *at)
{
	return paused ? NO_ROW : at->thread->seq;
}

void
refer(const struct at *at, struct entry *e, uint64_t seq, uint32_t location, uint64_t start)
{
	if (start == NO_ROW)
		return;
	if (location == at->thread->location)
		e->request = seq - start <= UINT32_MAX ? (uint32_t)(seq - start) : 0;
	else if (location < UINT16_MAX && start <= UINT32_MAX) {
		e->request = (uint32_t)start;
		e->request_at = (uint16_t)(location + 1);
	}
}

static void
add_request(struct at *at, struct request request)
{
	request.ticks = at->enter_ticks;
	lock_tables();
	if (request_is_static(request.handle) && !request.persistent)
		static_add(at->thread->location, request.start, at->enter_ticks);
	else if (request.handle != MPI_REQUEST_NULL)
		request_add(&request);
	unlock_tables();
}

void
note_mreceive_start(struct at *at, MPI_Message message, uint64_t bytes, MPI_Request request)
{
	struct entry e = entry_of(at);

	e.peer = NULL_PEER;
	if (message != MPI_MESSAGE_NO_PROC)
		recall_message(message, &e);
	e.bytes_received = bytes;
	add_request(at, (struct request){ .handle = request, .start = next_row(at), .comm = e.comm,
	    .location = at->thread->location, .kind = OF_RECEIVE, .active = true });
	commit(at, &e);
}

void
note_request(struct at *at, MPI_Comm comm, int peer, int tag, uint64_t bytes, enum request_kind kind,
    bool persistent, MPI_Request request)
{
	struct entry e = entry_of(at);

	e.comm = communicator_of(comm)->number;
	e.peer = peer_of(peer);
	e.tag = tag_of(tag);
	*(kind == OF_SEND ? &e.bytes_sent : &e.bytes_received) = bytes;
	add_request(at, (struct request){ .handle = request, .start = next_row(at),
	    .init = next_row(at), .bytes = bytes, .location = at->thread->location,
	    .init_location = at->thread->location, .comm = e.comm, .peer = e.peer, .tag = e.tag,
	    .kind = (uint8_t)kind, .persistent = persistent, .active = !persistent });
	commit(at, &e);
}

void
note_collective_start(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received, MPI_Request request)
{
	add_request(at, (struct request){ .handle = request, .start = next_row(at),
	    .location = at->thread->location, .kind = OF_COLLECTIVE, .active = true });
	note_collective(at, comm, root, sent, received);
}

void
note_sendrecv_start(struct at *at, MPI_Comm comm, struct envelope send, struct envelope receive,
    MPI_Request request)
{
	struct entry e = entry_of(at);

	e.comm = communicator_of(comm)->number;
	e.peer = peer_of(send.peer);
	e.tag = tag_of(send.tag);
	e.bytes_sent = send.bytes;
	add_request(at, (struct request){ .handle = request, .start = next_row(at), .comm = e.comm,
	    .location = at->thread->location, .kind = OF_SENDRECV, .active = true,
	    .peer = peer_of(receive.peer), .tag = tag_of(receive.tag), .received = receive.bytes });
	commit(at, &e);
	e.call = NUMBER_isendrecv_receive;
	e.enter_ns = e.leave_ns;
	e.peer = peer_of(receive.peer);
	e.tag = tag_of(receive.tag);
	e.bytes_sent = 0;
	e.bytes_received = receive.bytes;
	commit(at, &e);
}

void
note_partitioned(struct at *at, MPI_Comm comm, struct envelope envelope, int partitions,
    enum request_kind kind, MPI_Request request)
{
	struct entry e = entry_of(at);

	e.comm = partitions_of(comm)->number;
	e.peer = peer_of(envelope.peer);
	e.tag = tag_of(envelope.tag);
	*(kind == OF_RECEIVE ? &e.bytes_received : &e.bytes_sent) = envelope.bytes;
	add_request(at, (struct request){ .handle = request, .start = next_row(at),
	    .init = next_row(at), .bytes = envelope.bytes, .location = at->thread->location,
	    .init_location = at->thread->location, .comm = e.comm, .peer = e.peer, .tag = e.tag,
	    .partitions = partitions, .start_call = kind == OF_PARTITIONS ? NUMBER_start_psend : 0,
	    .kind = (uint8_t)kind, .persistent = true });
	commit(at, &e);
}

void
note_ready(struct at *at, MPI_Request handle, int partitions, uint16_t last)
{
	struct entry e = entry_of(at);
	struct request *request;

	lock_tables();
	if ((request = request_find(handle)) != NULL && request->kind == OF_PARTITIONS) {
		bool before = request->ready >= request->partitions;

		e.comm = request->comm;
		e.peer = request->peer;
		e.tag = request->tag;
		request->ready += partitions;
		if (!before && request->ready >= request->partitions) {
			e.call = last;
			e.bytes_sent = request->bytes;
			request->start = next_row(at);
			request->location = at->thread->location;
		}
	}
	unlock_tables();
	commit(at, &e);
}

void
note_collective_init(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received, MPI_Request request, uint16_t start)
{
	struct entry e = entry_of(at);

	e.comm = comm->number;
	add_request(at, (struct request){ .handle = request, .start = next_row(at),
	    .init = next_row(at), .bytes = sent, .received = received, .comm = comm->number,
	    .location = at->thread->location, .init_location = at->thread->location,
	    .peer = root == NO_PEER ? NO_PEER : peer_of(root), .tag = NO_TAG, .start_call = start,
	    .kind = OF_COLLECTIVE, .persistent = true });
	commit(at, &e);
}

void
note_one_sided_start(struct at *at, const struct communicator *win, int rank, uint64_t sent,
    uint64_t received, MPI_Request request)
{
	add_request(at, (struct request){ .handle = request, .start = next_row(at),
	    .location = at->thread->location, .kind = OF_OTHER, .active = true });
	note_one_sided(at, win, rank, sent, received);
}

void
note_idup(struct at *at, MPI_Comm comm, MPI_Comm made, MPI_Request request)
{
	add_request(at, (struct request){ .handle = request, .start = next_row(at),
	    .location = at->thread->location, .kind = OF_IDUP, .active = true, .made = made,
	    .creation = next_id(comm) });
	note_local(at, comm);
}

/* The row SEQ of the start of a request. */
static void
start_one(const struct at *at, struct request *request, struct entry *e, uint64_t seq)
{
	e->comm = request->comm;
	e->peer = request->peer;
	e->tag = request->tag;
	if (request->kind == OF_COLLECTIVE) {
		e->bytes_sent = request->bytes;
		e->bytes_received = request->received;
	} else if (request->kind != OF_PARTITIONS) {
		refer(at, e, seq, request->init_location, request->init);
		*(request->kind == OF_SEND ? &e->bytes_sent : &e->bytes_received) = request->bytes;
	}
	request->start = paused ? NO_ROW : seq;
	request->location = at->thread->location;
	request->active = true;
	request->cancelled = false;
	request->ready = 0;
}

/* Messages first, as one call; each collective is a row of its own, at the end of the call. */
void
note_start(struct at *at, int count, const MPI_Request *requests)
{
	struct entry *e = own_entries(at->thread, count), call = entry_of(at);
	const uint64_t seq = at->thread->seq;
	uint32_t rows = 0, calls = 0;

	if (e == NULL)
		return;
	e[0] = call;
	lock_tables();
	for (int i = 0; i < count; i++) {
		struct request *request = request_find(requests[i]);

		if (request != NULL && request->start_call != 0)
			continue;
		e[rows] = call;
		e[rows].call = rows == 0 ? call.call : NUMBER_part;
		if (request != NULL)
			start_one(at, request, &e[rows], seq + rows);
		rows++;
	}
	for (int i = 0; i < count; i++) {
		struct request *request = request_find(requests[i]);

		if (request == NULL || request->start_call == 0)
			continue;
		e[rows] = call;
		e[rows].call = request->start_call;
		if (rows > 0)
			e[rows].enter_ns = call.leave_ns;
		start_one(at, request, &e[rows], seq + rows);
		rows++;
		calls++;
	}
	unlock_tables();
	if (rows == 0)
		rows = 1;
	rows_commit(at->thread, e, rows - calls);
	for (uint32_t i = rows - calls; i < rows; i++)
		commit(at, &e[i]);
}

/* Looks up, and for the last time but for a persistent one, what the call has completed. */
static bool
take_request(const struct at *at, MPI_Request handle, struct request *done)
{
	struct request *request;
	bool taken = false;

	if (handle == MPI_REQUEST_NULL)
		return false;
	lock_tables();
	if (request_is_static(handle)) {
		*done = (struct request){ .kind = OF_SEND };
		taken = static_take(at->thread->location, at->leave_ticks, &done->location, &done->start);
	} else if ((request = request_of(handle, at->enter_ticks)) != NULL && request->active) {
		taken = true;
		*done = *request;
		request->active = false;
		if (!request->persistent)
			request_remove(request);
	}
	unlock_tables();
	return taken;
}

static void
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
complete(struct at *at, const struct entry *call, struct entry *e, uint64_t seq, MPI_Request handle,
    const MPI_Status *status)
{
	struct request done;

	e[0] = *call;
	if (!take_request(at, handle, &done))
		return 0;
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
	fill_both(&e[1], &done, status);
	return 2;
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

void
note_complete_all(struct at *at, int count, const MPI_Request *before, const MPI_Status *statuses)
{
	struct entry *e = own_entries(at->thread, MOST_ROWS * count), call = entry_of(at);
	uint32_t rows = 0;

	if (e == NULL)
		return;
	for (int i = 0; i < count; i++)
		rows += complete(at, &call, &e[rows], at->thread->seq + rows, before[i], &statuses[i]);
	commit_completions(at, e, rows);
}

void
note_complete_one(struct at *at, bool done, const MPI_Request *before, int index,
    const MPI_Status *status)
{
	struct entry e[MOST_ROWS], call = entry_of(at);
	uint32_t rows = 0;

	if (done && index != MPI_UNDEFINED && index >= 0)
		rows = complete(at, &call, e, at->thread->seq, before[index], status);
	commit_completions(at, e, rows);
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
