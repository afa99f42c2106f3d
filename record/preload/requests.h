/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by their handles: what is known from their start until they complete. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

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
	uint16_t start_call;	/* persistent: the name of the row of its start; 0: that of the call */
	uint8_t kind;
	bool persistent, active, cancelled;
	/* What follows only a persistent one has, and where it is said: request_start() leaves it as it is. */
	uint64_t init;		/* row of the init call of a persistent one */
	uint64_t creation;	/* OF_IDUP: id of the creation */
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
/* The same for one that was started as it was made, and of which no more need be known. */
void request_start(MPI_Request handle, enum request_kind kind, uint64_t start, uint32_t location,
    uint32_t comm, uint64_t ticks);
struct request *request_find(MPI_Request handle);	/* NULL: unknown */
/*
 * Of those that have had the handle and are not noted as complete the one that a call which was entered at TICKS
 * completes: the newest that was there then. It is forgotten, but for a persistent one. DONE gets what is known of
 * it: kind, start, location, comm and whether it is cancelled; all, where is_special(). False: it is unknown.
 */
bool request_complete(MPI_Request handle, uint64_t ticks, struct request *done);
void request_remove(struct request *request);	/* as found */

/* Those whose completion leaves more than a row. */
ALWAYS bool
is_special(const struct request *request)
{
	return request->kind == OF_IDUP || request->kind == OF_SENDRECV;
}

extern MPI_Request static_request;	/* the one handle of all that are complete at once */
ALWAYS bool
request_is_static(MPI_Request handle)
{
	return handle == static_request && handle != MPI_REQUEST_NULL;
}

void static_add(uint32_t location, uint64_t start, uint64_t ticks);	/* when the start was entered */
/* One that a thread of location OWN completes in a call that ended at LEAVE_TICKS. */
bool static_take(uint32_t own, uint64_t leave_ticks, uint32_t *location, uint64_t *start);

#endif
