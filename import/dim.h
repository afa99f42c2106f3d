/* SPDX-License-Identifier: BSD-3-Clause */
/* A Dimemas trace while it is read: dim.c takes its lines, dim_rows.c makes rows and edges of them. */
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
};

struct dim {
	struct text text;
	struct build build;
	struct channels *channels;
	struct end *ends;
	size_t end_count, end_capacity;
	struct comm { uint32_t number; int32_t size, *members; } *comms; /* by id */
	size_t comm_capacity;
	/* The rank whose records are being read. */
	uint32_t rank;
	int64_t now_ns;
	bool computed;			/* a burst since the last row */
	int call;			/* index of the call that events say we are in; 0 none */
	bool in_call;
	struct record *records;		/* of that call */
	size_t record_count, record_capacity;
	uint64_t *starts;		/* rows of collectives that were started and not yet waited for */
	size_t start_count, start_capacity, start_first;
	uint16_t event, by_value[6][256];
};

enum { OPERATIONS = 16 };	/* collectives, by id */

void dim_begin(struct dim *dim);
void dim_record(struct dim *dim, const struct record *record);
/* A row of a function that exchanges nothing. */
void dim_local(struct dim *dim, uint16_t call, int32_t tag, int32_t peer);
void dim_end_call(struct dim *dim);	/* the call that the events have told is over: its rows */
void dim_match(struct dim *dim);	/* at the end: messages and instances */

#endif
