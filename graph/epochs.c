/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * General active target synchronisation (MPI 3.1, section 11.5.2): the Nth time that a target
 * exposes an MPI window to an origin belongs to the Nth time that this origin accesses this target.
 * MPI_Win_start may wait for the MPI_Win_post, or leave it to MPI_Win_complete; MPI_Win_wait waits
 * for that. So an epoch has two edges, which go out like messages:
 *
 *	post -> start, or -> complete where start had returned before the post
 *	complete -> wait
 */
#include <stdlib.h>

#include "../base/tool/hash_table.h"
#include "graph.h"

/* The rows of one epoch of an origin and a target; NONE: not read yet. */
enum end { POSTED_BY, STARTED_BY, COMPLETED_BY, WAITED_BY, ENDS };
struct epoch {
	uint32_t win, index;		/* the Nth of the pair */
	int32_t origin, target;		/* world ranks; origin -1: free slot */
	uint32_t operations[ENDS];
	int64_t post_enter_ns, start_leave_ns;
	bool exposed, waited;		/* edges written */
};

#define HASH(e) mix((uint64_t)(e)->win << 32 | (e)->index, \
	(uint64_t)(uint32_t)(e)->origin << 32 | (uint32_t)(e)->target)
#define SAME(a, b) ((a)->win == (b)->win && (a)->index == (b)->index && \
	(a)->origin == (b)->origin && (a)->target == (b)->target)
HASH_TABLE_BY(epochs, struct epoch, HASH, SAME, origin, -1)

static void
resolve(struct graph *graph, struct epoch *e)
{
	const bool posted = e->operations[POSTED_BY] != NONE,
	    started = e->operations[STARTED_BY] != NONE;
	const bool completed = e->operations[COMPLETED_BY] != NONE;

	if (!e->exposed && posted && started) {
		bool at_start = e->post_enter_ns <= e->start_leave_ns;

		if (at_start || completed) {
			edge_add(graph, EDGE_MESSAGE, e->operations[POSTED_BY],
			    e->operations[at_start ? STARTED_BY : COMPLETED_BY]);
			e->exposed = true;
		}
	}
	if (!e->waited && completed && e->operations[WAITED_BY] != NONE) {
		edge_add(graph, EDGE_MESSAGE, e->operations[COMPLETED_BY],
		    e->operations[WAITED_BY]);
		e->waited = true;
	}
	if (!e->exposed || !e->waited)
		return;
	/* An epoch was pending across everything within it, in whatever order its ends are read. */
	for (int end = 1; end < ENDS; end++)
		crossing_mark(&graph->crossings, graph->operations[e->operations[0]].candidates,
		    graph->operations[e->operations[end]].candidates);
	for (int end = 0; end < ENDS; end++)
		operation_free(graph, e->operations[end]);
	epochs_remove(graph->epochs, e);
}

void
epoch_arrived(struct graph *graph, const struct parcel *p)
{
	const struct epoch key = { .win = p->comm, .index = p->index, .origin = p->source,
	    .target = p->target, .operations = { NONE, NONE, NONE, NONE } };
	struct epoch *e = epochs_add(&graph->epochs, &key);

	if (e->operations[p->end] != NONE)
		return;
	e->operations[p->end] = operation_of_parcel(graph, p);
	if (p->end == POSTED_BY)
		e->post_enter_ns = p->enter_ns;
	if (p->end == STARTED_BY)
		e->start_leave_ns = p->enter_ns;
	resolve(graph, e);
}

/* OPENED: the row that opened the epoch and has its number. */
static void
add_end(struct graph *graph, const struct request *opened, enum end end,
    const struct graph_row *row, int64_t time_ns)
{
	const bool exposes = opened->class == CLASS_POST;
	const int32_t opener = rank_of(graph, opened->location);

	parcel_to_target(graph, row, &(struct parcel){ .kind = PARCEL_EPOCH, .comm = opened->comm,
	    .index = opened->order, .source = exposes ? opened->peer : opener,
	    .target = exposes ? opener : opened->peer, .enter_ns = time_ns,
	    .end = (uint8_t)end });
}

void
epoch_open(struct graph *graph, const struct graph_row *row, enum call_class class)
{
	const int32_t other = world_rank(&graph->known, row->comm, row->rank, row->peer);
	const bool exposes = class == CLASS_POST;
	struct request opened = { .location = row->location, .operation = NONE, .class = class,
	    .comm = row->comm, .peer = other };

	if (other < 0)
		return;
	opened.order = count_one(graph, exposes ? COUNT_POSTS : COUNT_ACCESSES, row->comm,
	    row->rank, other);
	request_open(graph, row, opened);
	add_end(graph, &opened, exposes ? POSTED_BY : STARTED_BY, row,
	    (exposes ? row->calls->enter_ns : row->calls->leave_ns)[row->i]);
}

void
epoch_close(struct graph *graph, const struct graph_row *row, enum call_class class)
{
	struct request *found = request_find(graph, row->starter, row->start);

	if (found == NULL || (found->class != CLASS_POST && found->class != CLASS_ACCESS))
		return;
	add_end(graph, found, class == CLASS_EXPOSE_END ? WAITED_BY : COMPLETED_BY, row, 0);
	request_close(graph, found);
}

ORDER(by_pair, struct epoch, BY(win) BY(origin) BY(target) BY(index))

void
epoch_end(struct graph *graph)
{
	struct epoch *open = epochs_sorted(graph->epochs, by_pair);

	for (const struct epoch *e = open; e < open + epochs_count(graph->epochs); e++) {
		graph->counts.unmatched_sends++;
		tell(graph, -1, 0, "window %u: an epoch of rank %d at rank %d has no %s", e->win,
		    (int)e->origin, (int)e->target, e->operations[POSTED_BY] == NONE ?
		    "MPI_Win_post" : e->operations[STARTED_BY] == NONE ? "MPI_Win_start" :
		    e->operations[COMPLETED_BY] == NONE ? "MPI_Win_complete" : "MPI_Win_wait");
	}
	free(open);
}
