/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replays the trace so that every event comes after those that it depends on, whatever the clocks
 * say. lp-graph does the matching: this process writes it the trace as corrected so far, and reads
 * the graph back. That takes up to five passes, each with new corrections, so it cannot be a pipe
 * before lp-merge. Memory: rows that lp-graph has not settled, and messages in flight.
 */
#ifndef ORDER_H
#define ORDER_H

#include "../base/run/collective.h"
#include "../base/run/graph_input.h"
#include "merge.h"

enum { NONE = 0 };		/* no source, no node */

/* An event that others wait for: the enter of a send or of a member of a collective. */
struct sender {
	uint32_t next;		/* of the node's sources */
	uint32_t node, next_of_row;
	uint32_t location;
	uint64_t event;
	int64_t at_ns;
};

/*
 * Receives wait for all sources of a node, and for the earlier node in its chain. A node keeps the
 * latest enter, and the latest one of any other location, since no location waits for itself.
 */
struct node {
	uint32_t sources;
	uint32_t pending;	/* sources to come, and the earlier node */
	uint32_t users;		/* calls that wait for it and have not left; the later node */
	uint32_t earlier, later;	/* chained: the node it needs, and the one that needs it */
	uint32_t blocked;	/* 1 + first of the locations that wait here, as a list; 0: none */
	uint32_t latest_location;	/* of a message: of its send */
	int64_t latest_ns, second_ns;
	int64_t limit_ns;	/* for the visitor */
	bool message;		/* of one source and one receive */
};

/* The instant at which all others that this location waits for in the node have entered. */
static inline int64_t
node_ready_ns(const struct node *node, uint32_t location)
{
	return node->latest_location == location ? node->second_ns : node->latest_ns;
}

struct visitor {
	struct latencies *latencies;
	struct shift *shifts;	/* by location: their jumps move enters; NULL: nothing is moved */
	bool tell;		/* notes go to standard error, for one trace only */
	/* A call that waited for the node leaves. */
	void (*leave)(const struct visitor *visitor, uint32_t location, uint64_t event,
	    int64_t at_ns, struct node *node);
	/* All calls that waited for the node have left; the pool has its sources. NULL: ignored. */
	void (*done)(const struct visitor *visitor, const struct node *node,
	    const struct sender *sources);
};

/*
 * Times are since the origin. Returns the number of calls that left before their node was ready,
 * because calls wait for each other in a circle.
 */
uint64_t replay(struct input *input, const struct visitor *visitor);

/* ---- nodes.c: matches, between enters and the leaves that wait ----------------------- */

/* A node that a row waits for. */
struct wait {
	uint32_t next;		/* of the row, or of the location's open ones */
	uint32_t node;
	uint64_t start;		/* row that started the collective, for an open one */
};

struct event_row {
	struct row row;
	uint32_t sources, waits;
	uint64_t bytes_sent, bytes_received;
};

/* Items numbered from 1, used again when free; the first four bytes link the free ones. */
struct pool {
	char *items;
	size_t bytes, count, capacity;
	uint32_t free;
};

struct nodes {
	struct pool nodes, sources, waits;
	struct needs needs;	/* of one collective */
	struct member *members;
	size_t member_capacity;
};

void nodes_begin(struct nodes *nodes);
void nodes_end(struct nodes *nodes);

/*
 * Fills facts of the rows just read into the window's rows, or makes nodes of the edges just read:
 * the window's rows get their sources and waits.
 */
void nodes_take(struct nodes *nodes, const struct graph_input *graph, enum graph_item item);

/* A source of the node enters. */
void node_enter(struct node *node, uint32_t location, int64_t at_ns);

void pool_give(struct pool *pool, uint32_t number);

static inline void *
pool_item(const struct pool *pool, uint32_t number)
{
	return pool->items + number * pool->bytes;
}

static inline struct node *
node_at(const struct nodes *nodes, uint32_t number)
{
	return pool_item(&nodes->nodes, number);
}

/* ---- latency.c ----------------------------------------------------------------------- */

struct latencies {
	struct input *input;
	struct pairs *pairs;
	/* by rank: receives and members of collectives that end too early */
	uint64_t *reversed;
	uint64_t reversed_count;	/* of all ranks */
	int64_t least_ns;		/* of all pairs of clocks; 0: no messages */
};

/* Measures the trace as corrected so far; TELL: notes calls that wait in a circle. */
void latencies_find(struct latencies *latencies, struct input *input, bool tell);
void latencies_free(struct latencies *latencies);
/* A lower bound for the time that the node's messages take to the location. */
int64_t latency_ns(const struct latencies *latencies, uint32_t location, const struct node *node);

/* ---- clc.c --------------------------------------------------------------------------- */

/*
 * What the controlled logical clock adds to the times of a location, beyond the correction of its
 * clock: the larger of two functions of the location's events. Enter and leave of the call that
 * begins in row seq are events 2 seq and 2 seq + 1; so events at one instant still have an order.
 *
 * forward	jumps where a receive has to end later than it seems, then falls at SHIFT_RATE
 * ramp		rises at SHIFT_RATE towards a jump, more steeply behind a limit: an event that must
 *		not move further, for then another rank's receive would be too early
 */
enum { SHIFT_RATE = 100 };	/* ns in which a shift changes by one: 1 % */

struct shift_knot {
	uint64_t event;
	int64_t at_ns;		/* before the shift, since the origin */
	int64_t shift_ns;
	bool limit;
};

struct shift_knots {
	struct shift_knot *at;	/* in order of events */
	size_t count, capacity;
};

struct shift {		/* of a location */
	struct shift_knots jumps, ramps, limits;
};

/* Both functions; and the first one alone. Times since the origin. */
int64_t shift_ns(const struct shift *shift, uint64_t event, int64_t at_ns);
int64_t forward_shift_ns(const struct shift *shift, uint64_t event, int64_t at_ns);

#endif
