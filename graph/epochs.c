/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * General active target synchronisation (MPI 3.1, section 11.5.2): the Nth time that a target exposes
 * an MPI window to an origin belongs to the Nth time that this origin accesses this target. MPI_Win_start
 * may wait for the MPI_Win_post, or leave it to MPI_Win_complete; MPI_Win_wait waits for that. So an
 * epoch has two edges, which go out like messages:
 *
 *	post -> start, or -> complete where start had returned before the post
 *	complete -> wait
 */
#include <stdlib.h>

#include "../base/tool/hash_table.h"
#include "exchange.h"

/* The rows of one epoch of an origin and a target; NONE: not read yet. */
enum end { POSTED_BY, STARTED_BY, COMPLETED_BY, WAITED_BY, ENDS };
struct epoch {
	uint32_t win, index;		/* the Nth of the pair */
	int32_t origin, target;		/* world ranks; origin -1: free slot */
	uint32_t operations[ENDS];
	int64_t post_enter_ns, start_leave_ns;
	bool exposed, waited;		/* edges gone out */
};

#define HASH(e) mix((uint64_t)(e)->win << 32 | (e)->index, \
	(uint64_t)(uint32_t)(e)->origin << 32 | (uint32_t)(e)->target)
#define SAME(a, b) ((a)->win == (b)->win && (a)->index == (b)->index && \
	(a)->origin == (b)->origin && (a)->target == (b)->target)
#define FREE(e) ((e)->origin < 0)
#define MAKE_FREE(e) ((e)->origin = -1)
HASH_TABLE(epochs, struct epoch, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))
#undef HASH
#undef SAME
#undef FREE
#undef MAKE_FREE

/* How many epochs of a pair there were, on either side. */
struct pair {
	uint32_t win;
	int32_t origin, target;		/* origin -1: free slot */
	uint32_t posts, starts;
};
#define HASH(p) mix((p)->win, (uint64_t)(uint32_t)(p)->origin << 32 | (uint32_t)(p)->target)
#define SAME(a, b) ((a)->win == (b)->win && (a)->origin == (b)->origin && \
	(a)->target == (b)->target)
#define FREE(p) ((p)->origin < 0)
#define MAKE_FREE(p) ((p)->origin = -1)
HASH_TABLE(pairs, struct pair, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))
#undef HASH
#undef SAME
#undef FREE
#undef MAKE_FREE

