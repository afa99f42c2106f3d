/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are held back in memory until it is certain what their rows become. */
#ifndef HELD_H
#define HELD_H

#include "../base/run/thread_waits.h"
#include "../base/stream/samples.h"
#include "graph.h"

/* held.c: a message held back in memory until it is certain what its rows become. */
struct held {
	struct held *next, *next_block;	/* of all; of the same location */
	struct message message;		/* without bytes and body */
	msgpack_unpacked unpacked;	/* has the body */
	uint64_t first;			/* of a block: its first row */
	uint32_t location;
	size_t count;			/* rows */
	bool is_block, changed;
	size_t moved_from;		/* rows from here on become polls without time */
	int64_t moved_to_ns;
	unsigned char *bytes;		/* columns, then the message */
	size_t size, plain_size;	/* of the bytes; and without compression */
};

struct held_queue {
	struct held *oldest, *newest;
	size_t bytes;
};

/*
 * Adds a copy of the message, with the rows of CALLS unless that is NULL; packed where that is
 * less.
 */
struct held *held_add(struct held_queue *queue, const struct message *message,
    struct calls *calls, bool packed);
/* Reads the rows into CALLS, or the message's body; valid until held_drop. */
void held_read(struct held *h, struct calls *calls);
void held_drop(struct held_queue *queue);	/* the oldest one */

/* ---- handovers ----------------------------------------------------------------------- */

/* A row that is made. */
struct made_row {
	uint64_t before;		/* seq of the next row of the thread as recorded */
	int64_t enter_ns, leave_ns;
	uint32_t site;			/* as defined here; 0: unknown */
	int32_t tag;
	uint16_t call;			/* call_thread_wait, or call_thread_signal */
};

/* A thread that makes calls, if others of its rank do so, too. */
struct thread_rows {
	struct time_spans calls;
	uint64_t *seq;			/* of each call's first row */
	size_t seq_capacity;
	uint64_t rows;
	struct made_row *made;		/* in order */
	size_t count, capacity;
};

/*
 * handovers.c: where several threads of a rank make calls, waits for each other become rows. All
 * messages from the first calls or samples on are held back until the input has ended.
 */
struct handovers {
	bool looks;			/* several threads make calls: there may be some */
	struct held_queue held;
	size_t calls_bytes;		/* of THREADS */
	struct thread_rows *threads;	/* by location */
	uint32_t *next;			/* see next_threads */
	uint32_t locations;
	struct thread_lanes *lanes;
	struct samples block;
	int64_t period_ns;
	uint64_t count;			/* waits that became rows */
	struct calls calls;		/* of the block that is passed on */
};

/* Holds a message back, or returns false. CALLS: NULL, or its block. */
bool handovers_hold(struct handovers *handovers, const struct graph *graph,
    const struct message *message, struct calls *calls);
/* Finds them, and writes what their rows need, once the input has ended. */
void handovers_find(struct handovers *handovers, struct graph *graph);
/* Gives TAKE all messages held back, blocks with the rows made. */
typedef void handover_take(void *to, const struct message *message, struct calls *calls,
    bool changed);
void handovers_pass(struct handovers *handovers, handover_take *take, void *to);

/* ---- polls ---- */

struct polls {
	bool as_waits;
	int64_t gap_ns;			/* computing for longer between two polls is work */
	struct poll_run *runs;		/* by location */
	struct habits *habits;
	unsigned char *kinds;		/* by index of call_name, once known */
	struct held_queue held;
	struct calls calls;		/* of the block that is passed on */
	struct samples samples;		/* of the block to come */
	bool crowded;			/* ranks lacked cores */
};

/*
 * Takes a message; CALLS: NULL, or its block, as read unless it is CHANGED. Passes on messages that
 * need not be held.
 */
void polls_take(struct polls *polls, struct graph *graph, const struct message *message,
    struct calls *calls, bool changed);
/* Passes on the oldest messages, up to the first with a run that is open, or ALL. */
void polls_release(struct polls *polls, struct graph *graph, bool all);
/* Writes the reading of polls, as a message before all blocks; and prints the result at the end. */
void polls_begin(struct polls *polls, struct graph *graph, uint64_t handovers);
void polls_tell(const struct polls *polls, const struct counts *counts);

#endif
