/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stretch of the run as a graph of events, through which a path is looked for.
 *
 * The graph: every call has an enter and a leave event; the program edge joins a leave with the
 * next enter of the location. A call is blocked by another location's event where it could not end
 * before it: a receive, or a probe, by the enter of a send that came later than it, a send by the
 * post of its receive that came later than the send, a member of a collective by the enter of the
 * member that it waits for (base/run/collective.h). What counts is the last such event that is not
 * before the call's own enter and not behind its leave (the post of a receive: before the leave of
 * the send); of several at one instant the one on the lowest location, then of the lowest seq. A
 * blocked call was waiting until that event: its own enter does not lie on a path through its
 * leave. The first enter of a spawned process follows from the enter of MPI_Comm_spawn at its root.
 * So a leave event follows from one event only: the blocking one (the edge is a transfer) or the
 * call's own enter (the edge is MPI). The critical path is the longest path that ends in the last
 * leave of the run; no part of it is wait time. Since only one event leads to each, there is one
 * path to each and nothing is left to choose for a solver.
 */
#ifndef STRETCH_H
#define STRETCH_H

#include "../run/collective.h"
#include "../run/places.h"
#include "../run/segments.h"
#include "../tool/tool.h"
#include "../team/team.h"

/* A row with the far end of its edge: send and receive refer to each other's row, a member of a
 * collective to the member that it waits for. */
struct event_row {
	struct row row;
	uint64_t other_seq;
	uint32_t other;		/* location */
	bool has_other;
	bool is_send;		/* of a message; for starts of persistent requests */
	bool cut;		/* its call is taken as not blocked, to break a cycle */
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
 * the rows from first_seq to before end_seq. The path through it leads from the instant begin_ns
 * (where the last member of the synchronisation point arrived, or the run began) to the event TO.
 */
struct stretch {
	const struct team *team;	/* who solves it together */
	const struct definitions *known;
	const struct window *window;
	const uint64_t *first_seq, *end_seq;
	int64_t begin_ns;
	bool from_sync;			/* not the run's first stretch */
	bool from_event;		/* the path up to FROM is known, and leads on from there */
	struct event from;
	/* a member of the team has the rows of its own ranks only */
	bool shared;
	struct event to;
	int64_t to_ns;
};

/* ---- events.c: the graph ------------------------------------------------------------------ */

int64_t time_of(const struct stretch *stretch, struct event event);
/* The event that AT follows from, and its time; false: from the beginning of the stretch. */
bool event_before(const struct stretch *stretch, struct event at, struct event *before,
    int64_t *before_ns);
/* Events of the stretch; no path has more. */
uint64_t count_events(const struct stretch *stretch);

/* Of what a location does before CALL; FIRST: the piece begins with the run. */
enum segment_kind kind_before(unsigned call, bool first);
/* A piece of the path that ends with the row's call, or with the computation before it. */
struct segment path_segment(const struct row *row, uint32_t location, enum segment_kind kind,
    int64_t begin_ns, int64_t end_ns);
/* Appends the piece between two events unless it is empty; FROM is NULL for the first. */
void add_piece(struct segments *segments, const struct stretch *stretch, const struct event *from,
    int64_t from_ns, struct event at);
void reverse_segments(struct segments *segments, size_t begin);

/* The member of the team that a location belongs to: all threads of a rank to the same. */
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

/* Numbers for the events of some locations, by location, then row: enter 2i, leave 2i + 1. */
struct numbering {
	const struct stretch *stretch;
	/* by location: number of rows before its first; one more at the end */
	uint64_t *base;
};

/* For the locations that OWNER owns; -1: for all. */
void numbering_open(struct numbering *numbering, const struct stretch *stretch, int owner);
void numbering_close(struct numbering *numbering);
struct event numbering_event(const struct numbering *numbering, uint64_t number);

static inline uint64_t
numbering_of(const struct numbering *numbering, struct event event)
{
	return 2 * (numbering->base[event.location] +
	    (event.seq - numbering->stretch->first_seq[event.location])) + event.leave;
}

/* ---- the path ------------------------------------------------------------------------------ */

/* walk.c: appends the stretch's segments in order of time; false: there is a cycle behind the last
 * event. */
bool solve_walk(const struct stretch *stretch, struct segments *segments);
/* Every STEP-th event of the path, the last first; at is to be freed. False: a cycle. */
struct marks {			/* begins as zeros */
	struct event *at;
	size_t count, capacity;
};
bool walk_marks(const struct stretch *stretch, uint64_t step, struct marks *marks);

/* cycle.c: names the cycle behind the last event, and takes one of its calls as not blocked. */
void cut_cycle(const struct stretch *stretch, const struct definitions *known);

#endif
