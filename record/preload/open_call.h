/* SPDX-License-Identifier: BSD-3-Clause */
/* The open call of a thread (lp-trace(5), The open call): what a wrapper stores before it calls. */
#ifndef OPEN_CALL_H
#define OPEN_CALL_H

#include "../../base/mpi/call_class.h"
#include "notes.h"

/* The row that started a request that the call waits for. */
SELDOM uint64_t open_request_apart(MPI_Request handle);

ALWAYS uint64_t
open_request(MPI_Request handle)
{
	const struct near_request *it = near_request(handle);

	if (handle == MPI_REQUEST_NULL || request_is_static(handle))
		return OPEN_COMPLETE;
	if (LIKELY(it->handle == handle && !many_threads))
		return open_row(it->location, it->start);
	return open_request_apart(handle);
}

ALWAYS void
open_requests(struct open_call *open, int count, const MPI_Request *requests)
{
	uint32_t kept = 0;

	for (int i = 0; requests != NULL && i < count && kept < OPEN_REQUESTS; i++)
		if ((open->rows[kept] = open_request(requests[i])) != OPEN_COMPLETE)
			kept++;
	open->kept = kept;
	open->requests = count > 0 ? (uint32_t)count : 0;
}

/* What the wrapper finds among the parameters. */
struct opening {
	struct communicator *comm;
	int32_t peer, tag, source, receive_tag;
	MPI_Comm on;	/* COMM, unless it is a window or a file */
	MPI_Group group;
	bool sends;	/* dest was among them */
};
#define NO_OPENING \
	{ NULL, NO_PEER, NO_TAG, NO_PEER, NO_TAG, MPI_COMM_NULL, MPI_GROUP_NULL, false }

/* The targets of MPI_Win_start, as ranks in the window. */
SELDOM void open_targets(struct open_call *open, const struct communicator *win, MPI_Group group);
/* The members of MPI_Comm_create_group, as ranks in the communicator. */
SELDOM void open_members(struct open_call *open, MPI_Comm comm, MPI_Group group);

/* Two neighbouring fields by one store. */
ALWAYS void
store_two(void *at, uint32_t first, uint32_t second)
{
	const uint64_t both = first | (uint64_t)second << 32;

	memcpy(at, &both, 8);
}

/*
 * To be used just before the call. The function's number is stored last: while it is 0 the rest is
 * ignored.
 */
ALWAYS void
open_store(const struct at *at, enum call_class class, const struct opening *o)
{
	struct open_call *open = at->thread->block.open;
	struct communicator *comm = o->comm;
	uint32_t collective = 0;

	if (UNLIKELY(!named[at->call]))
		name_call(at->call);
	open->address = (uint64_t)(uintptr_t)at->from;
	open->enter_ns = at->enter_ns;
	if (class == CLASS_SENDRECV)
		store_two(&open->source, (uint32_t)o->source, (uint32_t)o->receive_tag);
	open->tag = o->tag;
	if (class == CLASS_ACCESS && comm != NULL)
		open_targets(open, comm, o->group);
	if (class == CLASS_COMM_CREATE_GROUP)
		open_members(open, o->on, o->group);
	if (is_entered_on(class) && comm != NULL) {
		const size_t at_comm = comm->number % OPEN_COUNTS;

		collective = ++comm->collectives;
		store_two(&open->last[at_comm], comm->number, collective);
	}
	store_two(&open->collective, collective, (uint32_t)o->peer);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	store_two(&open->call, at->call, comm != NULL ? comm->number : 0);
}

#define OPEN_WAITS(number) \
	(number == NUMBER_Wait || number == NUMBER_Waitall || number == NUMBER_Waitany || \
	number == NUMBER_Waitsome)
/* For calls that always return at once, the number is enough. */
#define OPEN_POLLS(number) \
	(number == NUMBER_Test || number == NUMBER_Testall || number == NUMBER_Testany || \
	number == NUMBER_Testsome || number == NUMBER_Iprobe || number == NUMBER_Improbe)

/* In a wrapper, behind the views of the input. */
#define OPEN_CALL(Name, class, params) do { \
		enum { waits = OPEN_WAITS(NUMBER_##Name), polls = OPEN_POLLS(NUMBER_##Name) }; \
		struct opening o = NO_OPENING; \
		if (!polls) { \
			EACH(OPEN, params) \
		} \
		open_store(&at, class, &o); \
	} while (0)

/*
 * The code of a parameter is behind a comma. Kinds and numbers that are not listed here have none:
 * OPEN_TYPE(type) stays as it is, and no second argument follows it.
 */
#define OPEN(kind, name) OPEN_CODE(OPEN_##kind(name), , )
#define OPEN_CODE(...) SECOND(__VA_ARGS__)
#define OPEN_COMM(n) ~, o.comm = communicator_of(o.on = n);
#define OPEN_OLDCOMM(n) ~, o.comm = n;
#define OPEN_WIN(n) ~, o.comm = n;
#define OPEN_OLDWIN(n) ~, o.comm = n;
#define OPEN_FILE(n) ~, o.comm = n;
#define OPEN_OLDFILE(n) ~, o.comm = n;
#define OPEN_REQ(n) ~, if (waits) open_requests(at.thread->block.open, 1, &n##_before);
#define OPEN_REQS(n) ~, if (waits) open_requests(at.thread->block.open, count, n##_before);
#define OPEN_INT(n) OPEN_INT_##n
#define OPEN_INT_dest ~, o.peer = peer_of(dest); o.sends = true;
#define OPEN_INT_root ~, o.peer = peer_of(root);
#define OPEN_INT_rank ~, o.peer = peer_of(rank);
/* If a call sends and receives, the send comes first. */
#define OPEN_INT_source ~, *(o.sends ? &o.source : &o.peer) = peer_of(source);
#define OPEN_INT_tag ~, o.tag = tag_of(tag);
#define OPEN_INT_sendtag ~, o.tag = tag_of(sendtag);
#define OPEN_INT_recvtag ~, o.receive_tag = tag_of(recvtag);
#define OPEN_INT_lock ~, o.tag = lock == MPI_LOCK_EXCLUSIVE ? 1 : 2;
#define OPEN_GROUP(n) ~, o.group = n;

#endif