/* Which epoch a row opened, for the row that ends it. */
struct opened {
	uint64_t seq;
	uint32_t location;		/* NONE: free slot */
	struct epoch key;
};
#define HASH(o) mix((o)->location, (o)->seq)
#define SAME(a, b) ((a)->location == (b)->location && (a)->seq == (b)->seq)
#define FREE(o) ((o)->location == NONE)
#define MAKE_FREE(o) ((o)->location = NONE)
HASH_TABLE(openings, struct opened, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

struct active_targets {
	struct epochs epochs;
	struct pairs pairs;
	struct openings openings;
};

void
epoch_begin(struct graph *graph)
{
	graph->active = zalloc(1, sizeof *graph->active);
	epochs_begin(&graph->active->epochs, 64);
	pairs_begin(&graph->active->pairs, 64);
	openings_begin(&graph->active->openings, 64);
}

static void
edge(struct graph *graph, const struct epoch *e, enum end from, enum end to)
{
	const struct operation *a = &graph->operations[e->operations[from]];
	const struct operation *b = &graph->operations[e->operations[to]];

	edge_message(graph, a->location, a->seq, b->location, b->seq);
	collective_crossed(graph, a->candidates, b->candidates);
}

static void
resolve(struct graph *graph, struct epoch *e)
{
	const bool posted = e->operations[POSTED_BY] != NONE, started = e->operations[STARTED_BY] != NONE;
	const bool completed = e->operations[COMPLETED_BY] != NONE;

	if (!e->exposed && posted && started) {
		bool at_start = e->post_enter_ns <= e->start_leave_ns;

		if (at_start || completed) {
			edge(graph, e, POSTED_BY, at_start ? STARTED_BY : COMPLETED_BY);
			e->exposed = true;
		}
	}
	if (!e->waited && completed && e->operations[WAITED_BY] != NONE) {
		edge(graph, e, COMPLETED_BY, WAITED_BY);
		e->waited = true;
	}
	if (!e->exposed || !e->waited)
		return;
	/* As long as it lasted it was pending across what lies within it, whenever the ends are read. */
	for (int end = 1; end < ENDS; end++)
		collective_crossed(graph, graph->operations[e->operations[0]].candidates,
		    graph->operations[e->operations[end]].candidates);
	for (int end = 0; end < ENDS; end++)
		operation_free(graph, e->operations[end]);
	epochs_remove(&graph->active->epochs, e);
}

void
epoch_arrived(struct graph *graph, const struct parcel *p)
{
	const struct epoch key = { .win = p->comm, .index = p->index, .origin = p->source, .target = p->target,
	    .operations = { NONE, NONE, NONE, NONE } };
	struct epoch *e = epochs_add(&graph->active->epochs, &key);

	if (e->operations[p->end] != NONE)
		return;
	e->operations[p->end] = operation_new(graph, p->location, p->seq, p->call);
	graph->operations[e->operations[p->end]].candidates = p->candidates;
	operation_list(graph, e->operations[p->end]);
	if (p->end == POSTED_BY)
		e->post_enter_ns = p->enter_ns;
	if (p->end == STARTED_BY)
		e->start_leave_ns = p->enter_ns;
	resolve(graph, e);
}

static void
add_end(struct graph *graph, const struct epoch *key, enum end end, uint32_t location, uint64_t seq,
    uint16_t call, int64_t time_ns)
{
	const struct parcel parcel = { .seq = seq, .location = location, .comm = key->win, .index = key->index,
	    .source = key->origin, .target = key->target, .enter_ns = time_ns, .call = call,
	    .candidates = graph->locations[location].candidates, .kind = PARCEL_EPOCH, .end = (uint8_t)end };

	if (is_away(graph, key->target))
		exchange_post(graph, graph->exchange->of[key->target], parcel);
	else
		epoch_arrived(graph, &parcel);
}

void
epoch_open(struct graph *graph, uint32_t location, uint64_t seq, const struct calls *row, size_t i,
    uint16_t call, bool exposes)
{
	const int32_t rank = rank_of(graph, location);
	const int32_t other = world_rank(&graph->known, row->comm[i], rank, row->peer[i]);
	struct pair key = { .win = row->comm[i], .origin = exposes ? other : rank,
	    .target = exposes ? rank : other }, *pair;
	struct opened opened = { .seq = seq, .location = location };

	if (other < 0)
		return;
	pair = pairs_add(&graph->active->pairs, &key);
	opened.key = (struct epoch){ .win = key.win, .origin = key.origin, .target = key.target,
	    .index = exposes ? pair->posts++ : pair->starts++, .operations = { NONE, NONE, NONE, NONE } };
	openings_add(&graph->active->openings, &opened);
	add_end(graph, &opened.key, exposes ? POSTED_BY : STARTED_BY, location, seq, call,
	    exposes ? row->enter_ns[i] : row->leave_ns[i]);
}

void
epoch_close(struct graph *graph, uint32_t opener, uint64_t opening, uint32_t location, uint64_t seq,
    uint16_t call, bool exposes)
{
	struct opened key = { .seq = opening, .location = opener }, *found, opened;

	if ((found = openings_find(&graph->active->openings, &key)) == NULL)
		return;
	opened = *found;
	openings_remove(&graph->active->openings, found);
	add_end(graph, &opened.key, exposes ? WAITED_BY : COMPLETED_BY, location, seq, call, 0);
}

void
epoch_end(struct graph *graph)
{
	const struct epochs *all = &graph->active->epochs;

	for (size_t i = 0; i < all->size; i++) {
		const struct epoch *e = &all->slots[i];

		if (e->origin < 0)
			continue;
		graph->counts.unmatched_sends++;
		tell(graph, "window %u: an epoch of rank %d at rank %d has no %s", e->win,
		    (int)e->origin, (int)e->target, e->operations[POSTED_BY] == NONE ? "MPI_Win_post" :
		    e->operations[STARTED_BY] == NONE ? "MPI_Win_start" :
		    e->operations[COMPLETED_BY] == NONE ? "MPI_Win_complete" : "MPI_Win_wait");
	}
}
