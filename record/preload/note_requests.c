/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls that start, complete, cancel or free requests. */
#include <stdlib.h>

#include "recorder.h"

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
	lock_tables();
	if (request_is_static(request.handle) && !request.persistent)
		static_add(at->thread->location, request.start);
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
note_one_sided_start(struct at *at, const struct communicator *window, int rank, uint64_t sent,
    uint64_t received, MPI_Request request)
{
	add_request(at, (struct request){ .handle = request, .start = next_row(at),
	    .location = at->thread->location, .kind = OF_OTHER, .active = true });
	note_one_sided(at, window, rank, sent, received);
}

void
note_idup(struct at *at, MPI_Comm comm, MPI_Comm made, MPI_Request request)
{
	add_request(at, (struct request){ .handle = request, .start = next_row(at),
	    .location = at->thread->location, .kind = OF_IDUP, .active = true, .made = made,
	    .creation = next_id(comm) });
	note_local(at, comm);
}

void
note_start(struct at *at, int count, const MPI_Request *requests)
{
	struct entry *e = own_entries(at->thread, count < 1 ? 1 : count), call = entry_of(at);
	uint64_t seq = at->thread->seq;

	if (e == NULL)
		return;
	e[0] = call;
	lock_tables();
	for (int i = 0; i < count; i++) {
		struct request *request = request_find(requests[i]);

		e[i] = call;
		e[i].call = i == 0 ? call.call : NUMBER_part;
		if (request == NULL)
			continue;
		refer(at, &e[i], seq + (uint64_t)i, request->init_location, request->init);
		e[i].comm = request->comm;
		e[i].peer = request->peer;
		e[i].tag = request->tag;
		*(request->kind == OF_SEND ? &e[i].bytes_sent : &e[i].bytes_received) = request->bytes;
		request->start = paused ? NO_ROW : seq + (uint64_t)i;
		request->location = at->thread->location;
		request->active = true;
		request->cancelled = false;
	}
	unlock_tables();
	rows_commit(at->thread, e, count < 1 ? 1 : (uint32_t)count);
}

/* The completion of one request into a row; false where it completes nothing. */
static bool
complete(struct at *at, struct entry *e, uint64_t seq, MPI_Request handle, const MPI_Status *status)
{
	struct request *request, done;
	uint32_t location;
	uint64_t start;
	int cancelled = 0;

	if (handle == MPI_REQUEST_NULL)
		return false;
	lock_tables();
	if (request_is_static(handle)) {
		bool taken = static_take(&location, &start);

		unlock_tables();
		if (taken)
			refer(at, e, seq, location, start);
		return taken;
	}
	request = request_find(handle);
	if (request == NULL || !request->active) {
		unlock_tables();
		return false;
	}
	done = *request;
	request->active = false;
	if (!request->persistent)
		request_remove(request);
	unlock_tables();
	refer(at, e, seq, done.location, done.start);
	if (done.kind == OF_IDUP)
		register_communicator(done.made, done.creation);
	if (done.kind != OF_RECEIVE)
		return true;
	if (done.cancelled)
		PMPI_Test_cancelled(status, &cancelled);
	if (!cancelled) {
		e->comm = done.comm;
		fill_received(e, status);
	}
	return true;
}

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
	struct entry *e = own_entries(at->thread, count < 1 ? 1 : count), call = entry_of(at);
	uint32_t rows = 0;

	if (e == NULL)
		return;
	for (int i = 0; i < count; i++) {
		e[rows] = call;
		if (complete(at, &e[rows], at->thread->seq + rows, before[i], &statuses[i]))
			rows++;
	}
	commit_completions(at, e, rows);
}

void
note_complete_one(struct at *at, bool done, const MPI_Request *before, int index,
    const MPI_Status *status)
{
	struct entry e = entry_of(at);

	if (done && index != MPI_UNDEFINED && index >= 0 &&
	    complete(at, &e, at->thread->seq, before[index], status))
		commit(at, &e);
	else
		commit_foldable(at, &e, POLL);
}

void
note_complete_some(struct at *at, const MPI_Request *before, int count, const int *indices, int base,
    const MPI_Status *statuses)
{
	struct entry *e = own_entries(at->thread, count < 1 ? 1 : count), call = entry_of(at);
	uint32_t rows = 0;

	if (e == NULL)
		return;
	for (int i = 0; i < count && count != MPI_UNDEFINED; i++) {
		e[rows] = call;
		if (complete(at, &e[rows], at->thread->seq + rows, before[indices[i] - base],
		    &statuses[i]))
			rows++;
	}
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
		if (static_take(&location, &start))
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
