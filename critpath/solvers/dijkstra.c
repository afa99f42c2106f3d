/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dijkstra's search with a priority queue, label-correcting since the weights are those of a
 * longest path (Korkhov et al. 2023 negate them). A member of a team works off its own queue before
 * it exchanges relaxations with the others; all end when nobody had any to send.
 */
#include <stdlib.h>

#include "../../base/tool/heap.h"
#include "search.h"

#define LONGER(a, b) ((a)->distance_ns > (b)->distance_ns)
HEAP(heap, struct entry, LONGER)

static void
take_improved(struct search *search, struct entries *heap)
{
	while (search->improved.count > 0) {
		add_entry(heap, search->improved.at[--search->improved.count]);
		heap_up(heap->at, heap->count - 1);
	}
}

bool
solve_dijkstra(const struct stretch *stretch, struct segments *segments)
{
	struct search search;
	struct entries heap = { 0 };

	search_open(&search, stretch);
	do {
		for (take_improved(&search, &heap); heap.count > 0; take_improved(&search, &heap)) {
			struct entry entry = heap_pop(heap.at, &heap.count);

			if (search_is_current(&search, &entry))
				search_relax(&search, &entry, INT64_MIN, INT64_MAX);
		}
	} while (search_exchange(&search));
	free(heap.at);
	return search_finish(&search, segments);
}
