/* SPDX-License-Identifier: BSD-3-Clause */
/* A Paraver trace in memory: prv.c reads it, prv_rows.c makes rows and edges of it. */
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
	struct call *calls;
	size_t count, capacity;
	bool in_call;
	int64_t end_ns;			/* of the last record */
	int64_t running_ns;		/* in state 1 */
	int64_t counted[COUNTERS];	/* in state 1 */
	struct pending { int64_t begin_ns; unsigned at_begin, before; } pending[COUNTERS];
};

struct transfer {
	int64_t sent_ns, posted_ns, arrived_ns;
	uint64_t bytes;
	uint32_t source, target;
	int32_t tag;
	uint64_t send_seq, post_seq, receive_seq;
};

/* A message in a call; several in one become its row and parts, in the order of the file. */
enum kind { ITEM_SEND, ITEM_POST, ITEM_RECEIVE };
struct item {
	uint32_t task;
	size_t call, message;
	enum kind kind;
};

struct prv {
	struct text text;
	struct build build;
	struct task *tasks;
	struct transfer *messages;
	size_t message_count, message_capacity;
	struct item *items;
	size_t item_count, item_capacity;
	struct comm { uint32_t number; int32_t size; } *comms;	/* by id */
	size_t comm_capacity;
	uint16_t by_value[6][256];
	int64_t end_ns, last_ns;	/* as the first line says; of all records */
	uint64_t other_threads;		/* records of further threads, which are not read */
};

/* Rows of all calls and messages, and the edges between them. */
void prv_rows(struct prv *prv);

#endif
