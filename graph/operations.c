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

/* The ends of the list that the operation belongs to. */
static void
list_of(const struct graph *graph, const struct operation *op, uint32_t **oldest, uint32_t **newest)
{
	const bool away = is_away(graph, rank_of(graph, op->location));

	*oldest = away ? &graph->exchange->oldest : &graph->locations[op->location].oldest;
	*newest = away ? &graph->exchange->newest : &graph->locations[op->location].newest;
}

void
operation_list(struct graph *graph, uint32_t operation)
{
	struct operation *op = &graph->operations[operation];
	uint32_t *oldest, *newest;

	list_of(graph, op, &oldest, &newest);
	op->listed = true;
	op->older = *newest;
	*(op->older != NONE ? &graph->operations[op->older].newer : oldest) = operation;
	*newest = operation;
	if (!is_away(graph, rank_of(graph, op->location)) &&
	    graph->locations[op->location].due == NONE)
		graph->locations[op->location].due = operation;
}

void
operation_free(struct graph *graph, uint32_t operation)
{
	struct operation *op = &graph->operations[operation];
	uint32_t *oldest, *newest;

	if (op->answer != NONE)
		operation_free(graph, op->answer);
	if (op->listed) {
		list_of(graph, op, &oldest, &newest);
		op->listed = false;
		if (op->overdue)
			overdue_end(graph);
		if (graph->locations[op->location].due == operation)
			graph->locations[op->location].due = op->newer;
		*(op->older != NONE ? &graph->operations[op->older].newer : oldest) = op->newer;
		*(op->newer != NONE ? &graph->operations[op->newer].older : newest) = op->older;
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
	const uint64_t held_seq = hold_settled(graph, location),
	    seq = l->oldest != NONE ? graph->operations[l->oldest].seq : l->next_seq;

	return held_seq < seq ? held_seq : seq;
}
