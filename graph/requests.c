/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that later rows refer to: open receives, and persistent requests. */
#include "../base/mpi/call_class.h"
#include "../base/tool/hash_table.h"
#include "graph.h"

struct request {
	uint64_t seq;
	uint32_t location;	/* NONE: free slot */
	uint32_t operation;	/* an open receive; NONE for a persistent request */
	enum call_class class;	/* of a persistent request */
	uint32_t order, starts;	/* of a persistent collective */
};

#define HASH(r) mix((r)->location, (r)->seq)
#define SAME(a, b) ((a)->location == (b)->location && (a)->seq == (b)->seq)
#define FREE(r) ((r)->location == NONE)
#define MAKE_FREE(r) ((r)->location = NONE)
HASH_TABLE(requests, struct request, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

void
request_begin(struct graph *graph)
{
	graph->requests = zalloc(1, sizeof *graph->requests);
	requests_begin(graph->requests, 1024);
	graph->early = zalloc(1, sizeof *graph->early);
	requests_begin(graph->early, 16);
}

static struct request *
find(const struct graph *graph, uint32_t location, uint64_t seq)
{
	struct request key = { .seq = seq, .location = location };

	return requests_find(graph->requests, &key);
}

void
request_open(struct graph *graph, uint32_t location, uint64_t seq, uint32_t receive)
{
	struct request request = { seq, location, receive, CLASS_RECV_START, 0, 0 };

	requests_add(graph->requests, &request);
}

uint32_t
request_close(struct graph *graph, uint32_t location, uint64_t seq)
{
	struct request *request = find(graph, location, seq);
	uint32_t receive = request != NULL ? request->operation : NONE;

	if (receive != NONE)
		requests_remove(graph->requests, request);
	return receive;
}

void
request_early(struct graph *graph, uint32_t location, uint64_t seq, uint32_t completion)
{
	struct request request = { seq, location, completion, CLASS_COMPLETE, 0, 0 };

	graph->any_early = true;
	requests_add(graph->early, &request);
}

uint32_t
request_take_early(struct graph *graph, uint32_t location, uint64_t seq)
{
	struct request key = { .seq = seq, .location = location }, *found;
	uint32_t completion;

	if (graph->early->count == 0 || (found = requests_find(graph->early, &key)) == NULL)
		return NONE;
	completion = found->operation;
	requests_remove(graph->early, found);
	return completion;
}

void
request_init(struct graph *graph, uint32_t location, uint64_t seq, enum call_class class, uint32_t order)
{
	struct request request = { seq, location, NONE, class, order, 0 };

	requests_add(graph->requests, &request);
}

enum call_class
request_init_class(const struct graph *graph, uint32_t location, uint64_t seq)
{
	const struct request *request = find(graph, location, seq);

	return request == NULL ? CLASS_LOCAL : request->class;
}

bool
request_start(struct graph *graph, uint32_t location, uint64_t seq, uint32_t *order, uint32_t *start)
{
	struct request *request = find(graph, location, seq);

	if (request == NULL || request->class != CLASS_COLLECTIVE_INIT)
		return false;
	*order = request->order;
	*start = request->starts++;
	return true;
}

bool
request_free(struct graph *graph, uint32_t location, uint64_t seq)
{
	struct request *request = find(graph, location, seq);

	/* An open receive stays: it may still take a message, which nobody will see. */
	if (request == NULL || request->operation != NONE)
		return true;
	requests_remove(graph->requests, request);
	return false;
}
