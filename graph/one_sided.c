/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided calls that their target may hold up (holds.c). A call for all targets waits for those
 * that its rank has accessed since it last flushed them. Memory: these targets.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "../base/tool/search.h"
#include "graph.h"

/* The targets, in order, that a location has accessed in an MPI window and not flushed since. */
struct origin {
	uint32_t win, location;		/* location NONE: free slot */
	int32_t *targets;
	size_t count, capacity;
};

HASH_TABLE_OF(origins, struct origin, win, location, location, NONE)

#define BEFORE(at, sought) (*(at) < (sought))
SEARCH(target_at, int32_t, int32_t, BEFORE)
#undef BEFORE

static void
set_accessed(struct origin *origin, int32_t target, bool accessed)
{
	const size_t at = target_at(origin->targets, origin->count, target), count = origin->count;
	const bool is = at < count && origin->targets[at] == target;

	if (is == accessed)
		return;
	GROW(origin->targets, origin->capacity, count + 1);
	memmove(origin->targets + at + accessed, origin->targets + at + is,
	    (count - at - is) * sizeof *origin->targets);
	if (accessed)
		origin->targets[at] = target;
	origin->count += accessed ? 1 : (size_t)-1;
}

void
one_sided_begin(struct graph *graph)
{
	graph->origins = zalloc(1, sizeof *graph->origins);
	origins_begin(graph->origins, 64);
}

void
one_sided_row(struct graph *graph, const struct graph_row *row)
{
	const enum one_sided_kind kind = call_one_sided(row->call);
	struct origin *origin;

	if (kind == NO_ACCESS)
		return;
	origin = origins_add(graph->origins,
	    &(struct origin){ .win = row->comm, .location = row->location });
	if (row->peer >= 0) {
		hold_row(graph, row, row->comm, row->peer, true);
		if (kind != FLUSHES_LOCALLY)
			set_accessed(origin, row->peer, kind == ACCESSES);
	} else if (kind == LOCKS_ALL || kind == UNLOCKS_ALL || kind == FLUSHES_ALL) {
		for (size_t i = 0; i < origin->count; i++)
			hold_row(graph, row, row->comm, origin->targets[i], origin->count == 1);
		origin->count = 0;
	}
}
