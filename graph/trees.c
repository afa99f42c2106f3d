/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions of started collectives that wait for a member which MPI does not let them wait for:
 * libraries pass data on in trees. The times show that (base/run/collective.h), but no row of the
 * completion's rank names the others. So the edge leads
 *
 *	from the start of the member that was waited for
 *	-> to the completion that waited
 *
 * Only broadcasts, reductions to a root and scans need it: in the others all wait for all. Memory:
 * the starts and ends of such collectives that some member has not completed.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/run/collective.h"
#include "../base/tool/hash_table.h"
#include "../base/tool/search.h"
#include "graph.h"

struct tree_row { struct row row; uint32_t operation; int32_t rank; };

struct tree {
	uint32_t comm, order, index;	/* key, as of a parcel; comm NONE: free slot */
	uint32_t size, started, ended;
	struct tree_row *starts, *ends;	/* as they come; a member has one of each */
};

#define HASH(t) mix((uint64_t)(t)->order << 32 | (t)->comm, (t)->index)
#define SAME(a, b) ((a)->comm == (b)->comm && (a)->order == (b)->order && (a)->index == (b)->index)
HASH_TABLE_BY(trees, struct tree, HASH, SAME, comm, NONE)

void
tree_open(struct graph *graph, const struct graph_row *row, struct parcel *start)
{
	const enum call_class class = call_class(row->call);

	if (!is_collective_start(class) || !passes_on(blocking_class(class)))
		return;
	start->in_tree = true;
	start->has_data = row->calls->bytes_sent[row->i] > 0 ||
	    row->calls->bytes_received[row->i] > 0;
	request_open(graph, row, (struct request){ .operation = NONE, .class = class,
	    .comm = start->comm, .order = start->order, .starts = start->index });
}

bool
tree_close(struct graph *graph, const struct graph_row *row, struct request *start)
{
	struct parcel end = { .kind = PARCEL_TREE_END, .comm = start->comm,
	    .order = start->order, .index = start->starts };

	if (!is_collective_start(start->class))
		return false;
	if (row->calls != NULL) {
		end.enter_ns = row->calls->enter_ns[row->i];
		end.leave_ns = row->calls->leave_ns[row->i];
	}
	request_close(graph, start);
	parcel_post(graph, row, collective_shard(graph, &end), &end);
	return true;
}

/* Some times are not known: 0, at which nobody waits. */
static void
add_row(struct graph *graph, struct tree_row *to, const struct parcel *p)
{
	*to = (struct tree_row){ .operation = operation_of_parcel(graph, p),
	    .rank = rank_of(graph, p->location), .row = { .enter_ns = p->enter_ns,
	    .leave_ns = p->leave_ns, .comm = p->comm, .peer = p->source, .call = p->call,
	    .sent = p->has_data, .received = p->has_data } };
}

void
tree_started(struct graph *graph, const struct parcel *p, uint32_t size)
{
	struct tree *tree = trees_add(&graph->trees, &(struct tree){ .comm = p->comm,
	    .order = p->order, .index = p->index });

	if (tree->started == tree->size && tree->size > 0)
		return;		/* of a rank that is no member */
	if (tree->started == 0) {
		tree->size = size;
		tree->starts = zalloc(size, sizeof *tree->starts);
		tree->ends = zalloc(size, sizeof *tree->ends);
	}
	add_row(graph, &tree->starts[tree->started++], p);
}

/* The edges of those whom another one made wait than the member that MPI lets them wait for. */
static void
add_edges(struct graph *graph, const struct tree *tree)
{
	struct member *members = zalloc(tree->size, sizeof *members);
	struct row *ends = zalloc(tree->size, sizeof *ends);
	uint32_t *needed = zalloc(tree->size, sizeof *needed);
	const uint32_t *waits_for;
	struct needs needs = { 0 };

	for (uint32_t i = 0; i < tree->size; i++) {
		const struct operation *start = &graph->operations[tree->starts[i].operation];

		members[i] = (struct member){ start->location, start->seq, &tree->starts[i].row };
		ends[i] = tree->ends[i].row;
	}
	memcpy(needed, collective_waits(&needs, &graph->known, members, tree->size),
	    tree->size * sizeof *needed);
	needs.ends = ends;
	waits_for = collective_waits(&needs, &graph->known, members, tree->size);
	for (uint32_t i = 0; i < tree->size; i++)
		if (waits_for[i] != needed[i])
			edge_add(graph, EDGE_HOLD, tree->starts[waits_for[i]].operation,
			    tree->ends[i].operation);
	needs_free(&needs);
	free(needed);
	free(ends);
	free(members);
}

static void
forget(struct graph *graph, const struct tree *tree)
{
	for (uint32_t i = 0; i < tree->started; i++)
		operation_free(graph, tree->starts[i].operation);
	for (uint32_t i = 0; i < tree->ended; i++)
		operation_free(graph, tree->ends[i].operation);
	free(tree->starts);
	free(tree->ends);
}

ORDER(by_rank, struct tree_row, BY(rank))

void
tree_ended(struct graph *graph, const struct parcel *p)
{
	struct tree *tree = trees_find(graph->trees, &(struct tree){ .comm = p->comm,
	    .order = p->order, .index = p->index }), done;

	if (tree == NULL)
		return;		/* of a rank that is no member */
	add_row(graph, &tree->ends[tree->ended++], p);
	if (tree->ended < tree->size)
		return;
	done = *tree;
	trees_remove(graph->trees, tree);
	SORT(done.starts, done.size, by_rank);
	SORT(done.ends, done.size, by_rank);
	add_edges(graph, &done);
	forget(graph, &done);
}
