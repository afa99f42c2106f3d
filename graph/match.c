/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point matching: rows become sends and receives of their channels.
 *
 * A receive from anyone has no channel until it completes. Receives posted after it that could
 * take messages of the same channel are held back until then, so that the queues stay in order.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "graph.h"

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
	requests_add(&graph->requests, &request);
}

void
request_close(struct graph *graph, struct request *request)
{
	requests_remove(graph->requests, request);
}

static uint32_t
request_close_receive(struct graph *graph, uint32_t location, uint64_t seq)
{
	struct request *request = request_find(graph, location, seq);
	const uint32_t receive = request != NULL ? request->operation : NONE;

	if (receive != NONE)
		requests_remove(graph->requests, request);
	return receive;
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

	return counters_add(&graph->counters, &first)->count++;
}

/* ---- sends and receives ----------------------------------------------------------------- */

/* The world rank of the row's peer; -1, after a report, if unknown. */
static int32_t
peer_of(struct graph *graph, const struct graph_row *row)
{
	const int32_t peer = world_rank(&graph->known, row->comm, row->rank, row->peer);
	const bool outside = row->comm < graph->known.comm_count &&
	    graph->known.comms[row->comm].outside > 0;

	if (peer >= 0)
		return peer;
	if (!outside)
		tell(graph, row->rank, row->seq, "%s with peer %d, tag %d on unknown "
		    "communicator %u", call_name(row->call), row->peer, row->tag, row->comm);
	else if (!graph->elsewhere)	/* once */
		tell(graph, row->rank, row->seq, "the peer of %s belongs to another MPI run, "
		    "spawned or connected, whose trace lies apart: such messages match nothing",
		    call_name(row->call));
	graph->elsewhere |= outside;
	return -1;
}

void
match_send(struct graph *graph, const struct graph_row *row)
{
	int32_t target;

	if (row->peer < 0)
		return;		/* MPI_PROC_NULL */
	if ((target = peer_of(graph, row)) < 0) {
		graph->counts.unmatched_sends++;
		return;
	}
	parcel_to_target(graph, row, &(struct parcel){ .kind = PARCEL_SEND, .comm = row->comm,
	    .tag = row->tag, .source = row->rank, .target = target });
}

/* Whether the open receive from any source may take messages of the other's channel. */
static bool
may_take(const struct operation *wild, const struct operation *other)
{
	return wild->comm == other->comm &&
	    (wild->peer == ANY_PEER || other->peer == ANY_PEER || wild->peer == other->peer) &&
	    (wild->tag == ANY_TAG || other->tag == ANY_TAG || wild->tag == other->tag);
}

static bool
is_wild(const struct operation *op)
{
	return op->state == POSTED && (op->peer == ANY_PEER || op->tag == ANY_TAG);
}

/* Whether WILD might take everything that OTHER might take. */
static bool
covers(const struct operation *wild, const struct operation *other)
{
	return wild->comm == other->comm && (wild->peer == ANY_PEER || wild->peer == other->peer) &&
	    (wild->tag == ANY_TAG || wild->tag == other->tag);
}

/*
 * A wild receive, until now BEFORE, has completed or is dropped. It and the receives it held back
 * go to their channels, unless an open wild receive ahead holds them. If one ahead covers BEFORE,
 * nothing can go; so this is one step for most receives, however many are open.
 */
static void
release_held(struct graph *graph, struct location *location, const struct operation *before)
{
	uint32_t *link = &location->held, last = NONE, wild_count = 0, *wild = NULL;
	size_t capacity = 0;

	while (*link != NONE) {
		uint32_t receive = *link;
		struct operation *op = &graph->operations[receive];
		bool held = is_wild(op) || !may_take(before, op);

		if (is_wild(op)) {
			if (covers(op, before))
				break;
			GROW(wild, capacity, wild_count + (size_t)1);
			wild[wild_count++] = receive;
		}
		for (uint32_t w = 0; w < wild_count && !held; w++)
			held = may_take(&graph->operations[wild[w]], op);
		if (held) {
			last = receive;
			link = &op->next;
			continue;
		}
		*link = op->next;
		if (location->held_last == receive)
			location->held_last = last;
		if (op->state == DROPPED)
			operation_free(graph, receive);
		else
			channel_receive(graph, rank_of(graph, op->location), receive);
	}
	free(wild);
}

void
match_receive(struct graph *graph, const struct graph_row *row, enum receive_state state)
{
	struct location *location = &graph->locations[row->location];
	int32_t peer = row->peer;
	uint32_t receive;
	struct operation *of;
	bool held;

	if (peer == NULL_PEER || peer == NO_PEER)
		return;
	if (peer != ANY_PEER && (peer = peer_of(graph, row)) < 0) {
		graph->counts.unmatched_receives++;
		return;
	}
	receive = operation_new(graph, row);
	of = graph->operations;
	of[receive].peer = peer;
	of[receive].state = (uint8_t)state;
	if (state == POSTED)
		request_open(graph, row,
		    (struct request){ .operation = receive, .class = CLASS_RECV_START });
	else
		operation_list(graph, receive);
	/*
	 * Receives go to their channel in posting order. They wait while an open wild one before
	 * them may be of that channel.
	 */
	held = is_wild(&of[receive]);
	for (uint32_t w = location->held; w != NONE && !held; w = of[w].next)
		held = is_wild(&of[w]) && may_take(&of[w], &of[receive]);
	if (held)
		queue_add(graph, &location->held, &location->held_last, receive);
	else
		channel_receive(graph, row->rank, receive);
}

