/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dimemas traces. They know how long ranks computed and what they then called, but no length of a
 * call: a row has none here, and the clock of a rank is the sum of its bursts.
 */
#include <stdlib.h>
#include <string.h>

#include "../stream/hash_table.h"
#include "../stream/paraver.h"
#include "import.h"

enum kind { SEND, RECEIVE, POST, WAIT, COLLECTIVE, COLLECTIVE_START, COLLECTIVE_WAIT };

struct record {
	enum kind kind;
	int32_t peer, tag;		/* world rank; of a collective the root in its communicator */
	uint64_t bytes, received;
	uint32_t comm;			/* as in the file */
	int sync, operation;		/* flags of a send; id of a collective */
};

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

struct member {
	uint32_t comm, rank;
	uint64_t index, seq;		/* which of the rank's collectives on it; row */
};

struct dim {
	struct text text;
	struct build build;
	struct channels channels;
	struct end *ends;
	size_t end_count, end_capacity;
	struct member *members;
	size_t member_count, member_capacity;
	struct comm { uint32_t number; int32_t size, *members; uint64_t *calls; } *comms; /* by id */
	size_t comm_capacity;
	/* The rank whose records are being read. */
	uint32_t rank;
	int64_t now_ns;
	bool computed;			/* a burst since the last row */
	int call;			/* index of the call that events say we are in; 0 none */
	bool in_call;
	struct record *records;		/* of that call */
	size_t record_count, record_capacity;
	uint64_t *starts;		/* rows of collectives that were started and not yet waited for */
	size_t start_count, start_capacity, start_first;
	uint16_t event, by_value[6][256];
};

static const char *const operations[] = {
	"MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv",
	"MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Reduce",
	"MPI_Allreduce", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Alltoallw",
	"MPI_Ibarrier", "MPI_Ibcast", "MPI_Igather", "MPI_Igatherv", "MPI_Iscatter", "MPI_Iscatterv",
	"MPI_Iallgather", "MPI_Iallgatherv", "MPI_Ialltoall", "MPI_Ialltoallv", "MPI_Ireduce",
	"MPI_Iallreduce", "MPI_Ireduce_scatter", "MPI_Ireduce_scatter_block", "MPI_Iscan",
	"MPI_Ialltoallw",
};
enum { OPERATIONS = 16, REDUCE = 10 };

static uint16_t
call_of(const char *name)
{
	int number = call_number(name);

	if (number < 0)
		die("too many functions");
	return (uint16_t)number;
}

/* The call that such a record is where no event says more. */
static uint16_t
natural_call(const struct record *r)
{
	/* The flags of a send say how Dimemas' own converter saw the mode of the call. */
	static const char *const sends[] = { "MPI_Bsend", "MPI_Ssend", "MPI_Isend", "MPI_Irsend" };

	switch (r->kind) {
	case SEND: return call_of(sends[r->sync]);
	case RECEIVE: return call_of("MPI_Recv");
	case POST: return call_of("MPI_Irecv");
	case COLLECTIVE: return call_of(operations[r->operation]);
	case COLLECTIVE_START: return call_of(operations[OPERATIONS + r->operation]);
	default: return call_of("MPI_Wait");
	}
}

static struct channel *
channel_of(struct dim *d, uint32_t source, uint32_t target, const struct record *r)
{
	struct channel key = { source, target, r->comm, r->tag, 0, 0, 0, 0, 0 };

	return channels_add(&d->channels, &key);
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
		d->members = grow(d->members, &d->member_capacity, d->member_count + 1,
		    sizeof *d->members);
		d->members[d->member_count++] = (struct member){ r->comm, d->rank,
		    d->comms[r->comm].calls[d->rank]++, seq };
		break;
	}
	build_row(&d->build, d->rank, &row);
}

/* A row of a function that exchanges nothing. */
static void
put_local(struct dim *d, uint16_t call, int32_t tag, int32_t peer)
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
		put_local(d, call, null.tag, null.peer);
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
		return r->kind == SEND && r->sync == (call != call_of("MPI_Bsend"));
	if (class == CLASS_SEND_START)
		return r->kind == SEND && r->sync == (call == call_of("MPI_Irsend") ? 3 : 2);
	if (class == CLASS_INIT)
		return r->kind == COLLECTIVE && r->operation == 0;
	return class == call_info(natural_call(r))->class;
}

