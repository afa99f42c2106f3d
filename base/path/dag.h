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

/* The time of each vertex with weights WEIGHT_OF(CONTEXT, vertex); returns the time of the end. */
static inline int64_t
dag_evaluate(const struct dag *dag, int64_t *time_ns, int64_t (*weight_of)(const void *, uint32_t),
    const void *context)
{
	for (uint32_t i = 0; i < dag->ordered; i++) {
		const uint32_t v = dag->order[i];
		int64_t begin_ns = 0;

		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
			if (dag->source[k] != BEGIN && time_ns[dag->source[k]] > begin_ns)
				begin_ns = time_ns[dag->source[k]];
		time_ns[v] = begin_ns + weight_of(context, v);
	}
	return time_ns[dag->end];
}

enum { LANES = 4 };

/*
 * The same for several choices of weights, which share the way through the graph. The larger of two
 * times is found without a branch, which nobody could predict.
 */
static inline void
dag_evaluate_lanes(const struct dag *dag, int64_t (*time_ns)[LANES],
    void (*weights_of)(const void *, uint32_t, int64_t *), const void *context)
{
	for (uint32_t i = 0; i < dag->ordered; i++) {
		const uint32_t v = dag->order[i];
		int64_t begin_ns[LANES] = { 0 }, weight_ns[LANES];

		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++) {
			const uint32_t u = dag->source[k];

			for (int l = 0; u != BEGIN && l < LANES; l++)
				begin_ns[l] = time_ns[u][l] > begin_ns[l] ? time_ns[u][l] :
				    begin_ns[l];
		}
		weights_of(context, v, weight_ns);
		for (int l = 0; l < LANES; l++)
			time_ns[v][l] = begin_ns[l] + weight_ns[l];
	}
}

#endif
