/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph.h"

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

void
operation_list(struct graph *graph, uint32_t operation)
{
	struct operation *op = &graph->operations[operation];
	struct location *location = &graph->locations[op->location];

	op->listed = true;
	op->older = location->newest;
	if (op->older != NONE)
		graph->operations[op->older].newer = operation;
	else
		location->oldest = operation;
	location->newest = operation;
}

void
operation_unlist(struct graph *graph, uint32_t operation)
{
	struct operation *op = &graph->operations[operation];
	struct location *location = &graph->locations[op->location];

	if (!op->listed)
		return;
	op->listed = false;
	if (op->older != NONE)
		graph->operations[op->older].newer = op->newer;
	else
		location->oldest = op->newer;
	if (op->newer != NONE)
		graph->operations[op->newer].older = op->older;
	else
		location->newest = op->older;
}

uint64_t
settled_seq(const struct graph *graph, uint32_t location)
{
	const struct location *l = &graph->locations[location];

	return l->oldest != NONE ? graph->operations[l->oldest].seq : l->next_seq;
}
