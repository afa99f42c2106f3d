/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stretch as a graph for solvers: vertices, and the vertices that each one needs.
 *
 * An activity ends in each event: the computation before a call in its enter, the call in its
 * leave. The path's graph has the one edge into each event that stretch.h describes. A member of a
 * team has the vertices of its own events, and finds their edges when it needs them. A tool may
 * make another graph with more edges and other weights (gain/needs.c), with vertices of its own
 * after the events.
 */
#ifndef DAG_H
#define DAG_H

#include "stretch.h"

/* Numbers for the events of some locations, by location, then row: enter 2i, leave 2i + 1. */
struct numbering {
	const struct stretch *stretch;
	uint64_t *base;		/* by location: number of rows before its first; and at the end */
};

/* For own locations, if the stretch is shared, else for all. */
void numbering_open(struct numbering *numbering, const struct stretch *stretch);
struct event numbering_event(const struct numbering *numbering, uint64_t number);

static inline uint64_t
numbering_of(const struct numbering *numbering, struct event event)
{
	return 2 * (numbering->base[event.location] +
	    (event.seq - numbering->stretch->first_seq[event.location])) + event.leave;
}

enum {
	BEGIN = UINT32_MAX,		/* in place of a source: the beginning of the stretch */
	ELSEWHERE = UINT32_MAX - 1,	/* an event of another member of the team */
};

struct dag {
	const struct stretch *stretch;
	struct numbering numbering;	/* of the first vertices, the events */
	uint32_t events, vertices, end;	/* END may be ELSEWHERE */
	int64_t *weight_ns;		/* of the activity that ends in each vertex */
	uint64_t *in;			/* sources: source[in[v]] to before in[v + 1]; or NULL */
	uint32_t *source;
	size_t source_count, source_capacity;
	int64_t *time_ns;		/* since the stretch began; NULL in the path's graph */
	uint32_t *order;		/* vertices with a way to the end, sources first; or NULL */
	uint32_t ordered;
};

/* The edges into a vertex. */
struct dag_edges {
	const uint32_t *source;
	size_t count;
	int64_t weight_ns;
	uint32_t one;			/* in the path's graph: the source */
	struct event before;		/* its event, unless it is BEGIN */
	int64_t before_ns;
};

/* The path's graph; WHOLE: with all its edges. */
void dag_of_path(struct dag *dag, const struct stretch *stretch, bool whole);
void dag_close(struct dag *dag);
/* The edge into an event of the path's graph. */
void dag_find_edge(const struct dag *dag, uint32_t vertex, struct dag_edges *edges);

/* Adds a source of the current vertex; vertices get their sources in the order of their numbers. */
static inline void
dag_add_source(struct dag *dag, uint32_t source)
{
	*APPEND(dag->source, dag->source_count, dag->source_capacity) = source;
}

static inline void
dag_edges(const struct dag *dag, uint32_t vertex, struct dag_edges *edges)
{
	if (dag->in == NULL) {
		dag_find_edge(dag, vertex, edges);
		return;
	}
	edges->source = dag->source + dag->in[vertex];
	edges->count = (size_t)(dag->in[vertex + 1] - dag->in[vertex]);
	edges->weight_ns = dag->weight_ns[vertex];
}

/*
 * The longest way, from the end back along labels (the longest way to each vertex, including the
 * vertex). Of several longest ways the one with the lowest vertices. AT has room for all vertices;
 * returns the number on the way.
 */
size_t dag_follow(const struct dag *dag, const int64_t *to_ns, uint32_t *at);

#endif
