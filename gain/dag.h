/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stretch as a graph in which durations can be changed: what would happen if.
 *
 * An activity ends in each event: the computation before a call in its enter, the call in its leave.
 * An activity begins when all that it needs is there, and lasts as long as it did: a call needs
 * its own enter and the enters of those that it may wait for, and lasts from the last of them to its
 * leave. So unlike in stretch.h the graph has the edges that did not block, too, and no waiting in
 * its weights. A send needs its receive only where it was seen to wait for it. What waits for
 * the last of many needs a hub, an event without duration, so edges grow with members only.
 * Memory: about 100 bytes a row.
 */
#ifndef DAG_H
#define DAG_H

#include "../base/path/run.h"

struct dag {
	const struct stretch *stretch;
	struct numbering numbering;	/* of the first vertices; hubs and the end come behind */
	uint32_t events, vertices, end;
	int64_t *time_ns;		/* by vertex: since the beginning of the stretch */
	int64_t *weight_ns;		/* of the activity that ends in it */
	uint64_t *in;			/* its sources are source[in[v]] to before in[v + 1] */
	uint32_t *source;		/* BEGIN: the beginning of the stretch */
	size_t source_count, source_capacity;
	uint32_t *order;		/* those with a way to the end, sources first */
	uint32_t ordered;
};

enum { BEGIN = UINT32_MAX };

void dag_open(struct dag *dag, const struct stretch *stretch, const struct instances *instances,
    const struct definitions *known);
void dag_close(struct dag *dag);

/* What a way that comes FROM a vertex, or BEGIN, shows of the activity that ends in VERTEX, an event, at END_NS. */
struct segment dag_piece(const struct dag *dag, uint32_t from, uint32_t vertex, int64_t end_ns);

/* The row that a vertex below dag->events belongs to. */
static inline const struct row *
dag_row(const struct dag *dag, uint32_t vertex)
{
	struct event event = numbering_event(&dag->numbering, vertex);

	return window_row(dag->stretch->window, event.location, event.seq);
}

#endif
