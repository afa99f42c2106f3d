/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dijkstra's search with a priority queue, label-correcting since the weights are those of a
 * longest path (Korkhov et al. 2023 negate them). A member of a team works off its own queue before
 * it exchanges relaxations with the others; all end when nobody had any to send.
 */
#include <stdlib.h>

#include "search.h"

/* The queue is a binary heap, longest distance first. */
static void
heap_push(struct entries *heap, struct entry entry)
{
	size_t i = heap->count;

	add_entry(heap, entry);
	for (; i > 0 && heap->at[(i - 1) / 2].distance_ns < entry.distance_ns; i = (i - 1) / 2)
		heap->at[i] = heap->at[(i - 1) / 2];
	heap->at[i] = entry;
}

static struct entry
heap_pop(struct entries *heap)
{
	struct entry top = heap->at[0], last = heap->at[--heap->count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    heap->at[child + 1].distance_ns > heap->at[child].distance_ns)
			child++;
		if (heap->at[child].distance_ns <= last.distance_ns)
			break;
		heap->at[i] = heap->at[child];
		i = child;
	}
	heap->at[i] = last;
	return top;
}

static void
take_improved(struct search *search, struct entries *heap)
{
	while (search->improved.count > 0)
		heap_push(heap, search->improved.at[--search->improved.count]);
}

bool
solve_dijkstra(const struct stretch *stretch, struct segments *segments)
{
	struct search search;
	struct entries heap = { 0 };

	search_open(&search, stretch);
	do {
		for (take_improved(&search, &heap); heap.count > 0; take_improved(&search, &heap)) {
			struct entry entry = heap_pop(&heap);

			if (search_is_current(&search, &entry))
				search_relax(&search, &entry, INT64_MIN, INT64_MAX);
		}
	} while (search_exchange(&search));
	free(heap.at);
	return search_finish(&search, segments);
}
