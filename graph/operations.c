/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph.h"

uint32_t
operation_new(struct graph *graph, const struct graph_row *row)
{
	uint32_t new = graph->free_operation;

	if (new != NONE)
		graph->free_operation = graph->operations[new].next;
	else {
		if (graph->operation_count == NONE)
			die("more than %u operations in flight", NONE - 1);
		GROW(graph->operations, graph->operation_capacity, graph->operation_count + 1);
		new = (uint32_t)graph->operation_count++;
	}
	graph->operations[new] = (struct operation){ .seq = row->seq, .location = row->location,
	    .next = NONE, .older = NONE, .newer = NONE, .answer = NONE, .comm = row->comm,
	    .peer = row->peer, .tag = row->tag, .candidates = row->candidates, .call = row->call };
	return new;
}

uint32_t
operation_of_parcel(struct graph *graph, const struct parcel *p)
{
	const uint32_t new = operation_new(graph, &(struct graph_row){ .seq = p->seq,
	    .location = p->location, .candidates = p->candidates, .call = p->call });

	operation_list(graph, new);
	return new;
}

/* The list that an operation of the location belongs to. */
static struct list *
list_of(const struct graph *graph, uint32_t location)
{
	return is_away(graph, rank_of(graph, location)) ? &graph->exchange->listed :
	    &graph->locations[location].listed;
}

void
operation_list(struct graph *graph, uint32_t operation)
{
	struct operation *op = &graph->operations[operation];
	struct location *location = &graph->locations[op->location];
	struct list *list = list_of(graph, op->location);

	op->listed = true;
	op->older = list->newest;
	*(op->older != NONE ? &graph->operations[op->older].newer : &list->oldest) = operation;
	list->newest = operation;
	if (list == &location->listed && location->due == NONE)
		location->due = operation;
}

void
operation_free(struct graph *graph, uint32_t operation)
{
	struct operation *op = &graph->operations[operation];

	if (op->answer != NONE)
		operation_free(graph, op->answer);
	if (op->listed) {
		struct location *location = &graph->locations[op->location];
		struct list *list = list_of(graph, op->location);

		op->listed = false;
		graph->overdue_count -= op->overdue;
		if (list == &location->listed && location->due == operation)
			location->due = op->newer;
		*(op->older != NONE ? &graph->operations[op->older].newer : &list->oldest) =
		    op->newer;
		*(op->newer != NONE ? &graph->operations[op->newer].older : &list->newest) =
		    op->older;
	}
	op->next = graph->free_operation;
	graph->free_operation = operation;
}

void
queue_add(struct graph *graph, uint32_t *first, uint32_t *last, uint32_t operation)
{
	graph->operations[operation].next = NONE;
	*(*first == NONE ? first : &graph->operations[*last].next) = operation;
	*last = operation;
}

uint64_t
settled_seq(const struct graph *graph, uint32_t location)
{
	const struct location *l = &graph->locations[location];
	uint64_t seq = l->listed.oldest != NONE ? graph->operations[l->listed.oldest].seq :
	    l->next_seq;

	lower(&seq, hold_settled(graph, location));
	return seq;
}
