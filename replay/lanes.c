/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and edges as they are read, and how far they may be simulated. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

static const struct column_type location_type = { 4, false, true, 0 };
static const struct column_type seq_type = { 8, false, true, 0 };

static enum act
act_of(uint16_t call)
{
	const struct call_info *info = call_info(call);

	switch (info->class) {
	case CLASS_SEND: return ACT_SEND;
	case CLASS_RECV: return ACT_RECEIVE;
	case CLASS_SENDRECV: return ACT_SENDRECV;
	case CLASS_SEND_START: return ACT_SEND_START;
	case CLASS_RECV_START: return ACT_POST;
	case CLASS_START: return ACT_START;
	case CLASS_COMPLETE: return ACT_COMPLETE;
	case CLASS_REQUEST_FREE: return ACT_FREE;
	case CLASS_IO: return ACT_KEEP;
	default:
		if (strcmp(info->name, "Extrae_event") == 0)
			return ACT_EVENT;
		return is_collective_start(info->class) ? ACT_COLLECTIVE_START :
		    is_collective(info->class) ? ACT_COLLECTIVE : ACT_LOCAL;
	}
}

/* Modes that Dimemas' converter takes for eager; all other sends are rendezvous by themselves. */
static bool
is_eager(uint16_t call)
{
	const char *name = call_info(call)->name;

	return strcmp(name, "MPI_Send") != 0 && strcmp(name, "MPI_Ssend") != 0 &&
	    strcmp(name, "MPI_Rsend") != 0 && strcmp(name, "MPI_Irsend") != 0;
}

void
engine_begin(struct engine *e, const struct machine *machine, struct definitions *known)
{
	uint32_t n = known->location_count;

	e->machine = machine;
	e->known = known;
	e->locations = n;
	e->contended = machine_is_contended(machine, (uint32_t)known->ranks);
	e->free_flight = e->free_instance = NONE;
	e->lanes = zalloc(n, sizeof *e->lanes);
	e->runners = zalloc(n, sizeof *e->runners);
	e->stack = zalloc(n, sizeof *e->stack);
	for (uint32_t l = 0; l < n; l++) {
		struct runner *r = &e->runners[l];

		/* A thread that is defined only later is on the node of its rank, found then. */
		r->rank = known->location_rank[l] >= 0 ? (uint32_t)known->location_rank[l] : 0;
		r->node = machine->node_of[r->rank];
		r->starved = true;
		r->next = NONE;
	}
	e->starving = n;
	events_begin(&e->events);
	transfer_begin(e);
}

static struct op *
make_room(struct lane *lane, size_t rows)
{
	/* Moving the kept rows down is cheap only where they are few. */
	if (lane->begin > 0 && lane->begin >= lane->count) {
		memmove(lane->ops, lane->ops + lane->begin, lane->count * sizeof *lane->ops);
		lane->begin = 0;
	}
	lane->ops = grow(lane->ops, &lane->capacity, lane->begin + lane->count + rows,
	    sizeof *lane->ops);
	return lane->ops + lane->begin + lane->count;
}

void
lane_drop(struct lane *lane, uint64_t seq)
{
	size_t rows = (size_t)(seq - lane->first);

	lane->begin += rows;
	lane->count -= rows;
	lane->first = seq;
}

/* A row's own act where it is a part: the receive of MPI_Sendrecv waits for what the call posted. */
static enum act
part_act(enum act act)
{
	return act == ACT_SENDRECV ? ACT_WAIT : act;
}

