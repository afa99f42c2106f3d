/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

void
locations_begin(struct location *locations, uint32_t count)
{
	for (uint32_t l = 0; l < count; l++) {
		locations[l].last_leave_ns = INT64_MIN;
		locations[l].oldest = locations[l].newest = locations[l].held = locations[l].held_last = NONE;
	}
}

uint32_t
operation_new(struct graph *graph, uint32_t location, uint64_t seq, uint16_t call)
{
	uint32_t new = graph->free_operation;

	if (new != NONE)
		graph->free_operation = graph->operations[new].next;
	else {
		if (graph->operation_count == NONE)
			die("more than %u operations in flight", NONE - 1);
		graph->operations = grow(graph->operations, &graph->operation_capacity,
		    graph->operation_count + 1, sizeof *graph->operations);
		new = (uint32_t)graph->operation_count++;
	}
	graph->operations[new] = (struct operation){ .seq = seq, .location = location, .next = NONE,
	    .older = NONE, .newer = NONE, .candidates = graph->locations[location].candidates, .call = call };
	return new;
}

void
operation_free(struct graph *graph, uint32_t operation)
{
	operation_unlist(graph, operation);
	graph->operations[operation].next = graph->free_operation;
	graph->free_operation = operation;
}

/* The ends of the list that the operation belongs in. */
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
	if (op->older != NONE)
		graph->operations[op->older].newer = operation;
	else
		*oldest = operation;
	*newest = operation;
}

void
operation_unlist(struct graph *graph, uint32_t operation)
{
	struct operation *op = &graph->operations[operation];
	uint32_t *oldest, *newest;

	if (!op->listed)
		return;
	list_of(graph, op, &oldest, &newest);
	op->listed = false;
	if (op->older != NONE)
		graph->operations[op->older].newer = op->newer;
	else
		*oldest = op->newer;
	if (op->newer != NONE)
		graph->operations[op->newer].older = op->older;
	else
		*newest = op->older;
}

uint64_t
settled_seq(const struct graph *graph, uint32_t location)
{
	const struct location *l = &graph->locations[location];

	return l->oldest != NONE ? graph->operations[l->oldest].seq : l->next_seq;
}
