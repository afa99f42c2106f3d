/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a graph stream stretch by stretch: all of them, or some in the middle. */
#ifndef RUN_H
#define RUN_H

#include "../mpi/call_class.h"
#include "../run/collective.h"
#include "../run/graph_input.h"
#include "stretch.h"

/* A part of the stretches, and where to find it in a file. */
struct part {
	uint64_t from, to;		/* first stretch; first one after the part */
	uint64_t from_at, to_at;	/* offsets of the points there; 0: an end of the run */
	uint64_t offset;		/* its rows do not begin before */
	uint64_t stretch;		/* number of the stretch at that offset */
	uint64_t defined;		/* no definition comes after; 0: not known */
};

/* Collectives of the stretch, or later ones. */
struct instances {
	struct instance {
		size_t first;		/* in members */
		uint32_t size;
	} *at;
	struct event *members;
	size_t count, capacity, member_count, member_capacity;
};

struct run {
	struct graph_input graph;
	const struct team *team;	/* of several: each member keeps the rows of its ranks */
	/* see window_limit; run_open sets SIZE_MAX and the team's size */
	size_t window_bytes;
	int processes;
	struct row *copies;		/* of one instance; too many for valid pointers */
	struct member *members;
	struct needs needs;
	const uint32_t *waits_for;	/* of that instance's members */
	size_t copy_capacity, member_capacity;
	bool keeps_instances;
	struct instances instances;	/* if they are kept */
	uint64_t *first_seq, *end_seq;	/* of the stretch being read */
	int64_t begin_ns, last_ns;	/* of the stretch, and its last event */
	uint64_t stretch;		/* its number, from 0 */
	bool from_event;		/* the path up to FROM has been taken: see run_decided */
	struct event from;
	int64_t from_ns;		/* its time */
	uint64_t next_try;		/* rows in the window at which to try again */
	struct part part;		/* the stretches that are read */
	/* The run may go on: the path goes on past rows that are overdue. */
	bool goes_on;
	uint64_t overdue;		/* such rows whose edges have not come */
	struct functions *functions;	/* get the samples; NULL: none */
	/* Edges of own MPI_Win_complete to others' MPI_Win_wait, of this stretch or later ones. */
	struct told {
		uint64_t seq, wait_seq;
		uint32_t location, waiter;
	} *told;
	size_t told_count, told_capacity;
};

/* True if members of the team keep different rows. */
static inline bool
run_shared(const struct run *run)
{
	return run->team->size > 1;
}

static inline bool
run_owns(const struct run *run, uint32_t location)
{
	return !run_shared(run) ||
	    owner_in(run->team, run->graph.known.location_rank, location) == run->team->rank;
}

static inline void
link_rows(struct event_row *row, uint32_t other, uint64_t other_seq)
{
	row->has_other = true;
	row->other = other;
	row->other_seq = other_seq;
}

static inline bool
is_within(const struct row *call, int64_t ns)
{
	return ns >= call->enter_ns && ns <= call->leave_ns;
}

/*
 * A send waits for the post of its receive or, if that did not come within the send, for the call
 * that held it up; a one-sided call for the later of a lock and its target. OTHER_NS: of what may
 * be linked now; LINKED_NS: of what is linked.
 */
static inline bool
stays_linked(const struct event_row *row, int64_t linked_ns, int64_t other_ns, bool is_hold)
{
	if (!row->has_other || !is_within(&row->row, linked_ns))
		return false;
	if (call_class(row->row.call) == CLASS_RMA)
		return linked_ns >= other_ns;
	return is_hold || !is_within(&row->row, other_ns);
}

/* From the row of a receive to the row that posted it. */
static inline void
post_of(const struct event_row *receive, uint32_t *location, uint64_t *seq)
{
	if (call_class(receive->row.call) == CLASS_COMPLETE)
		row_refers(&receive->row, *location, *seq, location, seq);
}

/*
 * Finds what the members of instance K of the block wait for, into run->waits_for. FIRST: index of
 * its first member in the block; ROWS: their rows (NULL: all in the window). False: one is missing.
 */
bool collective_find(struct run *run, size_t k, size_t first, const struct row *const *rows);

/*
 * Opens FILE for a part of its stretches. With NO_STRETCHES, the caller takes the messages that it
 * needs beside definitions, and verifies them.
 */
#define ALL_STRETCHES ((struct part){ .to = UINT64_MAX })
#define NO_STRETCHES ((struct part){ 0 })
void run_open(struct run *run, const char *file, enum reading how, struct part part,
    const struct team *team);
/* The next message; false: the stream, or the part, has ended. */
bool run_next(struct run *run, struct message *message);
/* Takes it; true: it ends a wanted stretch, and LAST is the stretch's last event. */
bool run_take(struct run *run, const struct message *message, struct event *last);
/* After the last message: the same for the last stretch. */
bool run_end(struct run *run, struct event *last);
/* The stretch that has ended. */
struct stretch run_stretch(const struct run *run, struct event last);
/* Instances are no longer kept. */
void run_forget_instances(struct run *run);
/* Forgets the stretch's rows and goes to the next one. */
void run_advance(struct run *run);

