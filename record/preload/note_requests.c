/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls that make and start requests; what an open call waits for. */
#include "open_call.h"

/* The number that the call's row will have. */
static uint64_t
next_row(const struct at *at)
{
	return paused ? NO_ROW : at->thread->seq;
}

/* Adds a request that the call's row starts or, if it is persistent, makes. */
static SELDOM void
add_request(struct at *at, struct request request)
{
	request.ticks = at->enter_ticks;
	request.start = next_row(at);
	request.location = at->thread->location;
	request.active = !request.persistent;
	lock_tables();
	if (request_is_static(request.handle) && !request.persistent)
		static_add(request.location, request.start, request.ticks);
	else if (request.handle != MPI_REQUEST_NULL)
		request_add(&request);
	unlock_tables();
}

ALWAYS void
start_request(struct at *at, MPI_Request request, enum request_kind kind, uint32_t comm)
{
	if (UNLIKELY(many_threads))
		add_request(at, (struct request){ .handle = request, .kind = (uint8_t)kind,
		    .comm = comm });
	else if (request_is_static(request))
		static_add(at->thread->location, next_row(at), at->enter_ticks);
	else if (request != MPI_REQUEST_NULL)
		request_start(request, kind, next_row(at), at->thread->location, comm);
}

void
note_mreceive_start(struct at *at, const struct probed *message, uint64_t bytes,
    MPI_Request request)
{
	struct entry e = entry_of(at);

	fill_probed(at, &e, message);
	e.bytes_received = bytes;
	start_request(at, request, OF_RECEIVE, e.comm);
	commit(at, &e);
}

void
note_send_start(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes,
    MPI_Request request)
{
	struct entry e = message_entry(at, communicator_of(comm), dest, tag);

	e.bytes_sent = bytes;
	start_request(at, request, OF_SEND, e.comm);
	commit(at, &e);
}

void
note_receive_start(struct at *at, MPI_Comm comm, int source, int tag, uint64_t room,
    MPI_Request request)
{
	struct entry e = message_entry(at, communicator_of(comm), source, tag);

	e.bytes_received = room;
	start_request(at, request, OF_RECEIVE, e.comm);
	commit(at, &e);
}

/* A persistent request, whose starts are like the row START. */
static void
add_persistent(struct at *at, struct request request, const struct entry *start)
{
	request.init = next_row(at);
	request.init_location = at->thread->location;
	request.comm = start->comm;
	request.peer = start->peer;
	request.tag = start->tag;
	request.sent = start->bytes_sent;
	request.received = start->bytes_received;
	request.persistent = true;
	add_request(at, request);
}

void
note_init(struct at *at, const struct communicator *comm, struct envelope envelope,
    int partitions, enum request_kind kind, MPI_Request request)
{
	struct entry e = message_entry(at, comm, envelope.peer, envelope.tag);

	*(kind == OF_RECEIVE ? &e.bytes_received : &e.bytes_sent) = envelope.bytes;
	add_persistent(at, (struct request){ .handle = request, .kind = (uint8_t)kind,
	    .partitions = partitions,
	    .start_call = kind == OF_PARTITIONS ? NUMBER_start_psend : 0 }, &e);
	commit(at, &e);
}

void
note_collective_init(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received, MPI_Request request, uint16_t start_call)
{
	struct entry e = entry_of(at), start;

	e.comm = comm->number;
	start = e;
	start.peer = peer_of(root);
	start.bytes_sent = sent;
	start.bytes_received = received;
	add_persistent(at, (struct request){ .handle = request, .kind = OF_COLLECTIVE,
	    .start_call = start_call }, &start);
	commit(at, &e);
}

void
note_collective_start(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received, MPI_Request request)
{
	start_request(at, request, OF_COLLECTIVE, 0);
	note_collective(at, comm, root, sent, received);
}

