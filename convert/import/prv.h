/* SPDX-License-Identifier: BSD-3-Clause */
/* A Paraver trace being read: prv.c reads its lines, prv_rows.c makes rows and edges. */
#ifndef PRV_H
#define PRV_H

#include "../../base/mpi/paraver.h"
#include "import.h"

struct call {
	int64_t enter_ns, leave_ns;
	uint64_t sent, received;	/* of a collective */
	uint32_t comm;			/* as in the file; 0: unknown */
	uint16_t call;
	bool root;
	uint32_t site;			/* 0: unknown */
};

/* Whether an event's type is a level of callers from FIRST on. */
static inline bool
is_level(int64_t type, int64_t first)
{
	return type > first && type <= first + MOST_LEVELS;
}

/* callers on a line: numbers of functions and lines, 0: unknown */
struct levels {
	int64_t function[MOST_LEVELS], line[MOST_LEVELS];
	size_t count;
};

enum { INSTRUCTIONS, CYCLES, COUNTERS };

struct task {
	struct call call;		/* the last one */
	bool any, in_call;		/* a call exists; it is not over */
	struct call put;		/* the last one written, or read */
	int64_t end_ns;			/* of the last record */
	int64_t running_ns;		/* in state 1 */
	int64_t counted[COUNTERS];	/* in state 1 */
	struct pending { int64_t begin_ns; unsigned at_begin, before; } pending[COUNTERS];
};

/* One side of a message at its task, in the order of the file. */
struct item {
	uint32_t task, peer;
	int32_t tag;
	bool is_send;
	int64_t at_ns, arrived_ns;	/* sent, or posted */
	uint64_t bytes, message;
};

struct prv {
	struct source text;
	struct build build;
	struct task *tasks;
	struct spill calls;		/* by task */
	struct sorter items;
	struct callers *callers;
	uint64_t message_count;
	int64_t end_ns, last_ns;	/* by the header; of all records */
	uint64_t other_threads;		/* records of further threads, which are skipped */
};

/* prv_callers.c: sites of calls. */
struct callers *callers_new(void);
void callers_take(struct levels *levels, int64_t type, int64_t value);
uint32_t callers_site(struct prv *prv, const struct levels *levels);
void callers_names(struct prv *prv, const char *file);	/* of the .pcf beside the file */
void callers_write(void *callers, struct writer *out);

/* A file beside the trace, or NULL. */
FILE *open_beside(const char *file, const char *suffix);
void prv_begin(struct prv *prv);
void prv_put_call(struct prv *prv, uint32_t task);	/* when the last call of a task is over */
/* Makes rows of all calls and messages, and the edges between them. */
void prv_rows(struct prv *prv);

#endif