/* ---- the rows that show what a call may have waited for: its own, and starts it completes --- */

struct edge_rows {
	const struct window *window;
	uint64_t first, at;		/* seq of the call and of the row to look at */
	uint32_t location;
	bool completes, at_start;	/* next: the start that the row before AT completes */
	const struct event_row *edge;	/* the row found, and its place */
	uint32_t edge_location;
	uint64_t edge_seq;
};

static inline bool
may_wait(const struct event_row *call)
{
	enum call_class class = call_class(call->row.call);

	/* A start does not wait, but its completion may. */
	return !call->cut && class != CLASS_SEND_START && class != CLASS_RECV_START &&
	    class != CLASS_START && !is_collective_start(class);
}

/* Is the row's edge that of a message that it sends? */
static inline bool
row_sends(const struct event_row *row)
{
	enum call_class class = call_class(row->row.call);

	return class == CLASS_SEND || class == CLASS_SEND_START || (class == CLASS_SENDRECV &&
	    row->row.part == 0) || (class == CLASS_START && row->is_send);
}

static inline struct edge_rows
edge_rows(const struct window *window, uint32_t location, uint64_t seq)
{
	const struct event_row *call = window_row(window, location, seq);
	const enum call_class class = call_class(call->row.call);

	/* A query of a request waits as its completion does. */
	return (struct edge_rows){ .window = window, .first = seq, .at = seq, .location = location,
	    .completes = class == CLASS_COMPLETE || class == CLASS_PROBE };
}

static inline bool
edge_rows_next(struct edge_rows *e)
{
	const struct event_row *row;

	if (e->at_start) {
		e->at_start = false;
		row = window_row(e->window, e->location, e->at - 1);
		if (row_refers(&row->row, e->location, e->at - 1,
		    &e->edge_location, &e->edge_seq) &&
		    ((e->edge = window_row(e->window, e->edge_location, e->edge_seq)) != NULL ||
		    (e->edge = window_kept(e->window, e->edge_location, e->edge_seq)) != NULL))
			return true;
	}
	row = window_row(e->window, e->location, e->at);
	if (row == NULL || row->row.part != e->at - e->first)
		return false;
	e->edge = row;
	e->edge_location = e->location;
	e->edge_seq = e->at++;
	e->at_start = e->completes;
	return true;
}

/* ---- early.c: the path through a stretch that has not ended, so that it can be forgotten ---- */

struct pieces {
	struct run *run;
	struct segments *segments;	/* of one piece at a time */
	void (*take)(void *context);	/* takes these; they are in order */
	void *context;
};

/*
 * To be called after each message. True if the path up to an event of the stretch is certain, and
 * far enough to be worth taking; TO gets the event, for pieces_take.
 */
bool run_decided(struct run *run, const struct message *message, struct event *to);
/* Takes the piece up to that event, and forgets rows that nothing needs any more. */
void pieces_take(const struct pieces *pieces, struct event to);
/* The stretch has ended in LAST: takes pieces of a long way, but not the last one. */
void pieces_end(const struct pieces *pieces, struct event last);

/* ---- shared.c ------------------------------------------------------------------------------- */

/*
 * A run in which each member of a team keeps only the rows of its own ranks. If a row of another
 * member may have blocked a call, its owner sends what is needed with the edge. All members read
 * the same messages, so all exchange at the same ones.
 */

/* What counts of the far end of an edge. */
struct far_end {
	int64_t enter_ns, leave_ns;
	uint32_t part;		/* distance to the first row of its call */
	uint32_t site;
	uint16_t call;
};

static inline struct far_end
far_end(const struct row *row)
{
	return (struct far_end){ row->enter_ns, row->leave_ns, row->part, row->site, row->call };
}

/* A row; after it the far end of its edge, if another member has that. */
struct shared_row {
	struct event_row at;
	struct far_end far;
};

/* A row that may have blocked a call. */
struct far {
	uint64_t seq;
	uint32_t location;
	struct far_end end;
};

/* events.c: the far end of an edge, in the window or from its owner. False: none, or dropped. */
bool find_far(const struct stretch *stretch, const struct event_row *edge, struct far *far);
/* Did FAR come within the call, and later than LAST? */
bool is_last_far(const struct row *call, const struct far *far, const struct far *last);

/* Joins the block of edges read last to own rows. */
void share_messages(struct run *run, const struct message *message);
void share_collectives(struct run *run, const struct message *message);
/*
 * At the end of a stretch: the last event of all members into run->last_ns and LAST, from each
 * member's; INT64_MIN: none. Of several at one instant the one with the highest PREFERENCE.
 */
void share_last(struct run *run, struct event *last, int preference);
/* The ends of all locations into run->end_seq, from those of each member. */
void share_ends(struct run *run);

#endif
