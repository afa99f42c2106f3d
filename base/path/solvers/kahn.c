/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kahn's topological order with dynamic programming: the reference for the other solvers. It visits
 * all vertices and edges of the graph. Memory: for each event 20 bytes of the graph and 28 here.
 */
#include "solvers.h"

int64_t *
kahn_longest(const struct dag *dag)
{
	int64_t *to_ns = zalloc(dag->vertices, sizeof *to_ns);
	uint32_t *ready = zalloc(dag->vertices, sizeof *ready);
	/* the edges that lead out of vertices, to[out[v]] to before to[out[v + 1]] */
	uint64_t *out = zalloc((size_t)dag->vertices + 2, sizeof *out);
	uint64_t *next = out + 1;	/* while filling, out is one entry ahead */
	uint32_t *to = zalloc(dag->source_count, sizeof *to);
	uint32_t *left = zalloc(dag->vertices, sizeof *left);	/* edges that lead in */
	size_t head = 0, tail = 0;

	for (uint32_t v = 0; v < dag->vertices; v++)
		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
			if (dag->source[k] != BEGIN) {
				next[dag->source[k] + 1]++;
				left[v]++;
			}
	for (uint32_t v = 0; v < dag->vertices; v++)
		next[v + 1] += next[v];
	for (uint32_t v = 0; v < dag->vertices; v++) {
		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
			if (dag->source[k] != BEGIN)
				to[next[dag->source[k]]++] = v;
		if (left[v] == 0)
			ready[tail++] = v;
	}
	while (head < tail) {
		const uint32_t u = ready[head++];

		to_ns[u] += dag->weight_ns[u];
		for (uint64_t k = out[u]; k < out[u + 1]; k++) {
			const uint32_t v = to[k];

			if (to_ns[u] > to_ns[v])
				to_ns[v] = to_ns[u];
			if (--left[v] == 0)
				ready[tail++] = v;
		}
	}
	if (left[dag->end] > 0) {
		free(to_ns);
		to_ns = NULL;
	}
	free(out);
	free(to);
	free(left);
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
