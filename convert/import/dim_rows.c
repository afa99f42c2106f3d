/* SPDX-License-Identifier: BSD-3-Clause */
/* What the records of a Dimemas trace become: rows, and edges between them. */
#include <stdlib.h>

#include "../../base/mpi/call_class.h"
#include "../../base/tool/hash_table.h"
#include "dim.h"

/* Sends, and receives, of the same source, target, tag and communicator, in order. */
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

/* That of a receive: its wait has the same wildcards, and lies on the same thread. */
static struct channel *
channel_here(struct dim *d, const struct record *r)
{
	return channel_of(d, r->peer == ANY_PEER ? d->build.ranks : (uint32_t)r->peer, d->location, r);
}

static void
add_step(struct dim *d, enum kind kind, uint32_t what)
{
	struct thread *t = d->at;

	t->steps = grow(t->steps, &t->step_capacity, t->step_count + 1, sizeof *t->steps);
	t->steps[t->step_count++] = (struct step){ kind, what, 0, t->now_ns };
}

static uint32_t
add_end(struct dim *d, uint32_t *first, uint32_t *last, const struct record *r, uint64_t seq,
    uint64_t completion)
{
	uint32_t end = (uint32_t)d->end_count;

	d->ends = grow(d->ends, &d->end_capacity, d->end_count + 1, sizeof *d->ends);
	d->ends[d->end_count++] = (struct end){ seq, completion, 0, d->location, r->peer, r->tag, r->other,
	    r->comm, r->kind == SEND, false };
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
	uint64_t seq = d->build.rows[d->location].count;
	const struct start *start;
	struct channel *channel;
	uint32_t end;

	row.call = call;
	row.enter_ns = row.leave_ns = d->at->now_ns;
	d->at->computed = false;
	if (r->kind <= WAIT) {
		row.comm = 1;
		row.peer = r->peer;
		row.tag = r->tag;
		*(r->kind == SEND ? &row.bytes_sent : &row.bytes_received) = r->bytes;
	}
	switch (r->kind) {
	case SEND:
		channel = channel_of(d, d->at->rank, (uint32_t)r->peer, r);
		add_step(d, SEND, add_end(d, &channel->sends, &channel->last_send, r, seq, 0));
		break;
	case RECEIVE: case POST:
		channel = channel_here(d, r);
		add_step(d, r->kind, add_end(d, &channel->receives, &channel->last_receive, r, seq,
		    r->kind == RECEIVE ? seq : UINT64_MAX));
		break;
	case WAIT:
		end = open_receive(d, channel_here(d, r));
		if (end == 0)
			die_text(&d->text, "a wait for a receive that was not posted");
		d->ends[end].completion = seq;
		add_step(d, WAIT, end);
		/* In MPI_Sendrecv the receive is the part itself. */
		if (seq > d->ends[end].seq)
			row.request = (uint32_t)(seq - d->ends[end].seq);
		break;
	case COLLECTIVE_WAIT:
		if (d->at->start_first == d->at->start_count)
			die_text(&d->text, "a wait for a collective that was not started");
		start = &d->at->starts[d->at->start_first++];
		row.request = (uint32_t)(seq - start->seq);
		add_step(d, COLLECTIVE_WAIT, start->step);
		break;
	case COLLECTIVE_START:
		d->at->starts = grow(d->at->starts, &d->at->start_capacity, d->at->start_count + 1,
		    sizeof *d->at->starts);
		d->at->starts[d->at->start_count++] = (struct start){ seq, (uint32_t)d->at->step_count };
		/* fall through */
	case COLLECTIVE:
		row.comm = d->comms[r->comm].number;
		row.peer = r->peer;
		row.bytes_sent = r->bytes;
		row.bytes_received = r->received;
		build_called(&d->build, &(struct build_call){ .comm = r->comm,
		    .size = d->comms[r->comm].size, .rank = d->at->rank, .location = d->location,
		    .at_ns = d->at->now_ns, .seq = seq });
		add_step(d, r->kind, r->comm);
		break;
	}
	build_row(&d->build, d->location, &row);
}

/* A row of a function that exchanges nothing. */
void
dim_local(struct dim *d, uint16_t call, int32_t tag, int32_t peer)
{
	struct build_row row = BUILD_ROW;

	row.call = call;
	row.enter_ns = row.leave_ns = d->at->now_ns;
	row.tag = tag;
	row.peer = peer;
	d->at->computed = false;
	build_row(&d->build, d->location, &row);
}