int
lanes_add(struct engine *e, struct reader *in, const struct message *message,
    const struct calls *calls)
{
	static uint8_t acts[UINT16_MAX + 1];	/* 1 + act, and 128 for an eager send; 0: not known yet */
	struct lane *lane;
	struct runner *runner;
	struct op *op;
	uint16_t call = 0;

	if (calls->location >= e->locations)
		return reader_fail(in, message->offset, "calls: location is out of range");
	lane = &e->lanes[calls->location];
	runner = &e->runners[calls->location];
	if (calls->first != lane_end(lane) ||
	    (calls->count > 0 && calls->first > 0 && calls->enter_ns[0] < lane->last_leave_ns))
		return reader_fail(in, message->offset, "calls: the block does not follow the one before");
	runner->rank = (uint32_t)e->known->location_rank[calls->location];
	runner->node = e->machine->node_of[runner->rank];
	op = make_room(lane, calls->count);
	for (size_t i = 0; i < calls->count; i++, op++) {
		bool part = calls->call[i] == 0;

		if (calls->request_at[i] > e->locations)
			return reader_fail(in, message->offset, "calls: request is out of range");
		call = part ? call : calls->call[i];
		if (acts[call] == 0)
			acts[call] = (uint8_t)((1 + act_of(call)) | (is_eager(call) ? 128 : 0));
		op->act = (acts[call] & 127) - 1;
		if (part)
			op->act = part_act(op->act);
		op->eager = acts[call] >> 7;
		op->gap_ns = part ? 0 : calls->enter_ns[i] - lane->last_leave_ns;
		op->duration_ns = calls->leave_ns[i] - calls->enter_ns[i];
		op->sent = calls->bytes_sent[i];
		op->received = calls->bytes_received[i];
		op->link = NONE;
		op->request = calls->request[i];
		op->request_at = calls->request_at[i];
		op->comm = calls->comm[i];
		op->site = calls->site[i];
		op->peer = calls->peer[i];
		op->tag = calls->tag[i];
		op->call = call;
		op->part = part;
		op->open = op->act == ACT_POST || op->act == ACT_START || op->act == ACT_SEND_START ||
		    op->act == ACT_COLLECTIVE_START;
		lane->last_leave_ns = calls->leave_ns[i];
	}
	lane->count += calls->count;
	return 0;
}

/* The row that started the request of OP, or NULL. */
static struct op *
started_by(const struct engine *e, const struct op *op, uint32_t location, uint64_t seq)
{
	if (op->request_at > 0)
		return op_at(e, op->request_at - 1, op->request);
	return op->request > 0 ? op_at(e, location, seq - op->request) : NULL;
}

/* The columns of one block of edges, in buffers that are used again. */
struct columns { void *values; size_t capacity; };

static int
read_column(struct columns *to, struct reader *in, const struct message *message, const char *key,
    struct column_type type, size_t count)
{
	const msgpack_object *bin = body_get(message, key);

	/* The count is believed only as far as there are bytes for it. */
	if (bin == NULL || bin->type != MSGPACK_OBJECT_BIN || bin->via.bin.size < count)
		return reader_fail(in, message->offset, "%s: %s is missing or too short", message->kind, key);
	to->values = grow(to->values, &to->capacity, count + 1, 8);
	return body_column(in, message, key, type, count, count, to->values);
}

static int
bad_end(struct reader *in, const struct message *message, uint32_t location, uint64_t seq)
{
	return reader_fail(in, message->offset, "%s: row %llu of location %u is not there",
	    message->kind, (unsigned long long)seq, location);
}

/* One message: its two rows, and the one that posts the receive, get it. */
static void
add_flight(struct engine *e, uint32_t source, uint64_t send, uint32_t target, uint64_t receive)
{
	uint32_t f = flight_new(e);
	struct flight *flight = &e->flights[f];
	struct op *from = op_at(e, source, send), *to = op_at(e, target, receive), *post;

	flight->source = source;
	flight->target = target;
	flight->send_seq = send;
	flight->receive_seq = receive;
	flight->bytes = from->sent;
	flight->references = 3;
	flight_route(e, flight);
	if (from->act == ACT_START)
		from->act = ACT_SEND_START;
	from->link = to->link = f;
	if (to->act != ACT_COMPLETE)
		return;
	to->act = ACT_WAIT;
	post = started_by(e, to, target, receive);
	if (post != NULL && (post->act == ACT_POST || post->act == ACT_START)) {
		post->act = ACT_POST;
		post->link = f;
		flight->references++;
	}
}

