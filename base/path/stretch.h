/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stretch of the run as a graph of events, in which solvers look for a path.
 *
 * The graph: every call has an enter and a leave event; the program edge joins a leave with the
 * next enter of the location. An event of another location blocks a call that could not end before
 * it. A receive or a probe is blocked by the enter of a send that came later than itself; a send by
 * a later post of its receive, or by the call of its receiver that held it up; a call that waits
 * for a lock by the enter of the unlock; MPI_Win_wait by the enter of MPI_Win_complete, and by each
 * post that this waited for; a member of a collective by the enter of the member that
 * it waits for (base/run/collective.h). The last such event counts that is not before the call's
 * own enter and not after its leave (the post of a receive: before the leave of the send); of
 * several at one instant the one on the lowest location, then of the lowest seq. A blocked call
 * waits until that event: its own enter does not lie on a path through its leave. The first enter
 * of a spawned process follows from the enter of MPI_Comm_spawn at its root.
 * A call that did not return, and waited, is blocked by the last leave of the location that never
 * came (trace.5, unended).
 * So a leave event follows from one event only: the blocking one (the edge is a transfer) or the
 * call's own enter (the edge is MPI). The critical path is the longest path that ends in the last
 * leave of the run; no part of it is wait time. Only one event leads to each event, so each has one
 * path, and a solver has nothing to choose.
 */
#ifndef STRETCH_H
#define STRETCH_H

#include "../run/collective.h"
#include "../run/places.h"
#include "../run/segments.h"
#include "../tool/tool.h"
#include "../team/team.h"

/*
 * A row with the far end of its edge: send and receive refer to each other's row, a member of a
 * collective refers to the member that it waits for.
 */
struct event_row {
	struct row row;
	uint64_t other_seq;
	uint32_t other;		/* location */
	bool has_other;
	bool is_send;		/* of a message; for starts of persistent requests */
	bool cut;		/* taken as not blocked, to break a cycle */
	bool overdue;		/* of a run that may go on: its edge has not come */
};

/* An event in time: the enter or leave of a call (its first row). */
struct event {
	uint64_t seq;
	uint32_t location;
	bool leave;
};

static inline bool
same_event(struct event a, struct event b)
{
	return a.location == b.location && a.seq == b.seq && a.leave == b.leave;
}

/*
 * A stretch between two global synchronisation points, or the ends of the run: on every location
 * the rows first_seq to end_seq - 1. The path through it leads from the instant begin_ns, when the
 * last member of the synchronisation point arrived or the run began, to the event TO.
 */
struct stretch {
	const struct team *team;	/* the processes that solve it together */
	const struct definitions *known;
	const struct window *window;
	const uint64_t *first_seq, *end_seq;
	int64_t begin_ns;
	bool from_sync;			/* not the run's first stretch */
	bool from_event;		/* the path up to FROM is known and continues there */
	struct event from;
	int64_t from_ns;		/* its time */
	/* An edge that came late may lead around FROM: then the path jumps there. */
	bool may_jump;
	bool shared;			/* each member of the team has the rows of its own ranks */
	struct event to;
	int64_t to_ns;
};

static inline bool
stretch_has(const struct stretch *stretch, uint32_t location, uint64_t seq)
{
	return seq >= stretch->first_seq[location] && seq < stretch->end_seq[location];
}

/* ---- events.c: the graph ------------------------------------------------------------------ */

int64_t time_of(const struct stretch *stretch, struct event event);
/* The event that AT follows from, and its time; false: AT follows from the stretch's beginning. */
bool event_before(const struct stretch *stretch, struct event at, struct event *before,
    int64_t *before_ns);
/* The number of events of the stretch; no path has more. */
uint64_t count_events(const struct stretch *stretch);

/* The kind of what a location does before CALL; FIRST: since the run began. */
enum segment_kind kind_before(unsigned call, bool first);
/* A piece of the path that ends with the row's call, or with the computation before it. */
struct segment path_segment(const struct row *row, uint32_t location, enum segment_kind kind,
    int64_t begin_ns, int64_t end_ns);
/* Appends the piece between two events unless it is empty; FROM is NULL for the first. */
void add_piece(struct segments *segments, const struct stretch *stretch, const struct event *from,
    int64_t from_ns, struct event at);
void reverse_segments(struct segments *segments, size_t begin);

/* The member of the team that a location belongs to: the same for all threads of a rank. */
static inline int
owner_in(const struct team *team, const int32_t *location_rank, uint32_t location)
{
	return location_rank[location] < 0 ? 0 : (int)(location_rank[location] % team->size);
}

static inline int
owner_of(const struct stretch *stretch, uint32_t location)
{
	return owner_in(stretch->team, stretch->known->location_rank, location);
}

/* ---- the path ------------------------------------------------------------------------------ */

/* walk.c: appends the stretch's segments in order of time; false: a cycle before the last event. */
bool solve_walk(const struct stretch *stretch, struct segments *segments);
struct events {			/* begins as zeros */
	struct event *at;
	size_t count, capacity;
};
/* Every STEP-th event of the path, the last one first; free() at. False: a cycle. */
bool walk_marks(const struct stretch *stretch, uint64_t step, struct events *marks);

/* cycle.c: names the cycle before the last event, and takes one of its calls as not blocked. */
void cut_cycle(const struct stretch *stretch);

#endif
