/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of calls in memory, and what the tools know about each MPI function. The table itself is
 * call_table.h; the layout of a block in a stream is in trace.5, section CALLS.
 */
#ifndef CALLS_H
#define CALLS_H

#include "stream.h"

/* What a call does to other ranks: all that matching and wait analysis need to know. */
enum call_class {
	CLASS_PART,		/* no call: a further operation of the call in the rows before */
	CLASS_LOCAL,		/* nobody else is involved */
	CLASS_INIT,		/* MPI_Init, MPI_Init_thread: all ranks */
	CLASS_FINALIZE,		/* all ranks */
	CLASS_SEND,		/* blocking, all four modes */
	CLASS_RECV,		/* blocking; also MPI_Mrecv */
	CLASS_SENDRECV,		/* the call's row is the send, its part the receive */
	CLASS_SEND_START,	/* MPI_Isend and its modes */
	CLASS_RECV_START,	/* MPI_Irecv, MPI_Imrecv */
	CLASS_SEND_INIT,	/* persistent: made here, started by CLASS_START */
	CLASS_RECV_INIT,
	CLASS_START,		/* MPI_Start, MPI_Startall: each row starts the request it names */
	CLASS_COMPLETE,		/* Wait and Test families: each row completes the request it names */
	CLASS_CANCEL,		/* the request that it names will end without a message */
	CLASS_REQUEST_FREE,	/* the request that it names is not seen again */
	CLASS_PROBE,		/* looks, takes nothing */
	CLASS_IO,		/* files; bytes_sent are written, bytes_received read */
	CLASS_RMA,		/* one-sided, of the origin alone: data, locks, flushes */
	CLASS_POST,		/* general active target: MPI_Win_post, a row for each origin */
	CLASS_ACCESS,		/* MPI_Win_start, a row for each target */
	CLASS_ACCESS_END,	/* MPI_Win_complete: each row ends what it refers to */
	CLASS_EXPOSE_END,	/* MPI_Win_wait, MPI_Win_test: likewise */
	CLASS_BARRIER,		/* everybody waits for everybody; no data */
	CLASS_ALL_TO_ALL,	/* everybody waits for everybody's data */
	CLASS_ONE_TO_ALL,	/* everybody waits for the root; peer is the root */
	CLASS_ALL_TO_ONE,	/* the root waits for everybody; peer is the root */
	CLASS_SCAN,		/* everybody waits for the ranks up to it */
	CLASS_NEIGHBOUR,	/* everybody waits for its sources in the topology */
	CLASS_COMM_CREATE,	/* collective over the communicator that it is called on */
	CLASS_COMM_CREATE_GROUP,/* collective over a part of it only: not matched */
	CLASS_BARRIER_START,	/* the non-blocking forms, complete in a row of CLASS_COMPLETE */
	CLASS_ALL_TO_ALL_START,
	CLASS_ONE_TO_ALL_START,
	CLASS_ALL_TO_ONE_START,
	CLASS_SCAN_START,
	CLASS_NEIGHBOUR_START,
	CLASS_COMM_CREATE_START,
};

/* True where every member of the communicator makes the call, so that instances can be counted. */
static inline bool is_collective(enum call_class class)
{
	return class == CLASS_INIT || class == CLASS_FINALIZE ||
	    (class >= CLASS_BARRIER && class <= CLASS_COMM_CREATE) || class >= CLASS_BARRIER_START;
}

static inline bool is_collective_start(enum call_class class)
{
	return class >= CLASS_BARRIER_START;
}

/* The blocking class that a non-blocking collective shares its rule of waiting with. */
static inline enum call_class blocking_class(enum call_class class)
{
	return class >= CLASS_BARRIER_START ? class - CLASS_BARRIER_START + CLASS_BARRIER : class;
}

struct call_info {
	const char *name;	/* "MPI_Send" */
	enum call_class class;
};

/*
 * Index 0 is the part; then the functions of call_table.h; then names that only a stream brought
 * (CLASS_LOCAL), added by call_number.
 */
const struct call_info *call_info(unsigned index);
unsigned call_count(void);
/* The index of NAME, added where it is new; -1 when more than 65535 are known or memory is out. */
int call_number(const char *name);

/* Values of the columns where nothing applies. */
enum { ANY_PEER = -1, NULL_PEER = -2, NO_PEER = -3, ROOT_PEER = -4, ANY_TAG = -1, NO_TAG = -2 };

/*
 * One block, columns widened. X(field in memory, key in the stream, type, is_signed, required, absent).
 * The times are apart: the stream has enter and duration, memory has enter_ns and leave_ns.
 */
#define CALL_COLUMNS(X) \
	X(call, "call", uint16_t, false, true, 0) \
	X(site, "site", uint32_t, false, false, 0) \
	X(comm, "comm", uint32_t, false, false, 0) \
	X(peer, "peer", int32_t, true, false, NO_PEER) \
	X(tag, "tag", int32_t, true, false, NO_TAG) \
	X(bytes_sent, "bytes_sent", uint64_t, false, false, 0) \
	X(bytes_received, "bytes_received", uint64_t, false, false, 0) \
	X(request, "request", uint32_t, false, false, 0) \
	X(request_at, "request_at", uint32_t, false, false, 0) \
	X(folded, "folded", uint32_t, false, false, 0)

struct calls {
	uint32_t location;
	uint64_t first;		/* sequence number of row 0 on its location */
	size_t count;		/* rows */
	size_t capacity;	/* rows that the columns have room for */
	int64_t *enter_ns;
	int64_t *leave_ns;
#define X(field, key, type, is_signed, required, absent) type *field;
	CALL_COLUMNS(X)
#undef X
};

/* Makes room for ROWS rows. 0 or -1 (no memory). */
int calls_reserve(struct calls *calls, size_t rows);
/* Adds the rows of MORE behind those that are there. 0 or -1 (no memory). */
int calls_append(struct calls *calls, const struct calls *more);
void calls_free(struct calls *calls);

/* From a message of kind "calls"; call numbers become indices of call_info. 0 or -1. */
int calls_read(struct calls *calls, struct reader *in, const struct message *message);
/* The first enter of a block that has rows, of which the first will do. 0 or -1. */
int calls_begin(struct reader *in, const struct message *message, int64_t *enter_ns);
/* Rows of a block without reading its columns. 0 or -1. */
int calls_count(struct reader *in, const struct message *message, uint64_t *rows);
/* Writes one block. The tool writes the names of the calls itself: call_names_write. */
int calls_write(struct writer *out, const struct calls *calls);
/* The same with gaps in place of enters, for blocks that are compressed. */
int calls_write_gaps(struct writer *out, const struct calls *calls);
/* One message of kind "call" for each index that USED marks. */
int call_names_write(struct writer *out, const bool *used);


#endif