void
note_sendrecv_start(struct at *at, MPI_Comm comm, struct envelope send, struct envelope receive,
    MPI_Request request)
{
	struct entry e = message_entry(at, communicator_of(comm), send.peer, send.tag);

	e.bytes_sent = send.bytes;
	add_request(at, (struct request){ .handle = request, .comm = e.comm, .kind = OF_SENDRECV,
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
			e.bytes_sent = request->sent;
			request->start = next_row(at);
			request->location = at->thread->location;
		}
	}
	unlock_tables();
	commit(at, &e);
}

void
note_idup(struct at *at, MPI_Comm comm, MPI_Comm made, MPI_Request request)
{
	add_request(at, (struct request){ .handle = request, .kind = OF_IDUP, .made = made,
	    .creation = next_creation(comm) });
	note_local(at, comm);
}

/* Makes row SEQ, the start of a request. */
static void
start_one(const struct at *at, struct request *request, struct entry *e, uint64_t seq)
{
	e->comm = request->comm;
	e->peer = request->peer;
	e->tag = request->tag;
	if (request->kind != OF_PARTITIONS) {
		e->bytes_sent = request->sent;
		e->bytes_received = request->received;
		refer(at, e, seq, request->init_location, request->init);
	}
	request->start = paused ? NO_ROW : seq;
	request->location = at->thread->location;
	request->active = true;
	request->cancelled = false;
	request->ready = 0;
}

/* Messages come first, as one call. Then each collective gets a row, at the end of the call. */
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
	for (int collectives = 0; collectives < 2; collectives++)
		for (int i = 0; i < count; i++) {
			struct request *request = request_find(requests[i]);

			if ((request != NULL && request->start_call != 0) != collectives)
				continue;
			e[rows] = call;
			if (collectives)
				e[rows].call = request->start_call;
			else if (rows > 0)
				e[rows].call = NUMBER_part;
			if (collectives && rows > 0)
				e[rows].enter_ns = call.leave_ns;
			if (request != NULL)
				start_one(at, request, &e[rows], seq + rows);
			rows++;
			calls += (uint32_t)collectives;
		}
	unlock_tables();
	if (rows == 0)
		rows = 1;
	rows_commit(at->thread, e, rows - calls);
	for (uint32_t i = rows - calls; i < rows; i++)
		commit(at, &e[i]);
}

/* ---- the open call: requests that are not in the near table, and groups ---- */

uint64_t
open_request_apart(MPI_Request handle)
{
	const struct request *it;
	uint64_t row = OPEN_UNKNOWN;

	lock_tables();
	if ((it = request_find(handle)) != NULL && !it->active)
		row = OPEN_COMPLETE;
	else if (it != NULL && it->start != NO_ROW)
		row = open_row(it->location, it->start);
	unlock_tables();
	return row;
}

static void
open_group(struct open_call *open, MPI_Group in, MPI_Group group)
{
	int from[OPEN_REQUESTS], to[OPEN_REQUESTS], count;

	PMPI_Group_size(group, &count);
	open->requests = (uint32_t)count;
	open->kept = (uint32_t)(count < OPEN_REQUESTS ? count : OPEN_REQUESTS);
	for (int i = 0; i < OPEN_REQUESTS; i++)
		from[i] = i;
	PMPI_Group_translate_ranks(group, (int)open->kept, from, in, to);
	for (uint32_t i = 0; i < open->kept; i++)
		open->rows[i] = (uint64_t)peer_of(to[i]);
}

void
open_targets(struct open_call *open, const struct communicator *win, MPI_Group group)
{
	open_group(open, win->group, group);
}

void
open_members(struct open_call *open, MPI_Comm comm, MPI_Group group)
{
	MPI_Group in;

	open->kept = 0;
	if (comm == MPI_COMM_NULL || group == MPI_GROUP_NULL)
		return;
	PMPI_Comm_group(comm, &in);
	open_group(open, in, group);
	PMPI_Group_free(&in);
}
