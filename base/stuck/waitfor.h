/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wait-for graph of a look. A rank comes when one of its threads goes on; a thread in a call
 * waits for the ranks that its messages come from or go to, or for a hub: several members of a
 * communicator.
 */
#ifndef WAITFOR_H
#define WAITFOR_H

#include "solve.h"
#include "look.h"

enum hub_rule {
	HUB_ANY,		/* one member of a side will do */
	HUB_ALL,		/* all members of a side that have not called the collective */
	HUB_BEFORE,		/* those before a rank in the communicator */
	HUB_SOURCES,		/* the neighbours that a rank receives from */
	HUB_HOLDERS,		/* one of those that hold a lock of a window */
};
enum { BOTH_SIDES = 2 };

struct hub {
	enum hub_rule rule;
	uint32_t group, collective;
	int side;
	int32_t of;		/* HUB_BEFORE: rank in the communicator; else a world rank */
	int32_t target;		/* HUB_HOLDERS: whose part of the window, a rank in it */
};

struct graph {
	struct look *look;
	/* MPI demands no more of many calls than what the rest waits for; whether what an
	 * implementation may wait for beyond that counts, too */
	bool may;
	struct solve s;
	uint32_t threads;	/* first node behind those */
	struct hub *hubs;
	size_t hub_count, hub_capacity;
	struct hub missing;		/* of the last collective asked for: first_missing() */
};

/* Of the calls that find_ops has found. OVER: no process lives. */
void graph_build(struct graph *g, bool over);
void graph_free(struct graph *g);
/* Marks the ranks that somebody waits for. */
void graph_mark_awaited(const struct graph *g);

#endif
