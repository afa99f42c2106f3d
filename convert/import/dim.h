/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Dimemas trace while it is read: dim.c takes its lines, dim_rows.c makes rows of them, and where
 * order alone does not say who gets what, dim_match.c plays the trace.
 */
#ifndef DIM_H
#define DIM_H

#include "import.h"

enum { OPERATIONS = 16 };	/* collectives, by id */
enum kind { SEND, RECEIVE, POST, WAIT, COLLECTIVE, COLLECTIVE_START, COLLECTIVE_WAIT };

struct record {
	enum kind kind;
	/* world rank; of a collective the root in its communicator */
	int32_t peer, tag;
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
	int64_t step_ns;		/* of the last step that was put, or taken; and its row */
	uint64_t step_seq;
	bool computed;			/* a burst since the last row */
	bool in_call;
	uint16_t call;			/* index of the call that events say we are in; 0 none */
	uint64_t posted;		/* receives so far */
	struct record *records;		/* of that call */
	size_t record_count, record_capacity;
	/* seqs of collectives to be waited for: FIRST to before COUNT */
	uint64_t *starts;
	size_t start_first, start_count, start_capacity;
};

/*
 * What a thread does in a message or a collective, in order. Receives of a thread that are posted
 * have numbers, by which their waits name them; the wait for a collective is for the oldest that
 * was started.
 */
struct step {
	enum kind kind;
	int64_t at_ns;			/* on the thread's own clock */
	uint64_t seq, head;		/* its row, and the row that this is a part of */
	uint32_t comm;			/* as in the file */
	int32_t peer, tag, other;	/* of a message, as the record has them */
	uint64_t bytes;			/* SEND */
	uint64_t number;		/* POST, WAIT */
};

struct dim {
	struct text text;
	struct build build;
	struct posts *posts;		/* receives to be waited for */
	uint64_t waiting;		/* of these, and of records of calls that go on */
	struct spill steps;		/* by location */
	struct sorter sides;		/* of messages */
	struct thread *threads;		/* by location */
	/* by rank: location of its thread 1, with the others behind it */
	uint32_t *first_further;
	int32_t *thread_count;		/* by rank */
	struct thread *at;		/* the one whose record is being read */
	uint32_t location;		/* its */
	/* where the lines of offsets begin, as the first line says; 0: not told */
	uint64_t offsets_at;
	uint64_t *begins;		/* by rank: of its first record; 0: none yet */
	uint32_t offset_lines;
	bool played;			/* there are wildcards or further threads: see dim_play */
	uint16_t event, by_value[6][256];
	/* calls by kind and flags or id; 0: not asked for yet */
	uint16_t natural[COLLECTIVE_WAIT + 1][OPERATIONS];
};

void dim_begin(struct dim *dim);
void dim_record(struct dim *dim, const struct record *record);
/* A row of a function that exchanges nothing. */
void dim_local(struct dim *dim, uint16_t call, int32_t tag, int32_t peer);
void dim_end_call(struct dim *dim);	/* the call that the events have told is over: its rows */
/* Many things that nobody has waited for yet: death, where the text has too few bytes for them. */
void dim_bound(const struct dim *dim, uint64_t things);

/* dim_steps.c */
void dim_put_step(struct dim *dim, const struct step *step);
void dim_read_steps(struct dim *dim);	/* all are put */
/* false: there is none */
bool dim_take_step(struct dim *dim, uint32_t location, struct step *step);
void dim_sides_begin(struct dim *dim);
void dim_put_side(struct dim *dim, const struct step *step, uint64_t place);
/* at the end: the sides of receives that nobody has waited for */
void dim_unwaited(struct dim *dim);
void dim_match(struct dim *dim);	/* messages, in the order of their channels */
void dim_play(struct dim *dim);		/* messages, by playing the trace */

#endif
