/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "../base/tool/hash_table.h"
#include "graph.h"

struct channel {
	uint32_t comm;
	int32_t source, target, tag;		/* world ranks */
	uint32_t send, send_last, receive, receive_last;	/* queues; NONE: empty */
	bool used;
};

#define HASH(c) mix((uint64_t)(c)->comm << 32 | (uint32_t)(c)->tag, \
	(uint64_t)(uint32_t)(c)->source << 32 | (uint32_t)(c)->target)
#define SAME(a, b) ((a)->source == (b)->source && (a)->target == (b)->target && \
	(a)->tag == (b)->tag && (a)->comm == (b)->comm)
#define FREE(c) (!(c)->used)
#define MAKE_FREE(c) ((c)->used = false)
#define IN_USE(c) ((c)->send != NONE || (c)->receive != NONE)
HASH_TABLE(channels, struct channel, HASH, SAME, FREE, MAKE_FREE, IN_USE, die("out of memory"))
#undef HASH
#undef SAME
#undef FREE
#undef MAKE_FREE

static struct channel *
channel_of(struct graph *graph, uint32_t comm, int32_t source, int32_t target, int32_t tag)
{
	struct channel key = { comm, source, target, tag, NONE, NONE, NONE, NONE, true };

	return channels_add(&graph->channels, &key);
}

/*
 * The first receive after the probes at the head of the queue, or NONE. LAST: the last of these
 * probes.
 */
static uint32_t
first_receive(const struct graph *graph, const struct channel *channel, uint32_t *last)
{
	uint32_t receive = channel->receive;

	for (*last = NONE; receive != NONE && graph->operations[receive].state == PROBED;
	    receive = graph->operations[receive].next)
		*last = receive;
	return receive;
}

/* The probes before UNTIL saw the first send. */
static void
match_probes(struct graph *graph, struct channel *channel, uint32_t until)
{
	while (channel->receive != until) {
		const uint32_t probe = channel->receive;

		edge_add(graph, EDGE_PROBE, channel->send, probe);
		channel->receive = graph->operations[probe].next;
		operation_free(graph, probe);
	}
}

static void
channel_match(struct graph *graph, struct channel *channel)
{
	uint32_t receive, before;

	while ((receive = first_receive(graph, channel, &before)) != NONE) {
		const uint32_t send = channel->send;
		const struct operation *to = &graph->operations[receive];

		if (to->state == DROPPED) {
			*(before != NONE ? &graph->operations[before].next : &channel->receive) =
			    to->next;
			if (channel->receive_last == receive)
				channel->receive_last = before;
			operation_free(graph, receive);
			continue;
		}
		if (send == NONE || to->state == POSTED)
			return;
		edge_add(graph, EDGE_MESSAGE, send, receive);
		match_probes(graph, channel, receive);
		channel->send = graph->operations[send].next;
		channel->receive = to->next;
		operation_free(graph, send);
		operation_free(graph, receive);
	}
}

void
channel_send(struct graph *graph, const struct parcel *p)
{
	const uint32_t send = operation_of_parcel(graph, p);
	struct channel *channel = channel_of(graph, p->comm, p->source, p->target, p->tag);

	queue_add(graph, &channel->send, &channel->send_last, send);
	channel_match(graph, channel);
}

static struct channel *
channel_of_receive(struct graph *graph, int32_t rank, uint32_t receive)
{
	const struct operation *op = &graph->operations[receive];

	return channel_of(graph, op->comm, op->peer, rank, op->tag);
}

void
channel_receive(struct graph *graph, int32_t rank, uint32_t receive)
{
	struct channel *channel = channel_of_receive(graph, rank, receive);

	queue_add(graph, &channel->receive, &channel->receive_last, receive);
	if (graph->operations[receive].state != PROBED)		/* it takes nothing */
		channel_match(graph, channel);
}

void
channel_again(struct graph *graph, int32_t rank, uint32_t receive)
{
	channel_match(graph, channel_of_receive(graph, rank, receive));
}

static void
tell_left(struct graph *graph, const struct channel *c, const struct operation *op,
    const char *what)
{
	tell(graph, rank_of(graph, op->location), op->seq, "%s from rank %d to rank %d with tag %d "
	    "on communicator %u has no %s", call_name(op->call), c->source, c->target, c->tag,
	    c->comm, what);
}

static void
count_left(struct graph *graph, struct channel *channel)
{
	/* A receive that never completed may still have taken a message. */
	while (channel->receive != NONE && channel->send != NONE) {
		uint32_t before, receive = first_receive(graph, channel, &before),
		    send = channel->send;

		match_probes(graph, channel, receive);
		if (receive != NONE && graph->operations[receive].state == POSTED) {
			channel->receive = graph->operations[receive].next;
			channel->send = graph->operations[send].next;
			operation_free(graph, receive);
			tell_left(graph, channel, &graph->operations[send],
			    "receive that completed");
			graph->counts.unmatched_sends++;
			operation_free(graph, send);
		}
		channel_match(graph, channel);
	}
	for (uint32_t op = channel->send; op != NONE; op = graph->operations[op].next) {
		graph->counts.unmatched_sends++;
		tell_left(graph, channel, &graph->operations[op], "receive");
	}
	for (uint32_t op = channel->receive; op != NONE; op = graph->operations[op].next) {
		if (graph->operations[op].state == PROBED)
			continue;
		graph->counts.unmatched_receives++;
		tell_left(graph, channel, &graph->operations[op], "send");
	}
}

ORDER(by_channel, struct channel, BY(source) BY(target) BY(tag)
    COMPARED((int32_t)a->comm, (int32_t)b->comm))

void
channels_end(struct graph *graph)
{
	struct channel *all = channels_sorted(graph->channels, by_channel);

	for (size_t i = 0; i < channels_count(graph->channels); i++)
		count_left(graph, &all[i]);
	free(all);
}
