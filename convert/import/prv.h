/* SPDX-License-Identifier: BSD-3-Clause */
/* A Paraver trace while it is read: prv.c takes its lines, prv_rows.c makes rows and edges of them. */
#ifndef PRV_H
#define PRV_H

#include "import.h"

struct call {
	int64_t enter_ns, leave_ns;
	uint64_t sent, received;	/* of a collective */
	uint32_t comm;			/* as in the file; 0: not told */
	uint16_t call;
	bool root;
};

enum { INSTRUCTIONS, CYCLES, COUNTERS };

struct task {
	struct call call;		/* the last one */
	bool any, in_call;		/* there is one; we are in it */
	int64_t put_ns;			/* enter of the last one that was put away, or taken */
	int64_t end_ns;			/* of the last record */
	int64_t running_ns;		/* in state 1 */
	int64_t counted[COUNTERS];	/* in state 1 */
	struct pending { int64_t begin_ns; unsigned at_begin, before; } pending[COUNTERS];
};

/* A side of a message at its task, in the order of the file. */
struct item {
	uint32_t task, peer;
	int32_t tag;
	bool is_send;
	int64_t at_ns, arrived_ns;	/* sent, or posted */
	uint64_t bytes, message;
};

/* Where a side of a message has come to lie; row UINT64_MAX: in no call. */
struct placed {
	uint64_t message, seq;
	uint32_t task, is_receive;
};

struct prv {
	struct text text;
	struct build build;
	struct task *tasks;
	struct spill calls;		/* by task */
	struct sorter items, placed;
	uint64_t message_count;
	struct comm { uint32_t number; int32_t size; } *comms;	/* by id */
	size_t comm_capacity;
	uint16_t by_value[6][256];
	int64_t end_ns, last_ns;	/* as the first line says; of all records */
	uint64_t other_threads;		/* records of further threads, which are not read */
};

void prv_begin(struct prv *prv);
void prv_put_call(struct prv *prv, uint32_t task);	/* the last one of a task is over */
/* Rows of all calls and messages, and the edges between them. */
void prv_rows(struct prv *prv);

#endif