/* MPI_Sendrecv is a receive posted, a send and a wait, each there unless its peer is MPI_PROC_NULL. */
static bool
put_sendrecv(struct dim *d, uint16_t call)
{
	const struct record *send = NULL, *post = NULL, *wait = NULL, *r = d->at->records;
	const struct record null = { SEND, NULL_PEER, NO_TAG, 0, 0, 0, 0, 0, -1 };
	struct build_row row = BUILD_ROW;
	struct channel *channel;
	uint64_t seq;

	for (; r < d->at->records + d->at->record_count; r++)
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
	row.enter_ns = row.leave_ns = d->at->now_ns;
	row.comm = 1;
	row.peer = wait->peer;
	row.tag = wait->tag;
	row.bytes_received = wait->bytes;
	seq = d->build.rows[d->location].count;
	channel = channel_here(d, wait);
	add_step(d, RECEIVE, add_end(d, &channel->receives, &channel->last_receive, wait, seq, seq));
	build_row(&d->build, d->location, &row);
	return true;
}

/* True where the records of a call are what its function does, so that it can be one row and parts. */
static bool
fits(const struct dim *d, uint16_t call)
{
	enum call_class class = call_class(call);
	const struct record *r = d->at->records;

	if (class == CLASS_COMPLETE || class == CLASS_START) {
		for (; r < d->at->records + d->at->record_count; r++)
			if (class == CLASS_COMPLETE ? r->kind != WAIT && r->kind != COLLECTIVE_WAIT :
			    r->kind != POST && !(r->kind == SEND && r->sync == 2))
				return false;
		return true;
	}
	if (d->at->record_count > 1)
		return false;
	/* The protocol that its flags ask for must be that of the function, see lp-replay(1). */
	if (class == CLASS_SEND)
		return r->kind == SEND && r->sync == (call != build_call("MPI_Bsend"));
	if (class == CLASS_SEND_START)
		return r->kind == SEND && r->sync == (call == build_call("MPI_Irsend") ? 3 : 2);
	if (class == CLASS_INIT)
		return r->kind == COLLECTIVE && r->operation == 0;
	return class == call_class(natural_call(r));
}

/* The call that the events have told is over: its rows. */
void
dim_end_call(struct dim *d)
{
	uint16_t call = (uint16_t)d->at->call;

	if (d->at->in_call) {
		enum call_class class = call_class(call);

		if (d->at->record_count == 0)
			dim_local(d, call, NO_TAG, class >= CLASS_SEND && class <= CLASS_START ?
			    NULL_PEER : NO_PEER);
		else if (class == CLASS_SENDRECV ? !put_sendrecv(d, call) : !fits(d, call))
			for (size_t i = 0; i < d->at->record_count; i++)
				put_record(d, natural_call(&d->at->records[i]), &d->at->records[i]);
		else if (class != CLASS_SENDRECV)
			for (size_t i = 0; i < d->at->record_count; i++)
				put_record(d, i == 0 ? call : 0, &d->at->records[i]);
	}
	d->at->in_call = false;
	d->at->record_count = 0;
}

void
dim_record(struct dim *d, const struct record *r)
{
	if (!d->at->in_call) {
		put_record(d, natural_call(r), r);
		return;
	}
	d->at->records = grow(d->at->records, &d->at->record_capacity, d->at->record_count + 1,
	    sizeof *d->at->records);
	d->at->records[d->at->record_count++] = *r;
}

/* A message; what was received from anybody, or with any tag, is known now. */
void
dim_message(struct dim *d, struct end *send, struct end *receive)
{
	struct calls *to = &d->build.rows[receive->location];
	const struct calls *from = &d->build.rows[send->location];
	uint64_t seq = receive->completion != UINT64_MAX ? receive->completion : receive->seq;

	build_message(&d->build, send->location, send->seq, receive->location, seq);
	send->matched = receive->matched = true;
	if (receive->completion == UINT64_MAX)
		return;
	if (receive->peer == ANY_PEER)
		to->peer[seq] = (int32_t)d->threads[send->location].rank;
	if (receive->tag == ANY_TAG)
		to->tag[seq] = send->tag;
	if (receive->peer == ANY_PEER || receive->tag == ANY_TAG)
		to->bytes_received[seq] = from->bytes_sent[send->seq];
}

/* Where nothing is open the ends of a channel match in order. */
static void
match_in_order(struct dim *d)
{
	for (size_t i = 0; i < d->channels->size; i++) {
		const struct channel *c = &d->channels->slots[i];
		uint32_t send = c->sends, receive = c->receives;

		if (CHANNEL_FREE(c))
			continue;
		for (; send != 0 && receive != 0; send = d->ends[send].next,
		    receive = d->ends[receive].next)
			dim_message(d, &d->ends[send], &d->ends[receive]);
	}
}

void
dim_match(struct dim *d)
{
	if (d->played)
		dim_play(d);
	else
		match_in_order(d);
	for (size_t i = 1; i < d->end_count; i++)
		if (!d->ends[i].matched)
			(*(d->ends[i].is_send ? &d->build.unmatched_sends :
			    &d->build.unmatched_receives))++;
	build_match(&d->build);
}

void
dim_begin(struct dim *d)
{
	d->channels = zalloc(1, sizeof *d->channels);
	channels_begin(d->channels, 1024);
	d->ends = grow(NULL, &d->end_capacity, 1, sizeof *d->ends);
	d->end_count = 1;	/* 0 is none */
}
