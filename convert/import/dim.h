/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Dimemas trace being read. dim.c reads its lines and dim_rows.c makes rows of them. If order
 * alone does not decide who receives a message, dim_match.c plays the trace.
 */
#ifndef DIM_H
#define DIM_H

#include "../../base/machine/schedule.h"
#include "import.h"

enum kind { SEND, RECEIVE, POST, WAIT, COLLECTIVE, COLLECTIVE_START, COLLECTIVE_WAIT };

/*
 * One operation of a thread in a message or a collective, in order: a record, then with its row. A
 * wait for a collective is for the oldest started.
 */
struct step {				/* no gaps: it is written as it lies in memory */
	enum kind kind;
	/* world rank; of a collective the root in its communicator */
	int32_t peer, tag;
	uint32_t comm;			/* as in the file */
	int32_t which;			/* flags of a send; id of a collective */
	int32_t other;			/* thread of the peer; -1: any */
	uint64_t bytes;
	union {
		uint64_t received;	/* COLLECTIVE and the like */
		uint64_t posted;	/* WAIT: row of the receive */
	};
	int64_t at_ns;			/* on the thread's own clock */
	uint64_t seq, head;		/* its row, and the row that it is a part of */
};

/* A thread of a task: a location. */
struct thread {
	int64_t now_ns;
	struct step step;		/* the last one written, or read */
	bool computed;			/* a burst since the last row */
	bool in_call;
	uint16_t call;			/* index of the call that events report; 0: none */
	struct step *records;		/* of that call */
	size_t record_count, record_capacity;
	/* seqs of collectives not yet waited for: FIRST to before COUNT */
	uint64_t *starts;
	size_t start_first, start_count, start_capacity;
};

struct dim {
	struct source text;
	struct build build;
	struct posts *posts;		/* receives not yet waited for */
	uint64_t waiting;		/* their number, plus records of unfinished calls */
	struct spill steps;		/* by location */
	struct thread *threads;		/* by location */
	/* by rank: location of its thread 1; its further threads follow */
	uint32_t *first_further;
	int32_t *thread_count;		/* by rank */
	struct thread *at;		/* of the record being read */
	uint32_t location;		/* its location */
	/* where the offset lines begin, by the header; 0: unknown */
	uint64_t offsets_at;
	uint64_t *begins;		/* by rank: offset of its first record; 0: none yet */
	uint32_t offset_lines;
	bool played;			/* there are wildcards or further threads: see dim_play */
	uint16_t event;
	/* calls by kind and flags or id; 0: not yet looked up */
	uint16_t natural[COLLECTIVE_WAIT + 1][OP_OTHER];
};

void dim_begin(struct dim *dim);
void dim_record(struct dim *dim, const struct step *record);
/* Adds a row of a function that exchanges nothing. */
void dim_local(struct dim *dim, uint16_t call, int32_t tag, int32_t peer);
void dim_end_call(struct dim *dim);	/* writes the rows of the call that has ended */
/* Dies if so many unmatched items exceed what a text of this size may contain. */
void dim_bound(const struct dim *dim, uint64_t things);

/* at the end: adds receives that were never waited for */
void dim_unwaited(struct dim *dim);
void dim_play(struct dim *dim);	/* dim_match.c: matches messages by playing the trace */

#endif
