/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Dimemas trace while it is read: dim.c takes its lines, dim_rows.c makes rows of them, and where order
 * alone does not say who gets what, dim_match.c plays the trace.
 */
#ifndef DIM_H
#define DIM_H

#include "import.h"

enum kind { SEND, RECEIVE, POST, WAIT, COLLECTIVE, COLLECTIVE_START, COLLECTIVE_WAIT };

struct record {
	enum kind kind;
	int32_t peer, tag;		/* world rank; of a collective the root in its communicator */
	uint64_t bytes, received;
	uint32_t comm;			/* as in the file */
	int sync, operation;		/* flags of a send; id of a collective */
	int32_t other;			/* thread of the peer; -1: any */
};

/* A thread of a task: a location. */
struct thread {
	uint32_t rank;
	int32_t number;			/* in its task */
	int64_t now_ns;
	bool computed;			/* a burst since the last row */
	int call;			/* index of the call that events say we are in; 0 none */
	bool in_call;
	struct record *records;		/* of that call */
	size_t record_count, record_capacity;
	struct start { uint64_t seq; uint32_t step; } *starts;	/* collectives to be waited for */
	size_t start_count, start_capacity, start_first;
	struct step *steps;		/* of dim_play, in order */
	size_t step_count, step_capacity;
};

/* What a thread does, for dim_play. */
struct step {
	enum kind kind;
	uint32_t what;			/* end, communicator in the file, or step that started it */
	uint32_t index;			/* COLLECTIVE_START: which instance on its communicator */
	int64_t at_ns;			/* on the thread's own clock */
};

/* One side of a message. */
struct end {
	uint64_t seq, completion;	/* rows; of a receive the one that completes it, or UINT64_MAX */
	uint32_t next;			/* of its channel; then of what waits at its rank */
	uint32_t location;
	int32_t peer, tag, other;	/* as the record has it; peer ANY_PEER, tag ANY_TAG */
	uint32_t comm;
	bool is_send, matched;
};

struct dim {
	struct text text;
	struct build build;
	struct channels *channels;
	struct end *ends;
	size_t end_count, end_capacity;
	struct comm { uint32_t number; int32_t size, *members; } *comms; /* by id */
	size_t comm_capacity;
	struct thread *threads;		/* by location */
	uint32_t *first_further;	/* by rank: location of its thread 1, with the others behind it */
	int32_t *thread_count;		/* by rank */
	struct thread *at;		/* the one whose record is being read */
	uint32_t location;		/* its */
	uint64_t offsets_at;		/* where the lines of offsets begin, as the first line says; 0: not told */
	uint64_t *begins;		/* by rank: of its first record; 0: none yet */
	uint32_t offset_lines;
	bool played;			/* there are wildcards or further threads: see dim_play */
	uint16_t event, by_value[6][256];
};

enum { OPERATIONS = 16 };	/* collectives, by id */

void dim_begin(struct dim *dim);
void dim_record(struct dim *dim, const struct record *record);
/* A row of a function that exchanges nothing. */
void dim_local(struct dim *dim, uint16_t call, int32_t tag, int32_t peer);
void dim_end_call(struct dim *dim);	/* the call that the events have told is over: its rows */
void dim_match(struct dim *dim);	/* at the end: messages and instances */
void dim_play(struct dim *dim);		/* the same for messages, by playing the trace */
void dim_message(struct dim *dim, struct end *send, struct end *receive);

#endif
