/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by their handles: what is known from their start until they complete. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "communicators.h"
#include "rows.h"

enum request_kind {
	OF_SEND, OF_RECEIVE, OF_COLLECTIVE, OF_IDUP, OF_OTHER,
	OF_SENDRECV,		/* the row behind that of its start is the receive's */
	OF_PARTITIONS,		/* a partitioned send: its start is the row of the last partition */
};
struct request {
	MPI_Request handle;
	uint64_t ticks;		/* when the call that made it was entered */
	uint64_t start;		/* row of the start; of a persistent one that is idle its init */
	uint32_t location, comm;	/* where its start is */
	/* persistent: the name of the row of its start; 0: that of the call */
	uint16_t start_call;
	uint8_t kind;
	bool persistent, active, cancelled;
	/* What follows only a persistent one has, and where it is said. */
	uint64_t init;		/* row of the init call of a persistent one */
	struct creation creation;	/* OF_IDUP */
	uint64_t bytes;		/* persistent: size of the message or room for it, bytes sent */
	uint64_t received;	/* and received, of a persistent collective; OF_SENDRECV: room */
	MPI_Comm made;		/* OF_IDUP */
	uint32_t init_location;
	int32_t peer, tag;	/* persistent; OF_SENDRECV: of the receive */
	int partitions, ready;	/* OF_PARTITIONS: in all, and of them ready since its start */
};
void requests_start(void);
void requests_find_static(void);	/* when MPI_Init has been called */
void request_add(const struct request *request);
struct request *request_find(MPI_Request handle);	/* NULL: unknown */
/*
 * Of those that have had the handle and are not noted as complete the one that a call which was
 * entered at TICKS completes: the newest that was there then. It is forgotten, but for a persistent
 * one. DONE gets what is known of it: kind, start, location, comm and whether it is cancelled; all,
 * where is_special(). False: it is unknown.
 */
bool request_complete(MPI_Request handle, uint64_t ticks, struct request *done);
void request_remove(struct request *request);	/* as found */

/* Those whose completion leaves more than a row. */
ALWAYS bool
is_special(const struct request *request)
{
	return request->kind == OF_IDUP || request->kind == OF_SENDRECV;
}

/* ---- the one handle of all that are complete at once: a ring of them, oldest first ---- */

struct pending {
	uint64_t start, ticks;		/* row, and when that call was entered */
	uint32_t location;
};
struct pending_ring {
	struct pending *slots;
	size_t first, count, size;	/* size: a power of two, or 0 */
};
SHARED struct pending_ring pending;

SHARED MPI_Request static_request;
ALWAYS bool
request_is_static(MPI_Request handle)
{
	return handle == static_request && handle != MPI_REQUEST_NULL;
}

SELDOM void static_room(void);		/* for one more */

/* When the start was entered. */
ALWAYS void
static_add(uint32_t location, uint64_t start, uint64_t ticks)
{
	if (UNLIKELY(pending.count == pending.size)) {
		static_room();
		if (pending.count == pending.size)
			return;
	}
	pending.slots[(pending.first + pending.count++) & (pending.size - 1)] =
	    (struct pending){ start, ticks, location };
}

/* The oldest, where it is a thread's of location OWN: that which it completes. Else NULL. */
ALWAYS const struct pending *
static_first(uint32_t own)
{
	const struct pending *it = &pending.slots[pending.first];

	return LIKELY(pending.count > 0 && it->location == own) ? it : NULL;
}

ALWAYS void
static_drop_first(void)
{
	pending.first = (pending.first + 1) & (pending.size - 1);
	pending.count--;
}

/* One that a thread of location OWN completes in a call that ended at LEAVE_TICKS. */
bool static_take(uint32_t own, uint64_t leave_ticks, uint32_t *location, uint64_t *start);

/* ---- those that are found at once ---- */

/*
 * Most requests are started by the call that makes them, and complete before another one needs
 * their place here; where threads may come in between, none is here. All others are in the table of
 * requests.c.
 */
struct near_request {
	MPI_Request handle;	/* MPI_REQUEST_NULL: none */
	uint64_t start;
	uint32_t location, comm;
	enum request_kind kind;	/* one that is not is_special(), and not cancelled */
};
enum { NEAR_REQUEST_BITS = 10 };
SHARED struct near_request near_requests[1 << NEAR_REQUEST_BITS];
SHARED size_t requests_apart;	/* how many the table has */
SELDOM void request_apart(struct near_request *it);		/* moves it there */
SELDOM void request_forget_apart(MPI_Request handle);

ALWAYS struct near_request *
near_request(MPI_Request handle)
{
	return &near_requests[((uintptr_t)handle * 0x9e3779b97f4a7c15u) >>
	    (64 - NEAR_REQUEST_BITS)];
}

/* One that is active as it is made, and of which no more need be known. Not where there are many
 * threads. */
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
