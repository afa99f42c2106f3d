/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dijkstra's search with a priority queue; it corrects labels, because the weights of a longest
 * path are negative (Korkhov et al. 2023). A member of a team empties its own queue before it
 * exchanges relaxations with the others. All end when none had any to send.
 */
#include "../../tool/heap.h"
#include "solvers.h"

#define CHEAPER(a, b) ((a)->cost_ns < (b)->cost_ns)
HEAP(heap, struct entry, CHEAPER)

void
search_dijkstra(struct search *s)
{
	do {
		heap_make(s->at, s->count);
		while (s->count > 0) {
			const struct entry entry = heap_pop(s->at, &s->count);
			const size_t before = s->count;

			if (search_is_current(s, &entry))
				search_relax(s, &entry, INT64_MIN, INT64_MAX);
			for (size_t i = before; i < s->count; i++)
				heap_up(s->at, i);
		}
	} while (search_exchange(s));
}

bool
solve_dijkstra(const struct stretch *stretch, struct segments *segments)
{
	return search_path(stretch, search_dijkstra, segments);
}