int
lanes_messages(struct engine *e, struct reader *in, const struct message *message)
{
	static struct columns columns[4];
	const uint32_t *source, *target;
	const uint64_t *send, *receive;
	int64_t count;

	if (body_int(in, message, "count", 0, UINT32_MAX, &count) < 0 ||
	    read_column(&columns[0], in, message, "source", location_type, (size_t)count) < 0 ||
	    read_column(&columns[1], in, message, "send", seq_type, (size_t)count) < 0 ||
	    read_column(&columns[2], in, message, "target", location_type, (size_t)count) < 0 ||
	    read_column(&columns[3], in, message, "receive", seq_type, (size_t)count) < 0)
		return -1;
	source = columns[0].values;
	send = columns[1].values;
	target = columns[2].values;
	receive = columns[3].values;
	for (int64_t i = 0; i < count; i++) {
		if (source[i] >= e->locations || op_at(e, source[i], send[i]) == NULL)
			return bad_end(in, message, source[i], send[i]);
		if (target[i] >= e->locations || op_at(e, target[i], receive[i]) == NULL)
			return bad_end(in, message, target[i], receive[i]);
		if (op_at(e, source[i], send[i])->link != NONE ||
		    op_at(e, target[i], receive[i])->link != NONE)
			return reader_fail(in, message->offset, "messages: a row has two messages");
		add_flight(e, source[i], send[i], target[i], receive[i]);
	}
	return 0;
}

/* Its rank in the communicator, for what waits by rank. */
static uint32_t
comm_rank(const struct engine *e, uint32_t comm, uint32_t location)
{
	int32_t rank = e->known->location_rank[location];
	const struct communicator *c = comm < e->known->comm_count ? &e->known->comms[comm] : NULL;

	for (int32_t i = 0; c != NULL && c->members != NULL && i < c->size; i++)
		if (c->members[i] == rank)
			return (uint32_t)i;
	return (uint32_t)rank;
}

static void
add_instance(struct engine *e, const uint32_t *location, const uint64_t *seq, uint32_t count)
{
	uint32_t i = instance_new(e, count);
	struct instance *instance = &e->instances[i];
	const struct op *first = op_at(e, location[0], seq[0]);
	enum call_class class = blocking_class(call_info(first->call)->class);
	bool keeps = e->machine->keeps_init && (class == CLASS_INIT || class == CLASS_FINALIZE);

	instance->class = (uint8_t)class;
	instance->operation = (uint8_t)operation_of(first->call);
	instance->comm = first->comm;
	for (uint32_t k = 0; k < count; k++) {
		struct op *op = op_at(e, location[k], seq[k]);
		int32_t rank = e->known->location_rank[location[k]];

		op->link = i;
		op->member = k;
		/* The shortest call is that of the last to come, which waited for nobody. */
		if (keeps && (k == 0 || (double)op->duration_ns < instance->own_ns))
			instance->own_ns = (double)op->duration_ns;
		instance->members[k] = (struct arrival){ .location = location[k], .at_ns = -1,
		    .comm_rank = class == CLASS_SCAN || class == CLASS_NEIGHBOUR ?
		    comm_rank(e, op->comm, location[k]) : (uint32_t)rank };
		if (op->peer == ROOT_PEER ||
		    (op->peer >= 0 && world_rank(e->known, op->comm, rank, op->peer) == rank))
			instance->root = k;
	}
}

