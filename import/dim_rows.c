/* SPDX-License-Identifier: BSD-3-Clause */
/* What the records of a Dimemas trace become: rows, and edges between them. */
#include <stdlib.h>

#include "../stream/hash_table.h"
#include "dim.h"

/* The ends of messages with the same source, target, tag and communicator match in order. */
struct end {
	uint64_t seq, completion;	/* rows; of a receive the one that completes it, or UINT64_MAX */
	uint32_t next;
};

struct channel {
	uint32_t source, target, comm;
	int32_t tag;
	uint32_t sends, last_send, receives, last_receive;	/* in ends; 0: none */
	uint32_t open;						/* receive that may lack its wait */
};

#define CHANNEL_HASH(c) mix((uint64_t)(c)->source << 32 | (c)->target, \
	(uint64_t)(c)->comm << 32 | (uint32_t)(c)->tag)
#define CHANNEL_SAME(a, b) ((a)->source == (b)->source && (a)->target == (b)->target && \
	(a)->comm == (b)->comm && (a)->tag == (b)->tag)
#define CHANNEL_FREE(c) ((c)->source == UINT32_MAX)
#define CHANNEL_MAKE_FREE(c) ((c)->source = UINT32_MAX)
HASH_TABLE(channels, struct channel, CHANNEL_HASH, CHANNEL_SAME, CHANNEL_FREE, CHANNEL_MAKE_FREE,
    HASH_KEEP_ALL, die("out of memory"))

static const char *const operations[] = {
	"MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv",
	"MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Reduce",
	"MPI_Allreduce", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Alltoallw",
	"MPI_Ibarrier", "MPI_Ibcast", "MPI_Igather", "MPI_Igatherv", "MPI_Iscatter", "MPI_Iscatterv",
	"MPI_Iallgather", "MPI_Iallgatherv", "MPI_Ialltoall", "MPI_Ialltoallv", "MPI_Ireduce",
	"MPI_Iallreduce", "MPI_Ireduce_scatter", "MPI_Ireduce_scatter_block", "MPI_Iscan",
	"MPI_Ialltoallw",
};
/* The call that such a record is where no event says more. */
static uint16_t
natural_call(const struct record *r)
{
	/* The flags of a send say how Dimemas' own converter saw the mode of the call. */
	static const char *const sends[] = { "MPI_Bsend", "MPI_Ssend", "MPI_Isend", "MPI_Irsend" };

	switch (r->kind) {
	case SEND: return build_call(sends[r->sync]);
	case RECEIVE: return build_call("MPI_Recv");
	case POST: return build_call("MPI_Irecv");
	case COLLECTIVE: return build_call(operations[r->operation]);
	case COLLECTIVE_START: return build_call(operations[OPERATIONS + r->operation]);
	default: return build_call("MPI_Wait");
	}
}

static struct channel *
channel_of(struct dim *d, uint32_t source, uint32_t target, const struct record *r)
{
	struct channel key = { source, target, r->comm, r->tag, 0, 0, 0, 0, 0 };

	return channels_add(d->channels, &key);
}

static uint32_t
add_end(struct dim *d, uint32_t *first, uint32_t *last, uint64_t seq, uint64_t completion)
{
	uint32_t end = (uint32_t)d->end_count;

	d->ends = grow(d->ends, &d->end_capacity, d->end_count + 1, sizeof *d->ends);
	d->ends[d->end_count++] = (struct end){ seq, completion, 0 };
	if (*last != 0)
		d->ends[*last].next = end;
	else
		*first = end;
	*last = end;
	return end;
}

/* The oldest receive of the channel that was posted and not waited for, or 0. */
static uint32_t
open_receive(const struct dim *d, struct channel *channel)
{
	uint32_t end = channel->open != 0 ? channel->open : channel->receives;

	while (end != 0 && d->ends[end].completion != UINT64_MAX)
		end = d->ends[end].next;
	channel->open = end;
	return end;
}

