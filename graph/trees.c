/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions of started collectives that wait for a member which MPI does not let them wait for:
 * libraries pass data on in trees. The times show that (base/run/collective.h), but no row of the
 * completion's rank names the others. So the edge leads
 *
 *	from the start of the member that was waited for
 *	-> to the completion that waited
 *
 * Only broadcasts, reductions to a root and scans need it: in others all wait for all. A tree is
 * decided when all rows have been read that were entered before its last start: who enters a
 * completion later waits for nobody. Memory: the starts and ends of the others.
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
	int64_t last_ns;		/* the last start */
	struct tree_row *starts, *ends;	/* as they come; a member has one of each */
};

HASH_TABLE_BY(trees, struct tree, INSTANCE_HASH, SAME_INSTANCE, comm, NONE)

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
	    .order = start->order, .index = start->starts,
	    .enter_ns = row->calls->enter_ns[row->i], .leave_ns = row->calls->leave_ns[row->i] };

	if (!is_collective_start(start->class))
		return false;
	request_close(graph, start);
	parcel_post(graph, row, collective_shard(graph, &end), &end);
	return true;
}

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
	    .order = p->order, .index = p->index, .last_ns = INT64_MIN });

	if (tree->started == tree->size && tree->size > 0)
		return;		/* of a rank that is no member */
	if (tree->started == 0) {
		tree->size = size;
		tree->starts = zalloc(size, sizeof *tree->starts);
		tree->ends = zalloc(size, sizeof *tree->ends);
	}
	add_row(graph, &tree->starts[tree->started++], p);
	tree->last_ns = larger(tree->last_ns, p->enter_ns);
	if (tree->started == size)
		graph->next_tree_ns = smaller(graph->next_tree_ns, tree->last_ns);
}

ORDER(by_rank, struct tree_row, BY(rank))

/* The edges of those whom another one made wait than the member that MPI lets them wait for. */
static void
add_edges(struct graph *graph, struct tree *tree)
{
	struct member *members = zalloc(tree->size, sizeof *members);
	struct row *ends = zalloc(tree->size, sizeof *ends);
	const struct row not_known = { .enter_ns = INT64_MIN, .leave_ns = INT64_MIN };
	uint32_t *end_of = zalloc(tree->size, sizeof *end_of);
	struct needs needs = { .ends = ends };

	SORT(tree->starts, tree->size, by_rank);
	SORT(tree->ends, tree->ended, by_rank);
	for (uint32_t i = 0, end = 0; i < tree->size; i++) {
		const struct operation *start = &graph->operations[tree->starts[i].operation];

		members[i] = (struct member){ start->location, start->seq, &tree->starts[i].row };
		while (end < tree->ended && tree->ends[end].rank < tree->starts[i].rank)
			end++;
		end_of[i] = end < tree->ended && tree->ends[end].rank == tree->starts[i].rank ?
		    tree->ends[end].operation : NONE;
		ends[i] = end_of[i] != NONE ? tree->ends[end].row : not_known;
	}
	collective_waits(&needs, &graph->known, members, tree->size);
	for (uint32_t i = 0; i < tree->size; i++)
		if (needs.in_tree[i] != NOBODY)
			edge_add(graph, EDGE_HOLD, tree->starts[needs.in_tree[i]].operation,
			    end_of[i]);
	needs_free(&needs);
	free(end_of);
	free(ends);
	free(members);
}

static void
decide(struct graph *graph, struct tree *tree)
{
	struct tree decided = *tree;

	trees_remove(graph->trees, tree);
	add_edges(graph, &decided);
	for (uint32_t i = 0; i < decided.size; i++)
		operation_free(graph, decided.starts[i].operation);
	for (uint32_t i = 0; i < decided.ended; i++)
		operation_free(graph, decided.ends[i].operation);
	free(decided.starts);
	free(decided.ends);
}

void
tree_ended(struct graph *graph, const struct parcel *p)
{
	struct tree *tree = trees_find(graph->trees, &(struct tree){ .comm = p->comm,
	    .order = p->order, .index = p->index });

	if (tree == NULL || tree->ended == tree->size)
		return;		/* it has been decided, or the rank is no member */
	add_row(graph, &tree->ends[tree->ended++], p);
	if (tree->started == tree->size && tree->ended == tree->size)
		decide(graph, tree);
}

ORDER(by_last, struct tree, BY(last_ns) BY(comm) BY(order) BY(index))

void
trees_decide(struct graph *graph, int64_t until_ns)
{
	struct tree *open;
	size_t count;

	if (graph->next_tree_ns >= until_ns)
		return;
	open = trees_sorted(graph->trees, by_last);
	count = trees_count(graph->trees);
	graph->next_tree_ns = INT64_MAX;
	for (size_t i = 0; i < count; i++) {
		if (open[i].started < open[i].size)
			continue;
		if (open[i].last_ns < until_ns)
			decide(graph, trees_find(graph->trees, &open[i]));
		else
			graph->next_tree_ns = smaller(graph->next_tree_ns, open[i].last_ns);
	}
	free(open);
}
