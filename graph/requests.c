/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open sends and receives, persistent requests and epochs; later rows refer to them by the row that
 * began them.
 */
#include "../base/tool/hash_table.h"
#include "graph.h"

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
