/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The critical path of a stretch of the run, in terms shared by all solvers.
 *
 * The graph: every call has an enter and a leave event; the program edge joins a leave with the
 * next enter of the location. A call is blocked by another location's event where it could not end
 * before it: a receive by the enter of a send that came later than the receive, a send by the post
 * of its receive that came later than the send, a member of a collective by the enter of the member
 * that it waits for (stream/collective.h). What counts is the last such event that is not before
 * the call's own enter and not behind its leave (the post of a receive: before the leave of the
 * send); of several at one instant the one on the lowest location, then of the lowest seq. A blocked call was waiting until that event: its own enter does
 * not lie on a path through its leave. So a leave event follows from one event only: the blocking
 * one (the edge is a transfer) or the call's own enter (the edge is MPI). The critical path is the
 * longest path that ends in the last leave of the run; no part of it is wait time.
 */
#ifndef CRITPATH_H
#define CRITPATH_H

#include "../stream/collective.h"
#include "../stream/tool.h"

/* A row with the far end of its edge: send and receive refer to each other's row, a member of a
 * collective to the member that it waits for. */
struct event_row {
	struct row row;
	uint64_t other_seq;
	uint32_t other;		/* location */
	bool has_other;
	bool is_send;		/* of a message; for starts of persistent requests */
};

enum segment_kind { COMPUTE, MPI, TRANSFER };

struct segment {
	int64_t begin_ns, end_ns;
	uint32_t location;	/* of a transfer: who received */
	uint32_t site;
	uint16_t call;		/* index of call_info; 0 for compute */
	uint8_t kind;		/* enum segment_kind */
};

struct segments {
	struct segment *at;
	size_t count, capacity;
};

/* An event in time: the enter or leave of a call (its first row). */
struct event {
	uint32_t location;
	uint64_t seq;
	bool leave;
};

/*
 * A stretch between two global synchronisation points, or the ends of the run: on every location
 * the rows from first_seq to before end_seq. The path through it leads from the event
 * FROM (an enter on the last member to arrive; at the run's beginning the instant begin_ns) to TO.
 */
struct stretch {
	const struct window *window;
	const uint64_t *first_seq, *end_seq;
	int64_t begin_ns;
	bool from_start;	/* the run's first stretch */
	struct event to;
};

/* What blocked the call whose first row is SEQ: true and the blocking row, or false. */
bool blocked_by(const struct window *window, uint32_t location, uint64_t seq, uint32_t *other,
    uint64_t *other_seq);
/* First row of the call before SEQ on the location; false where that is before FIRST. */
bool call_before(const struct window *window, uint32_t location, uint64_t seq, uint64_t first,
    uint64_t *before);

/* Adds a piece unless it is empty. */
void add_segment(struct segments *segments, const struct window *window, enum segment_kind kind,
    uint32_t location, uint64_t seq, int64_t begin_ns, int64_t end_ns);

/* The solvers: append the stretch's segments, in order of time. */
void solve_walk(const struct stretch *stretch, struct segments *segments);
void solve_kahn(const struct stretch *stretch, struct segments *segments);

_Noreturn void die_of_cycle(const struct stretch *stretch);

/* report.c: what the forms for people and scripts have in common. */
struct share {
	int64_t ns[3];		/* by segment kind */
};

struct report {
	struct share total;
	struct share *by_location, *by_call, *by_site;
	size_t call_capacity, site_capacity;
	size_t segments, hops;	/* hops: changes of location */
	uint32_t last_location;
	struct segment longest[10];
	size_t longest_count;
	int64_t begin_ns, end_ns;
};

void report_add(struct report *report, const struct definitions *known, const struct segment *segment);
void report_text(const struct report *report, const struct definitions *known, bool all);
/* The rest of the JSON object whose array of segments has been printed. */
void report_json(const struct report *report, const struct definitions *known);
void print_segment_json(const struct segment *segment, const struct definitions *known, bool first);

#endif
