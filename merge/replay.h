/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace once more, matched, with every event behind those that it depends on, whatever the
 * clocks say. lp-graph does the matching: this process writes the trace as corrected so far to it,
 * and reads back what it found. Memory: what lp-graph has not settled, and messages in flight.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "merge.h"
#include "shift.h"

enum { NONE = 0 };		/* no source, no node */

/* An event that others depend on: the enter of a send or of a member of a collective. */
struct source {
	uint32_t next;		/* of the node's sources */
	uint32_t node, next_of_row;
	uint32_t location;
	uint64_t event;
	int64_t at_ns;
};

/*
 * What receives wait for: all sources, and all of the node that it is chained to. The latest enter
 * and the latest but one of another location are kept, since nobody waits for itself.
 */
struct node {
	uint32_t sources;
	uint32_t pending;	/* sources to come, and the earlier node */
	uint32_t users;		/* calls that wait for it and have not left; the later node */
	uint32_t earlier, later;	/* chained: it needs, and is needed */
	uint32_t blocked;	/* 1 + a location that stands at it, which names the next; 0: no more */
	uint32_t latest_location;
	int64_t latest_ns, second_ns;
	int64_t limit_ns;	/* for the visitor */
	bool message;		/* of one source and one receive */
};

/* When the others that this location waits for in the node have entered. */
static inline int64_t
node_ready_ns(const struct node *node, uint32_t location)
{
	return node->latest_location == location ? node->second_ns : node->latest_ns;
}

struct visitor {
	void *context;
	bool tell;		/* notes on standard error, once a trace is enough */
	/* The time of an event that others depend on. */
	int64_t (*enter)(void *context, const struct source *source);
	/* A call leaves that had to wait for the node; SOURCES is the pool that the node's are in. */
	void (*leave)(void *context, uint32_t location, uint64_t event, int64_t at_ns,
	    struct node *node, const struct source *sources);
	/* All calls that waited for the node have left. NULL: not of interest. */
	void (*done)(void *context, const struct node *node, const struct source *sources);
};

/*
 * Times are since the origin. Returns how many calls left before a node was ready because they and
 * others wait for each other in a circle.
 */
uint64_t replay(struct input *input, const struct visitor *visitor);

#endif