int
lanes_collectives(struct engine *e, struct reader *in, const struct message *message)
{
	static struct columns columns[3];
	const uint32_t *size, *location;
	const uint64_t *seq;
	int64_t count, instances;
	uint64_t at = 0;

	if (body_int(in, message, "count", 0, UINT32_MAX, &count) < 0 ||
	    body_int(in, message, "instances", 0, UINT32_MAX, &instances) < 0 ||
	    read_column(&columns[0], in, message, "size", location_type, (size_t)instances) < 0 ||
	    read_column(&columns[1], in, message, "location", location_type, (size_t)count) < 0 ||
	    read_column(&columns[2], in, message, "seq", seq_type, (size_t)count) < 0)
		return -1;
	size = columns[0].values;
	location = columns[1].values;
	seq = columns[2].values;
	for (int64_t i = 0; i < instances; at += size[i++]) {
		if (size[i] == 0 || at + size[i] > (uint64_t)count)
			return reader_fail(in, message->offset, "collectives: sizes and members differ");
		for (uint64_t k = at; k < at + size[i]; k++) {
			const struct op *op = location[k] < e->locations ?
			    op_at(e, location[k], seq[k]) : NULL;

			if (op == NULL)
				return bad_end(in, message, location[k], seq[k]);
			if (op->link != NONE || (op->act != ACT_COLLECTIVE && op->act != ACT_COLLECTIVE_START))
				return reader_fail(in, message->offset, "collectives: a member is no collective");
		}
		add_instance(e, location + at, seq + at, size[i]);
	}
	if (at != (uint64_t)count)
		return reader_fail(in, message->offset, "collectives: sizes and members differ");
	return 0;
}

/* The edges of these rows have all come: what do their completions complete? */
static void
resolve(struct engine *e, uint32_t location, uint64_t from, uint64_t to)
{
	for (uint64_t seq = from; seq < to; seq++) {
		struct op *op = op_at(e, location, seq), *start;

		if (op->act != ACT_COMPLETE && op->act != ACT_WAIT && op->act != ACT_FREE)
			continue;
		start = started_by(e, op, location, seq);
		if (start == NULL)
			continue;
		start->open = false;
		if (op->act != ACT_COMPLETE || start->link == NONE)
			continue;
		if (start->act == ACT_COLLECTIVE_START) {
			op->act = ACT_WAIT_COLLECTIVE;
			op->link = start->link;
			op->member = start->member;
			e->instances[op->link].references++;
		} else if (start->act == ACT_SEND_START) {
			op->act = ACT_WAIT_SEND;
			op->link = start->link;
			e->flights[op->link].references++;
		}
	}
}

/* Rows may be simulated up to the first that starts a request of which the end is not known. */
static void
advance_ready(struct engine *e)
{
	for (uint32_t l = 0; l < e->locations; l++) {
		struct lane *lane = &e->lanes[l];
		uint64_t whole = lane->ready;	/* calls only, with all their parts */

		for (uint64_t seq = lane->ready; seq <= lane->settled; seq++) {
			const struct op *op = op_at(e, l, seq);

			if (op == NULL || !op->part)
				whole = seq;
			if (seq == lane->settled || (op->open && !e->ended))
				break;
		}
		lane->ready = whole;
	}
}

int
lanes_settle(struct engine *e, struct reader *in, const struct message *message)
{
	static struct columns column;
	const uint64_t *seqs;
	int64_t count;

	if (body_int(in, message, "count", e->locations, e->locations, &count) < 0 ||
	    read_column(&column, in, message, "seq", seq_type, (size_t)count) < 0)
		return -1;
	seqs = column.values;
	for (uint32_t l = 0; l < e->locations; l++) {
		struct lane *lane = &e->lanes[l];

		if (seqs[l] > lane_end(lane))
			return bad_end(in, message, l, seqs[l]);
		if (seqs[l] <= lane->settled)
			continue;
		resolve(e, l, lane->settled, seqs[l]);
		lane->settled = seqs[l];
	}
	advance_ready(e);
	return 0;
}

void
lanes_end(struct engine *e)
{
	e->ended = true;
	for (uint32_t l = 0; l < e->locations; l++) {
		resolve(e, l, e->lanes[l].settled, lane_end(&e->lanes[l]));
		e->lanes[l].settled = lane_end(&e->lanes[l]);
	}
	advance_ready(e);
}