/* Writes one record as a row; PART of the call before it, if not its first. */
static void
put_record(struct dim *d, uint16_t call, const struct record *r)
{
	struct build_row row = BUILD_ROW;
	uint64_t seq = d->build.rows[d->rank].count;
	uint32_t peer = (uint32_t)r->peer, end;
	struct channel *channel;

	row.call = call;
	row.enter_ns = row.leave_ns = d->now_ns;
	d->computed = false;
	if (r->kind <= WAIT) {
		row.comm = 1;
		row.peer = r->peer;
		row.tag = r->tag;
		*(r->kind == SEND ? &row.bytes_sent : &row.bytes_received) = r->bytes;
	}
	switch (r->kind) {
	case SEND:
		channel = channel_of(d, d->rank, peer, r);
		add_end(d, &channel->sends, &channel->last_send, seq, 0);
		break;
	case RECEIVE: case POST:
		channel = channel_of(d, peer, d->rank, r);
		add_end(d, &channel->receives, &channel->last_receive, seq,
		    r->kind == RECEIVE ? seq : UINT64_MAX);
		break;
	case WAIT:
		channel = channel_of(d, peer, d->rank, r);
		end = open_receive(d, channel);
		if (end == 0)
			die_text(&d->text, "a wait for a receive that was not posted");
		d->ends[end].completion = seq;
		/* In MPI_Sendrecv the receive is the part itself. */
		if (seq > d->ends[end].seq)
			row.request = (uint32_t)(seq - d->ends[end].seq);
		break;
	case COLLECTIVE_WAIT:
		if (d->start_first == d->start_count)
			die_text(&d->text, "a wait for a collective that was not started");
		row.request = (uint32_t)(seq - d->starts[d->start_first++]);
		break;
	case COLLECTIVE_START:
		d->starts = grow(d->starts, &d->start_capacity, d->start_count + 1, sizeof *d->starts);
		d->starts[d->start_count++] = seq;
		/* fall through */
	case COLLECTIVE:
		row.comm = d->comms[r->comm].number;
		row.peer = r->peer;
		row.bytes_sent = r->bytes;
		row.bytes_received = r->received;
		build_called(&d->build, &(struct build_call){ .comm = r->comm,
		    .size = d->comms[r->comm].size, .rank = d->rank, .seq = seq });
		break;
	}
	build_row(&d->build, d->rank, &row);
}

/* A row of a function that exchanges nothing. */
void
dim_local(struct dim *d, uint16_t call, int32_t tag, int32_t peer)
{
	struct build_row row = BUILD_ROW;

	row.call = call;
	row.enter_ns = row.leave_ns = d->now_ns;
	row.tag = tag;
	row.peer = peer;
	d->computed = false;
	build_row(&d->build, d->rank, &row);
}

/* MPI_Sendrecv is a receive posted, a send and a wait, each there unless its peer is MPI_PROC_NULL. */
static bool
put_sendrecv(struct dim *d, uint16_t call)
{
	const struct record *send = NULL, *post = NULL, *wait = NULL, *r = d->records;
	const struct record null = { SEND, NULL_PEER, NO_TAG, 0, 0, 0, 0, 0 };
	struct build_row row = BUILD_ROW;
	struct channel *channel;

	for (; r < d->records + d->record_count; r++)
		if (r->kind == SEND && r->sync == 0 && send == NULL)
			send = r;
		else if (r->kind == POST && send == NULL && post == NULL)
			post = r;
		else if (r->kind == WAIT && post != NULL && wait == NULL && r->peer == post->peer &&
		    r->tag == post->tag && r->comm == post->comm)
			wait = r;
		else
			return false;
	if ((post == NULL) != (wait == NULL))
		return false;
	if (send != NULL)
		put_record(d, call, send);
	else
		dim_local(d, call, null.tag, null.peer);
	if (wait == NULL)
		return true;
	row.enter_ns = row.leave_ns = d->now_ns;
	row.comm = 1;
	row.peer = wait->peer;
	row.tag = wait->tag;
	row.bytes_received = wait->bytes;
	channel = channel_of(d, (uint32_t)wait->peer, d->rank, wait);
	add_end(d, &channel->receives, &channel->last_receive, d->build.rows[d->rank].count,
	    d->build.rows[d->rank].count);
	build_row(&d->build, d->rank, &row);
	return true;
}

