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
/* Drops samples that are not needed after their rows; COUNTS: they are part of all time. */
void run_forget_samples(struct run *run, bool counts);
/* After run_end: computation up to here is part of all time. */
void run_count_rest(struct run *run);
/* Gives samples of own locations, or of ALL, to the functions. */
void run_take_samples(struct run *run, const struct message *message, bool all);
/* Instances are no longer kept. */
void run_forget_instances(struct run *run);
/* Forgets the stretch's rows and goes to the next one. */
void run_advance(struct run *run);

/* ---- shared.c ------------------------------------------------------------------------------- */

/*
 * A run in which each member of a team keeps only the rows of its own ranks. If a row of another
 * member may have blocked a call, its owner sends what is needed with the edge. All members read
 * the same messages, so all exchange at the same ones.
 */

/* The fields after struct event_row: the far end of its edge, if another member has it. */
struct shared_row {
	struct event_row at;
	int64_t other_ns, other_leave_ns;
	uint32_t other_part;	/* distance to the first row of its call */
	uint32_t other_site;
	uint16_t other_call;
};

/* Joins the block of edges read last to own rows. */
void share_messages(struct run *run, const struct message *message);
void share_collectives(struct run *run, const struct message *message);
/*
 * The last event of all members into run->last_ns and LAST, from each member's; INT64_MIN: none. Of
 * several at one instant the one with the highest PREFERENCE.
 */
void share_last(struct run *run, struct event *last, int preference);
/* The ends of all locations into run->end_seq, from those of each member. */
void share_ends(struct run *run);

#endif
