/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that lack their other end; and what later rows refer to by the row that began it. */
#include "../base/tool/hash_table.h"
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

/* ---- requests --------------------------------------------------------------------------- */

HASH_TABLE_OF(requests, struct request, location, seq, location, NONE)

struct counter {
	enum counter_kind kind;
	uint32_t comm;		/* NONE: free slot */
	int32_t rank, peer;
	uint32_t count;
};

#define HASH(c) mix((uint64_t)(c)->kind << 32 | (c)->comm, \
	(uint64_t)(uint32_t)(c)->peer << 32 | (uint32_t)(c)->rank)
#define SAME(a, b) ((a)->comm == (b)->comm && (a)->rank == (b)->rank && (a)->peer == (b)->peer && \
	(a)->kind == (b)->kind)
HASH_TABLE_BY(counters, struct counter, HASH, SAME, comm, NONE)

void
request_begin(struct graph *graph)
{
	graph->requests = zalloc(1, sizeof *graph->requests);
	requests_begin(graph->requests, 1024);
	graph->early = zalloc(1, sizeof *graph->early);
	requests_begin(graph->early, 16);
	graph->counters = zalloc(1, sizeof *graph->counters);
	counters_begin(graph->counters, 1024);
}

struct request *
request_find(const struct graph *graph, uint32_t location, uint64_t seq)
{
	const struct request key = { .seq = seq, .location = location };

	return requests_find(graph->requests, &key);
}

void
request_open(struct graph *graph, const struct graph_row *row, struct request request)
{
	request.seq = row->seq;
	request.location = row->location;
	requests_add(graph->requests, &request);
}

void
request_close(struct graph *graph, struct request *request)
{
	requests_remove(graph->requests, request);
}

uint32_t
request_close_receive(struct graph *graph, uint32_t location, uint64_t seq)
{
	struct request *request = request_find(graph, location, seq);
	const uint32_t receive = request != NULL ? request->operation : NONE;

	if (receive != NONE)
		requests_remove(graph->requests, request);
	return receive;
}

void
request_early(struct graph *graph, uint32_t location, uint64_t seq, uint32_t completion)
{
	const struct request request = { .seq = seq, .location = location,
	    .operation = completion };

	graph->any_early = true;
	requests_add(graph->early, &request);
}

uint32_t
request_take_early(struct graph *graph, uint32_t location, uint64_t seq)
{
	const struct request key = { .seq = seq, .location = location };
	struct request *found;
	uint32_t completion;

	if (graph->early->count == 0 || (found = requests_find(graph->early, &key)) == NULL)
		return NONE;
	completion = found->operation;
	requests_remove(graph->early, found);
	return completion;
}

bool
request_free(struct graph *graph, uint32_t location, uint64_t seq)
{
	struct request *request = request_find(graph, location, seq);
	const bool open = request == NULL || request->operation != NONE ||
	    request->class == CLASS_SEND_START;

	/* An open receive stays: it may still take a message, which no row will show. */
	if (request != NULL && request->operation == NONE)
		requests_remove(graph->requests, request);
	return open;
}

uint32_t
count_one(struct graph *graph, enum counter_kind kind, uint32_t comm, int32_t rank, int32_t peer)
{
	const struct counter first = { kind, comm, rank, peer, 0 };

	return counters_add(graph->counters, &first)->count++;
}