/* True where the records of a call are what its function does, so that it can be one row and parts. */
static bool
fits(const struct dim *d, uint16_t call)
{
	enum call_class class = call_info(call)->class;
	const struct record *r = d->records;

	if (class == CLASS_COMPLETE || class == CLASS_START) {
		for (; r < d->records + d->record_count; r++)
			if (class == CLASS_COMPLETE ? r->kind != WAIT && r->kind != COLLECTIVE_WAIT :
			    r->kind != POST && !(r->kind == SEND && r->sync == 2))
				return false;
		return true;
	}
	if (d->record_count > 1)
		return false;
	/* The protocol that its flags ask for must be that of the function, see lp-replay(1). */
	if (class == CLASS_SEND)
		return r->kind == SEND && r->sync == (call != build_call("MPI_Bsend"));
	if (class == CLASS_SEND_START)
		return r->kind == SEND && r->sync == (call == build_call("MPI_Irsend") ? 3 : 2);
	if (class == CLASS_INIT)
		return r->kind == COLLECTIVE && r->operation == 0;
	return class == call_info(natural_call(r))->class;
}

/* The call that the events have told is over: its rows. */
void
dim_end_call(struct dim *d)
{
	uint16_t call = (uint16_t)d->call;

	if (d->in_call) {
		enum call_class class = call_info(call)->class;

		if (d->record_count == 0)
			dim_local(d, call, NO_TAG, class >= CLASS_SEND && class <= CLASS_START ?
			    NULL_PEER : NO_PEER);
		else if (class == CLASS_SENDRECV ? !put_sendrecv(d, call) : !fits(d, call))
			for (size_t i = 0; i < d->record_count; i++)
				put_record(d, natural_call(&d->records[i]), &d->records[i]);
		else if (class != CLASS_SENDRECV)
			for (size_t i = 0; i < d->record_count; i++)
				put_record(d, i == 0 ? call : 0, &d->records[i]);
	}
	d->in_call = false;
	d->record_count = 0;
}

void
dim_record(struct dim *d, const struct record *r)
{
	if (!d->in_call) {
		put_record(d, natural_call(r), r);
		return;
	}
	d->records = grow(d->records, &d->record_capacity, d->record_count + 1, sizeof *d->records);
	d->records[d->record_count++] = *r;
}

void
dim_match(struct dim *d)
{
	struct build *b = &d->build;

	for (size_t i = 0; i < d->channels->size; i++) {
		const struct channel *c = &d->channels->slots[i];
		uint32_t send = c->sends, receive = c->receives;

		if (CHANNEL_FREE(c))
			continue;
		for (; send != 0 && receive != 0; send = d->ends[send].next,
		    receive = d->ends[receive].next)
			build_message(b, c->source, d->ends[send].seq, c->target,
			    d->ends[receive].completion != UINT64_MAX ? d->ends[receive].completion :
			    d->ends[receive].seq);
		for (; send != 0; send = d->ends[send].next)
			b->unmatched_sends++;
		for (; receive != 0; receive = d->ends[receive].next)
			b->unmatched_receives++;
	}
	build_match(b);
}

void
dim_begin(struct dim *d)
{
	d->channels = zalloc(1, sizeof *d->channels);
	channels_begin(d->channels, 1024);
	d->ends = grow(NULL, &d->end_capacity, 1, sizeof *d->ends);
	d->end_count = 1;	/* 0 is none */
}
