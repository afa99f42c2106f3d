/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by handle, from their start to their completion. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "communicators.h"
#include "rows.h"

enum request_kind {
	OF_SEND, OF_RECEIVE, OF_IDUP,
	OF_COLLECTIVE,		/* or one-sided, or of a file */
	OF_SENDRECV,		/* the next row after the start is the receive */
	OF_PARTITIONS,	/* a partitioned send: it starts with the row of the last partition */
};
struct request {
	MPI_Request handle;
	uint64_t ticks;		/* when the call that made it was entered */
	uint64_t start;		/* row of the start; of an idle persistent one, of its init call */
	uint32_t location, comm;	/* where it started */
	/* persistent: name of the row of its start; 0: the call's */
	uint16_t start_call;
	uint8_t kind;
	bool persistent, active, cancelled;
	/* The members below are of persistent requests, or of the kinds named. */
	uint64_t init;		/* row of a persistent request's init call */
	struct creation creation;	/* OF_IDUP */
	/* persistent: bytes of a start; OF_SENDRECV: received is the size of the buffer */
	uint64_t sent, received;
	MPI_Comm made;		/* OF_IDUP */
	uint32_t init_location;
	int32_t peer, tag;	/* persistent; OF_SENDRECV: of the receive */
	/* OF_PARTITIONS: number of partitions, and of those ready since the start */
	int partitions, ready;
};
void requests_start(void);
void requests_find_static(void);	/* after MPI_Init */
void request_add(const struct request *request);
struct request *request_find(MPI_Request handle);	/* NULL: unknown */
/*
 * Finds the request that a call entered at TICKS completes: the newest request with the handle at
 * that time that is not noted as complete. Forgets it unless it is persistent. DONE gets its kind,
 * start, location, comm and whether it is cancelled; everything if is_special(). Returns false if
 * it is unknown.
 */
bool request_complete(MPI_Request handle, uint64_t ticks, struct request *done);
void request_remove(struct request *request);	/* found before */

/* Requests whose completion leaves more than one row. */
ALWAYS bool
is_special(const struct request *request)
{
	return request->kind == OF_IDUP || request->kind == OF_SENDRECV;
}

/* ---- the handle of all requests that are complete at once: a ring, oldest first ---- */

struct pending {
	uint64_t start, ticks;		/* row of the start, and when its call was entered */
	uint32_t location;
};
/* A program that never completes its sends loses the oldest. */
enum { PENDING = 1 << 16 };
struct pending_ring {
	struct pending slots[PENDING];
	size_t first, count;
};
SHARED struct pending_ring pending;

SHARED MPI_Request static_request, static_null;	/* the latter of sends to MPI_PROC_NULL */
ALWAYS bool
request_is_static(MPI_Request handle)
{
	return (handle == static_request || handle == static_null) && handle != MPI_REQUEST_NULL;
}

ALWAYS void
static_drop_first(void)
{
	pending.first = (pending.first + 1) % PENDING;
	pending.count--;
}

/* TICKS: when the starting call was entered. */
ALWAYS void
static_add(uint32_t location, uint64_t start, uint64_t ticks)
{
	if (pending.count == 0)
		pending.first = 0;	/* few requests need little memory */
	if (UNLIKELY(pending.count == PENDING))
		static_drop_first();
	pending.slots[(pending.first + pending.count++) % PENDING] =
	    (struct pending){ start, ticks, location };
}

/* A request that a thread of location OWN completes in a call that ended at LEAVE_TICKS. */
bool static_take(uint32_t own, uint64_t leave_ticks, uint32_t *location, uint64_t *start);

/* ---- requests in the near table ---- */

/*
 * Most requests are started by the call that makes them, and complete before another one needs
 * their slot here. With several threads this table is not used. All others are in the table of
 * requests.c.
 */
struct near_request {
	MPI_Request handle;	/* MPI_REQUEST_NULL: free */
	uint64_t start;
	uint32_t location, comm;
	enum request_kind kind;	/* of a request that is neither is_special() nor cancelled */
};
enum { NEAR_REQUEST_BITS = 10 };
SHARED struct near_request near_requests[1 << NEAR_REQUEST_BITS];
SHARED size_t requests_apart;	/* number of requests in that table */
SELDOM void request_apart(struct near_request *it);		/* moves it there */
SELDOM void request_forget_apart(MPI_Request handle);

ALWAYS struct near_request *
near_request(MPI_Request handle)
{
	return &near_requests[((uintptr_t)handle * 0x9e3779b97f4a7c15u) >>
	    (64 - NEAR_REQUEST_BITS)];
}

/* Adds a simple request that is active when made. Not for use with several threads. */
ALWAYS void
request_start(MPI_Request handle, enum request_kind kind, uint64_t start, uint32_t location,
    uint32_t comm)
{
	struct near_request *it = near_request(handle);

	if (UNLIKELY(requests_apart > 0))
		request_forget_apart(handle);
	if (UNLIKELY(it->handle != MPI_REQUEST_NULL && it->handle != handle))
		request_apart(it);
	it->handle = handle;
	it->start = start;
	it->location = location;
	it->comm = comm;
	it->kind = kind;
}

#endif
