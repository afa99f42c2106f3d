/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank share its communicators, so MPI counts their calls in the order of time. Rows
 * of such threads wait here until all earlier ones of the rank have been read. A block's first
 * enter is not before that of the block before, so they wait for little more than the last block of
 * each thread.
 *
 * Memory: these rows.
 */
#include <stdlib.h>

#include "graph.h"

struct order {
	struct waiting_rows {
		struct calls rows;
		size_t at;		/* the first one that is not taken */
	} *of;				/* by location */
	uint32_t *next;
	uint32_t *first;		/* locations of ranks with several threads */
	size_t count, capacity;
};

uint32_t *
next_threads(const struct definitions *known)
{
	const uint32_t ranks = (uint32_t)known->ranks;
	uint32_t *next = zalloc(known->location_count, sizeof *next),
	    *last = zalloc(ranks, sizeof *last);

	for (uint32_t l = 0; l < known->location_count; l++) {
		const int32_t rank = known->location_rank[l];

		next[l] = NONE;
		if (l >= ranks && rank >= 0)
			next[last[rank]] = l;
		if (rank >= 0)
			last[rank] = l;
	}
	free(last);
	return next;
}

void
order_begin(struct graph *graph)
{
	const struct definitions *known = &graph->known;
	struct order *o;

	if (known->location_count <= (uint32_t)known->ranks)
		return;
	o = graph->order = zalloc(1, sizeof *o);
	o->of = zalloc(known->location_count, sizeof *o->of);
	o->next = next_threads(known);
	for (uint32_t l = 0; l < (uint32_t)known->ranks; l++)
		if (o->next[l] != NONE)
			*APPEND(o->first, o->count, o->capacity) = l;
}

bool
order_keep(struct graph *graph, const struct calls *calls)
{
	struct order *o = graph->order;
	struct waiting_rows *w = o != NULL ? &o->of[calls->location] : NULL;

	if (w == NULL || !is_one_of_several(o->next, &graph->known, calls->location))
		return false;
	w->rows.location = calls->location;
	need_memory(calls_append(&w->rows, calls));
	return true;
}

static int64_t
next_ns(const struct waiting_rows *w)
{
	return w->at < w->rows.count ? w->rows.enter_ns[w->at] : INT64_MAX;
}

/* Takes rows of the location with the earliest one, up to the next one of another. False: none. */
static bool
take_next(struct graph *graph, uint32_t first, int64_t until_ns)
{
	struct waiting_rows *of = graph->order->of, *w;
	const uint32_t *next = graph->order->next;
	uint32_t best = first;
	size_t from;

	for (uint32_t l = next[first]; l != NONE; l = next[l])
		if (next_ns(&of[l]) < next_ns(&of[best]))
			best = l;
	w = &of[best];
	if (next_ns(w) >= until_ns)
		return false;
	for (uint32_t l = first; l != NONE; l = next[l])
		if (l != best && next_ns(&of[l]) < until_ns)
			until_ns = next_ns(&of[l]);
	from = w->at++;
	while (w->at < w->rows.count && (w->rows.call[w->at] == 0 || next_ns(w) < until_ns))
		w->at++;
	take_rows(graph, &w->rows, from, w->at);
	if (2 * w->at > w->rows.count) {
		calls_drop(&w->rows, w->at);
		w->at = 0;
	}
	return true;
}

void
order_take(struct graph *graph, int64_t until_ns)
{
	const struct order *o = graph->order;

	for (size_t i = 0; o != NULL && i < o->count; i++)
		while (take_next(graph, o->first[i], until_ns))
			;
}