void
match_taken(struct graph *graph, const struct graph_row *row)
{
	const uint32_t receive = request_close_receive(graph, row->starter, row->start);

	if (receive != NONE)
		request_open(graph, row,
		    (struct request){ .operation = receive, .class = CLASS_RECV_START });
	else
		match_receive(graph, row, POSTED);
}

void
match_answer(struct graph *graph, const struct graph_row *row)
{
	const struct request *request = request_find(graph, row->starter, row->start);
	uint32_t answer;

	if (request == NULL || request->operation == NONE ||
	    graph->operations[request->operation].answer != NONE)
		return;
	answer = operation_new(graph, row);
	operation_list(graph, answer);
	graph->operations[request->operation].answer = answer;
}

/* A blocking probe has found a message in any trace. */
void
match_probe(struct graph *graph, const struct graph_row *row, bool found)
{
	if ((!found && call_polls(row->call)) || row->peer < 0 ||
	    world_rank(&graph->known, row->comm, row->rank, row->peer) < 0)
		return;
	match_receive(graph, row, PROBED);
	if (found && call_takes(row->call))
		match_receive(graph, row, POSTED);
}

/*
 * The open receive took what the completion at LOCATION, SEQ says: a message from PEER, or nothing.
 */
static void
complete(struct graph *graph, uint32_t starter, uint32_t receive,
    const struct operation *completion)
{
	struct operation *op = &graph->operations[receive], before = *op;
	int32_t rank = rank_of(graph, starter);

	op->location = completion->location;
	op->seq = completion->seq;
	op->candidates = completion->candidates;
	op->state = completion->peer == NO_PEER ? DROPPED : COMPLETED;
	if (op->state == COMPLETED && is_wild(&before)) {
		op->peer = world_rank(&graph->known, completion->comm != 0 ? completion->comm :
		    op->comm, rank, completion->peer);
		op->tag = completion->tag;
		if (op->peer < 0)
			op->state = DROPPED;
	}
	if (op->state == COMPLETED)
		operation_list(graph, receive);
	if (is_wild(&before))
		release_held(graph, &graph->locations[starter], &before);
	else if (op->peer >= 0)
		channel_again(graph, rank, receive);
}

void
match_complete(struct graph *graph, const struct graph_row *row)
{
	const uint32_t receive = request_close_receive(graph, row->starter, row->start);
	const struct operation completion = { .seq = row->seq, .location = row->location,
	    .peer = row->peer, .tag = row->tag, .comm = row->comm, .candidates = row->candidates };

	if (receive != NONE)
		complete(graph, row->starter, receive, &completion);
	else if (row->start >= graph->locations[row->starter].next_seq) {
		const uint32_t early = operation_new(graph, row);

		operation_list(graph, early);
		graph->any_early = true;
		requests_add(&graph->early, &(struct request){ .seq = row->start,
		    .location = row->starter, .operation = early });
	}	/* otherwise of a send, a collective or a start missing in the trace */
}

void
match_early(struct graph *graph, uint32_t location, uint64_t seq)
{
	struct request *found = requests_find(graph->early,
	    &(struct request){ .seq = seq, .location = location });
	struct operation completion;
	uint32_t early, receive;

	if (found == NULL)
		return;
	early = found->operation;
	requests_remove(graph->early, found);
	graph->any_early = graph->early->count > 0;
	completion = graph->operations[early];
	receive = request_close_receive(graph, location, seq);
	if (receive != NONE)
		complete(graph, location, receive, &completion);
	operation_free(graph, early);
}

/* ---- the end ------------------------------------------------------------------------- */

void
match_end(struct graph *graph)
{
	for (uint32_t l = 0; l < graph->known.location_count; l++) {
		struct location *location = &graph->locations[l];

		if (is_away(graph, rank_of(graph, l)))
			continue;
		/* Wild receives that never completed hold nothing back any more. */
		for (uint32_t at = location->held; at != NONE; at = graph->operations[at].next) {
			struct operation *op = &graph->operations[at];

			if (!is_wild(op))
				continue;
			op->state = DROPPED;
			graph->counts.unmatched_receives++;
			tell(graph, rank_of(graph, l), op->seq,
			    "%s from anyone was never completed", call_name(op->call));
		}
		while (location->held != NONE) {
			const struct operation first = graph->operations[location->held];

			release_held(graph, location, &first);
		}
	}
	channels_end(graph);
}
