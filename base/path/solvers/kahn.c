/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kahn's topological order with dynamic programming: the reference for the other solvers. It visits
 * all vertices and edges of the graph. Memory: for each event 20 bytes of the graph and 28 here.
 */
#include <stdlib.h>

#include "solvers.h"

struct onward {			/* the edges that lead out of vertices, and how many lead in */
	uint64_t *out;		/* to[out[v]] to to[out[v + 1] - 1] */
	uint32_t *to, *left;
};

static void
turn_around(const struct dag *dag, struct onward *onward)
{
	uint64_t *next;

	onward->out = zalloc((size_t)dag->vertices + 2, sizeof *onward->out);
	onward->to = zalloc(dag->source_count, sizeof *onward->to);
	onward->left = zalloc(dag->vertices, sizeof *onward->left);
	next = onward->out + 1;		/* while filling, out is one entry ahead */
	for (uint32_t v = 0; v < dag->vertices; v++)
		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
			if (dag->source[k] != BEGIN) {
				next[dag->source[k] + 1]++;
				onward->left[v]++;
			}
	for (uint32_t v = 0; v < dag->vertices; v++)
		next[v + 1] += next[v];
	for (uint32_t v = 0; v < dag->vertices; v++)
		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
			if (dag->source[k] != BEGIN)
				onward->to[next[dag->source[k]]++] = v;
}

int64_t *
kahn_longest(const struct dag *dag)
{
	int64_t *to_ns = zalloc(dag->vertices, sizeof *to_ns);
	uint32_t *ready = zalloc(dag->vertices, sizeof *ready);
	struct onward onward;
	size_t head = 0, tail = 0;

	turn_around(dag, &onward);
	for (uint32_t v = 0; v < dag->vertices; v++)
		if (onward.left[v] == 0)
			ready[tail++] = v;
	while (head < tail) {
		uint32_t u = ready[head++];

		to_ns[u] += dag->weight_ns[u];
		for (uint64_t k = onward.out[u]; k < onward.out[u + 1]; k++) {
			uint32_t v = onward.to[k];

			if (to_ns[u] > to_ns[v])
				to_ns[v] = to_ns[u];
			if (--onward.left[v] == 0)
				ready[tail++] = v;
		}
	}
	if (onward.left[dag->end] > 0) {
		free(to_ns);
		to_ns = NULL;
	}
	free(onward.out);
	free(onward.to);
	free(onward.left);
	free(ready);
	return to_ns;
}

bool
solve_kahn(const struct stretch *stretch, struct segments *segments)
{
	struct dag dag;
	struct dag_edges e;
	uint32_t *way;
	int64_t *to_ns;

	dag_of_path(&dag, stretch, true);
	if ((to_ns = kahn_longest(&dag)) != NULL) {
		way = zalloc(dag.vertices, sizeof *way);
		for (size_t n = dag_follow(&dag, to_ns, way); n-- > 0;) {
			dag_find_edge(&dag, way[n], &e);
			add_piece(segments, stretch, e.one != BEGIN ? &e.before : NULL, e.before_ns,
			    numbering_event(&dag.numbering, way[n]));
		}
		free(way);
	}
	dag_close(&dag);
	free(to_ns);
	return to_ns != NULL;
}