/* The call that the events have told is over: its rows. */
static void
end_call(struct dim *d)
{
	uint16_t call = (uint16_t)d->call;

	if (d->in_call) {
		enum call_class class = call_info(call)->class;

		if (d->record_count == 0)
			put_local(d, call, NO_TAG, class >= CLASS_SEND && class <= CLASS_START ?
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

static void
take_record(struct dim *d, const struct record *r)
{
	if (!d->in_call) {
		put_record(d, natural_call(r), r);
		return;
	}
	d->records = grow(d->records, &d->record_capacity, d->record_count + 1, sizeof *d->records);
	d->records[d->record_count++] = *r;
}

static void
take_event(struct dim *d, int64_t type, int64_t value)
{
	if (type > PARAVER_TYPE && type <= PARAVER_TYPE + 5) {
		end_call(d);
		if (value != 0) {
			char name[32];

			d->call = value < 256 ? d->by_value[type - PARAVER_TYPE][value] : 0;
			if (d->call == 0) {
				snprintf(name, sizeof name, "MPI event %d:%d", (int)type, (int)value);
				d->call = call_of(name);
			}
			d->in_call = true;
		}
		return;
	}
	/* What Extrae adds by itself: its own state, counters, arguments of calls and callers. */
	if (type == 0 || (type >= 40000000 && type < 60000000) || (type >= 70000000 && type < 90000000) ||
	    type > INT32_MAX || value > INT32_MAX || d->in_call)
		return;
	put_local(d, d->event, (int32_t)type, (int32_t)value);
}

/* Seconds with up to nine decimals, exactly. */
static int64_t
take_seconds(struct dim *d, char *at)
{
	char *end;
	int64_t seconds = text_integer(&d->text, &at, 0, INT64_MAX / 1000000000), ns = 0;

	if (*at == '.')
		for (int64_t unit = 100000000; *++at >= '0' && *at <= '9'; unit /= 10)
			ns += (*at - '0') * unit;
	if (*at == 'e' || *at == 'E')
		die_text(&d->text, "a time has an exponent");
	end = at;
	if (*end != '\0' || __builtin_add_overflow(seconds * 1000000000, ns, &ns))
		die_text(&d->text, "a time is out of range");
	return ns;
}

static void
take_burst(struct dim *d, char *at)
{
	int64_t ns = take_seconds(d, at);

	if (ns == 0)
		return;
	if (d->in_call)
		end_call(d);
	else if (d->computed)	/* two bursts, one behind the other, stay two: see lp-replay(1) */
		put_local(d, d->event, NO_TAG, NO_PEER);
	if (__builtin_add_overflow(d->now_ns, ns, &d->now_ns))
		die_text(&d->text, "a time is out of range");
	d->computed = true;
}

/* The end of a rank's records: a last burst needs a row behind it. */
static void
end_rank(struct dim *d)
{
	end_call(d);
	if (d->computed)
		put_local(d, call_of("exit"), NO_TAG, NO_PEER);
	d->now_ns = 0;
	d->start_first = d->start_count = 0;
}

static void
take_send(struct dim *d, char *at)
{
	const struct text *t = &d->text;
	int32_t ranks = (int32_t)d->build.ranks;
	struct record r = { .kind = SEND };

	r.peer = (int32_t)text_integer(t, &at, 0, ranks - 1);
	text_integer(t, &at, -1, INT32_MAX);
	r.bytes = (uint64_t)text_integer(t, &at, 0, INT64_MAX);
	r.tag = (int32_t)text_integer(t, &at, 0, INT32_MAX);
	r.comm = (uint32_t)text_integer(t, &at, 0, UINT32_MAX);
	r.sync = (int)text_integer(t, &at, 0, 3);
	take_record(d, &r);
}

static void
take_receive(struct dim *d, char *at)
{
	const struct text *t = &d->text;
	int32_t ranks = (int32_t)d->build.ranks;
	struct record r = { .kind = RECEIVE };

	if (*at == '-')
		die_text(t, "a receive from anybody: only prv2dim's way, resolved ones, is read");
	r.peer = (int32_t)text_integer(t, &at, 0, ranks - 1);
	text_integer(t, &at, -1, INT32_MAX);
	r.bytes = (uint64_t)text_integer(t, &at, 0, INT64_MAX);
	if (*at == '-')
		die_text(t, "a receive with any tag: only prv2dim's way, resolved ones, is read");
	r.tag = (int32_t)text_integer(t, &at, 0, INT32_MAX);
	r.comm = (uint32_t)text_integer(t, &at, 0, UINT32_MAX);
	r.kind = (enum kind)(RECEIVE + text_integer(t, &at, 0, 2));
	take_record(d, &r);
}

/* The rank of a task in a communicator, which it must be in. */
static int32_t
rank_in(const struct dim *d, const struct comm *comm, int32_t task)
{
	for (int32_t i = 0; i < comm->size; i++)
		if (comm->members[i] == task)
			return i;
	die_text(&d->text, "a collective of a task that is not in the communicator");
}

static void
take_collective(struct dim *d, char *at)
{
	static const enum kind kinds[] = { COLLECTIVE_START, COLLECTIVE, COLLECTIVE_WAIT, COLLECTIVE };
	const struct text *t = &d->text;
	struct record r = { .peer = NO_PEER };
	const struct comm *comm;
	int64_t root;

	r.operation = (int)text_integer(t, &at, 0, OPERATIONS - 1);
	r.comm = (uint32_t)text_integer(t, &at, 0, UINT32_MAX);
	if (r.comm >= d->comm_capacity || d->comms[r.comm].size == 0)
		die_text(t, "a collective on a communicator that is not defined");
	comm = &d->comms[r.comm];
	root = text_integer(t, &at, 0, INT32_MAX);
	text_integer(t, &at, -1, INT32_MAX);
	r.bytes = (uint64_t)text_integer(t, &at, 0, INT64_MAX);
	r.received = (uint64_t)text_integer(t, &at, 0, INT64_MAX);
	r.sync = (int)text_integer(t, &at, 0, 3);
	r.kind = kinds[r.sync];
	if (r.sync == 3)	/* MPI_Reduce as prv2dim writes it: the field is the root's task */
		r.peer = rank_in(d, comm, (int32_t)root);
	else if (root != 0)
		r.peer = rank_in(d, comm, (int32_t)d->rank);
	rank_in(d, comm, (int32_t)d->rank);
	take_record(d, &r);
}

/* d:1:COMM:N:task:task... */
static void
take_communicator(struct dim *d, char *at)
{
	struct comm *comm;
	int64_t id;
	size_t known = d->comm_capacity;

	text_integer(&d->text, &at, 0, INT32_MAX);
	id = text_integer(&d->text, &at, 0, 1 << 24);
	d->comms = grow(d->comms, &d->comm_capacity, (size_t)id + 1, sizeof *d->comms);
	memset(d->comms + known, 0, (d->comm_capacity - known) * sizeof *d->comms);
	comm = &d->comms[id];
	comm->size = (int32_t)text_integer(&d->text, &at, 1, d->build.ranks);
	comm->members = zalloc((size_t)comm->size, sizeof *comm->members);
	comm->calls = zalloc(d->build.ranks, sizeof *comm->calls);
	for (int32_t i = 0; i < comm->size; i++)
		comm->members[i] = (int32_t)text_integer(&d->text, &at, 0, d->build.ranks - 1);
	comm->number = build_comm(&d->build, comm->members, comm->size);
}

/* #DIMEMAS:"name":1,OFFSET:NTASKS(threads,...),NCOMMS */
static void
take_header(struct dim *d)
{
	char *at;

	if (!text_next(&d->text) || strncmp(d->text.line, "#DIMEMAS:", 9) != 0 ||
	    (at = strrchr(d->text.line, '"')) == NULL || at[1] != ':')
		die_text(&d->text, "no Dimemas trace: its first line begins with #DIMEMAS:");
	at += 2;
	text_integer(&d->text, &at, 0, INT64_MAX);
	if (*at != ':')		/* the offset, which only Dimemas needs */
		text_integer(&d->text, &at, 0, INT64_MAX);
	at += *at == ':';
	build_begin(&d->build, (uint32_t)text_integer(&d->text, &at, 1, 1 << 24));
}

static int
by_instance(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void
match(struct dim *d)
{
	struct build *b = &d->build;

	for (size_t i = 0; i < d->channels.size; i++) {
		const struct channel *c = &d->channels.slots[i];
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
	qsort(d->members, d->member_count, sizeof *d->members, by_instance);
	for (size_t i = 0, next; i < d->member_count; i = next) {
		for (next = i + 1; next < d->member_count && d->members[next].comm == d->members[i].comm &&
		    d->members[next].index == d->members[i].index; next++)
			;
		if (next - i < (size_t)d->comms[d->members[i].comm].size) {
			b->unmatched_collectives++;
			continue;
		}
		build_instance(b);
		for (size_t k = i; k < next; k++)
			build_member(b, d->members[k].rank, d->members[k].seq);
	}
}

static void
take_line(struct dim *d)
{
	char *at = d->text.line;
	int64_t kind, rank;

	if (*at == 'd' && at[1] == ':') {
		at += 2;
		take_communicator(d, at);
		return;
	}
	if (*at == 's' || *at == '\0' || *at == '#')
		return;
	kind = text_integer(&d->text, &at, 0, INT32_MAX);
	rank = text_integer(&d->text, &at, 0, d->build.ranks - 1);
	if (rank != d->rank) {
		if (rank < d->rank)
			die_text(&d->text, "the tasks are not in order");
		end_rank(d);
		d->rank = (uint32_t)rank;
	}
	if (text_integer(&d->text, &at, 0, INT32_MAX) != 0)
		die_text(&d->text, "a second thread, which is not read");
	if (kind == 1)
		take_burst(d, at);
	else if (kind == 2)
		take_send(d, at);
	else if (kind == 3)
		take_receive(d, at);
	else if (kind == 10)
		take_collective(d, at);
	else if (kind == 20) {
		int64_t type = text_integer(&d->text, &at, 0, INT64_MAX);

		take_event(d, type, text_integer(&d->text, &at, INT64_MIN + 1, INT64_MAX));
	} else if (kind != 0)
		die_text(&d->text, "a record of a kind that is not known");
}

void
import_dim(char **files, int argc, char **argv)
{
	const char *file = files[0];
	static struct dim d;

	text_open(&d.text, file);
	take_header(&d);
	channels_begin(&d.channels, 1024);
	d.ends = grow(NULL, &d.end_capacity, 1, sizeof *d.ends);
	d.end_count = 1;	/* 0 is none */
	d.event = call_of("Extrae_event");
#define PARAVER_CALL(type, value, name) d.by_value[type][value] = call_of(name);
	PARAVER_CALLS
#undef PARAVER_CALL
	while (text_next(&d.text))
		take_line(&d);
	end_rank(&d);
	match(&d);
	build_write(&d.build, argc, argv);
}
