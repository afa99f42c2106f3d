/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows as the simulation keeps them: what they do, and the lanes that they stand in. */
#ifndef LANES_H
#define LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NONE = UINT32_MAX };

/* What a row does. */
enum act {
	ACT_LOCAL,		/* nothing, in no time */
	ACT_KEEP,		/* nothing, in its recorded time: files */
	ACT_EVENT,		/* opens or closes a region */
	ACT_SEND, ACT_RECEIVE,
	ACT_PROBE,		/* sees the message of its edge; without one nothing, in no time */
	ACT_SENDRECV,		/* the send of one; its part is an ACT_WAIT that was posted with the call */
	ACT_SEND_START, ACT_POST,
	ACT_POST_FREED,		/* of a receive whose request is freed: no edge tells what it got */
	ACT_START,		/* of a persistent request: a send or a post, when the edge tells */
	ACT_COMPLETE,		/* of what its request says, which becomes one of these: */
	ACT_WAIT, ACT_WAIT_SEND, ACT_WAIT_COLLECTIVE,
	ACT_COLLECTIVE, ACT_COLLECTIVE_START,
	ACT_FREE,		/* the request is not seen again */
	ACT_REQUEST,		/* makes a request to be started: local */
};

/* How a call sends; MPI_Rsend is a standard send here. */
enum mode { MODE_STANDARD, MODE_BUFFERED, MODE_SYNCHRONOUS };

/*
 * A row is in two parts: what each step of the simulation needs, two to a cache line, and what is
 * needed when the row is read, or seldom. Where a thousand ranks take turns, nothing that a step
 * touches is still near from the step before, and the cache lines that it touches are its cost.
 */
struct op {
	int64_t gap_ns;		/* since the leave before, as recorded; when it is done its enter, simulated */
	int64_t duration_ns;	/* as recorded; when it is done the leave, simulated */
	double startup_ns;	/* on the CPU at its begin; collectives: see collective.c */
	uint32_t link;		/* message or instance; NONE */
	uint8_t act;
	bool part : 1;		/* of the call before it */
	bool open : 1;		/* starts a request whose completion has not been read */
	bool rendezvous : 1;	/* a send that waits for its receive */
	bool costs : 1;		/* the overhead of a call */
};

struct replay_row {			/* as in the stream */
	uint64_t sent, received;	/* bytes */
	uint32_t request, request_at;
	uint32_t comm, site;
	uint32_t member;	/* of its instance */
	int32_t peer, tag;
	uint16_t call;		/* of a part: its call's */
};

struct op_lane {			/* the rows of a location that are read and not done */
	struct op *ops;
	size_t begin, count;
	uint64_t first;		/* seq of the first */
	uint64_t ready;		/* rows before it may be simulated */
	uint64_t settled;	/* rows before it have their edges */
	struct replay_row *rows;
	size_t capacity;
	int64_t last_leave_ns;	/* of the rows read */
};

static inline uint64_t
lane_end(const struct op_lane *lane)
{
	return lane->first + lane->count;
}

#endif
