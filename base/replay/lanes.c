/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads rows, and finds how far they may be simulated. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine.h"
#include "../mpi/call_class.h"
#include "../tool/hash_table.h"

/*
 * A persistent send has the mode of the call that made its request. That row may be long gone at
 * the start, so the call is kept until the request is freed.
 */
struct made {			/* by a call of class SEND_INIT or RECV_INIT */
	uint64_t seq, started;	/* row that started it last; 0: none */
	uint32_t location;	/* NONE: free */
	uint16_t call;
};

HASH_TABLE_OF(made_requests, struct made, location, seq, location, NONE)

static enum act
act_of(uint16_t call)
{
	enum call_class class = call_class(call);

	switch (class) {
	case CLASS_SEND: case CLASS_THREAD_SIGNAL: return ACT_SEND;
	case CLASS_RECV: case CLASS_THREAD_WAIT: return ACT_RECEIVE;
	case CLASS_PROBE: return ACT_PROBE;
	case CLASS_SENDRECV: return ACT_SENDRECV;
	case CLASS_SEND_START: return ACT_SEND_START;
	case CLASS_RECV_START: return ACT_POST;
	case CLASS_START: return ACT_START;
	case CLASS_COMPLETE: return ACT_COMPLETE;
	case CLASS_REQUEST_FREE: return ACT_FREE;
	case CLASS_SEND_INIT: case CLASS_RECV_INIT: return ACT_REQUEST;
	case CLASS_IO: case CLASS_FILE_START: return ACT_KEEP;
	case CLASS_FILE: case CLASS_DISCONNECT: return ACT_FILE;
	case CLASS_COMM_CREATE_GROUP: return ACT_LOCAL;	/* unless it has an edge */
	default:
		if (strcmp(call_name(call), "Extrae_event") == 0)
			return ACT_EVENT;
		return is_collective_start(class) ? ACT_COLLECTIVE_START :
		    is_collective(class) ? ACT_COLLECTIVE : ACT_LOCAL;
	}
}

static void
take_seat(struct engine *e, uint32_t location, uint32_t rank)
{
	e->runners[location].rank = rank;
	e->node_of[location] = e->machine->node_of[rank];
	e->runners[location].cpu_ratio = e->machine->nodes[e->node_of[location]].ratio;
}

void
engine_begin(struct engine *e, const struct machine *machine, struct definitions *known)
{
	uint32_t n = known->location_count;

	e->machine = machine;
	e->known = known;
	e->locations = n;
	e->contended = machine_is_contended(machine, (uint32_t)known->ranks);
	e->free_instance = NONE;
	e->lanes = zalloc(n, sizeof *e->lanes);
	e->runners = zalloc(n, sizeof *e->runners);
	e->node_of = zalloc(n, sizeof *e->node_of);
	e->patterns = zalloc(UINT16_MAX + 1, sizeof *e->patterns);
	e->stack = zalloc(n, sizeof *e->stack);
	for (uint32_t l = 0; l < n; l++) {
		/* A later thread runs on the node of its rank. */
		take_seat(e, l,
		    known->location_rank[l] >= 0 ? (uint32_t)known->location_rank[l] : 0);
		e->runners[l].starved = true;
		e->runners[l].next = NONE;
	}
	e->starving = n;
	events_begin(&e->events);
	transfer_begin(e);
}

static void
make_room(struct op_lane *lane, size_t rows)
{
	size_t capacity = lane->capacity;

	/* Moving the kept rows down is cheap only if they are few. */
	if (lane->begin > 0 && lane->begin >= lane->count) {
		memmove(lane->ops, lane->ops + lane->begin, lane->count * sizeof *lane->ops);
		memmove(lane->rows, lane->rows + lane->begin, lane->count * sizeof *lane->rows);
		lane->begin = 0;
	}
	GROW(lane->ops, capacity, lane->begin + lane->count + rows);
	GROW(lane->rows, lane->capacity, lane->begin + lane->count + rows);
}

/* MODE "Ssend": is it MPI_Ssend, MPI_Issend or MPI_Ssend_init? MPI_Rsend has no mode of its own. */
static bool
has_mode(uint16_t call, const char *mode)
{
	const char *name = call_name(call);

	if (strncmp(name, "MPI_", 4) != 0)
		return false;
	name += name[4] == 'I' && strchr("bs", name[5]) != NULL ? 5 : 4;
	return strncasecmp(name, mode, strlen(mode)) == 0;
}

/* Modes that are eager in Dimemas' converter; there all other sends are rendezvous. */
static bool
is_eager_by_call(uint16_t call)
{
	const char *name = call_name(call);

	return strcmp(name, "MPI_Send") != 0 && strcmp(name, "MPI_Ssend") != 0 &&
	    strcmp(name, "MPI_Rsend") != 0 && strcmp(name, "MPI_Irsend") != 0;
}

/* The bytes from which a send of this call waits for its receive; UINT64_MAX: it never does. */
static uint64_t
rendezvous_from(const struct machine *m, uint16_t call)
{
	if (is_signal(call_class(call)))
		return UINT64_MAX;
	if (m->eager_bytes < 0)
		return is_eager_by_call(call) ? UINT64_MAX : 0;
	if (m->heeds_modes && has_mode(call, "Bsend"))
		return UINT64_MAX;
	return m->heeds_modes && has_mode(call, "Ssend") ? 0 : (uint64_t)m->eager_bytes;
}

static const struct op_pattern *
pattern_of(struct engine *e, uint16_t call)
{
	struct op_pattern *pattern = &e->patterns[call];
	struct op *op = &pattern->op;

	if (pattern->known)
		return pattern;
	pattern->known = true;
	pattern->rendezvous_from = rendezvous_from(e->machine, call);
	*op = (struct op){ .act = act_of(call), .link = NONE,
	    .frames = span_begins(call) || span_frames(call) };
	op->costs = op->act != ACT_LOCAL && op->act != ACT_PROBE && op->act != ACT_EVENT &&
	    !is_kept(op) && op->act != ACT_FREE && op->act != ACT_REQUEST;
	op->open = op->act == ACT_POST || op->act == ACT_START || op->act == ACT_SEND_START ||
	    op->act == ACT_COLLECTIVE_START;
	return pattern;
}

/* A row of a persistent request: makes, starts or frees it. */
static void
note_request(struct engine *e, uint32_t location, uint64_t seq, struct op *op,
    struct replay_row *row)
{
	enum call_class class = call_class(row->call);
	struct made key = { .seq = seq, .location = location }, *made;

	if (class == CLASS_SEND_INIT || class == CLASS_RECV_INIT) {
		made_requests_add(&e->made, &(struct made){ seq, 0, location, row->call });
		return;
	}
	follow_request(row, &key.location, &key.seq);
	made = key.location < e->locations ? made_requests_find(e->made, &key) : NULL;
	if (made == NULL)
		return;
	if (class == CLASS_START) {
		made->started = seq;
		op->act = call_class(made->call) == CLASS_SEND_INIT ? ACT_SEND_START : ACT_POST;
		op->rendezvous = row->sent >= rendezvous_from(e->machine,
		    e->machine->eager_bytes < 0 ? row->call : made->call);
		return;
	}
	/* Freeing a persistent request frees the operation started last. */
	if (made->started > 0) {
		row->request_at = made->location + 1;
		row->request = (uint32_t)made->started;
	}
	made_requests_remove(e->made, made);
}

/* Fills a row from row I of a block. */
static void
read_row(struct replay_row *row, const struct calls *calls, size_t i, uint16_t call)
{
	row->sent = calls->bytes_sent[i];
	row->received = calls->bytes_received[i];
	row->request = calls->request[i];
	row->request_at = calls->request_at[i];
	row->comm = calls->comm[i];
	row->site = calls->site[i];
	row->peer = calls->peer[i];
	row->tag = calls->tag[i];
	row->call = call;
}

/* A thread that waits at first for the one that created it has not computed before. */
static void
begin_thread(struct engine *e, const struct calls *calls)
{
	struct op *first = op_at(e, calls->location, 0);

	if (call_class(calls->call[0]) != CLASS_THREAD_WAIT || first->duration_ns > 0)
		return;
	e->runners[calls->location].recorded_leave_ns = first->gap_ns;
	first->gap_ns = 0;
}

int
lanes_add(struct engine *e, struct reader *in, const struct message *message,
    const struct calls *calls)
{
	const struct op_pattern *pattern = NULL;
	struct op_lane *lane;
	struct op *op;
	struct replay_row *row;
	uint16_t call = 0;

	if (calls->location >= e->locations)
		return reader_fail(in, message->offset, "calls: location is out of range");
	lane = &e->lanes[calls->location];
	if (calls->first != lane_end(lane) ||
	    (calls->count > 0 && calls->first > 0 && calls->enter_ns[0] < lane->last_leave_ns))
		return reader_fail(in, message->offset, "calls: the block does not follow the one "
		    "before");
	take_seat(e, calls->location, (uint32_t)e->known->location_rank[calls->location]);
	if (calls->count == 0)
		return 0;
	make_room(lane, calls->count);
	op = lane->ops + lane->begin + lane->count;
	row = lane->rows + lane->begin + lane->count;
	for (size_t i = 0; i < calls->count; i++, op++, row++) {
		bool part = calls->call[i] == 0;

		if (calls->request_at[i] > e->locations)
			return reader_fail(in, message->offset, "calls: request is out of range");
		if (!part || pattern == NULL) {
			call = calls->call[i];
			pattern = pattern_of(e, call);
		}
		*op = pattern->op;
		op->part = part;
		/* the receive of MPI_Sendrecv waits for the receive that the call posted */
		if (part && op->act == ACT_SENDRECV)
			op->act = ACT_WAIT;
		op->gap_ns = part ? 0 : calls->enter_ns[i] - lane->last_leave_ns;
		op->duration_ns = calls->leave_ns[i] - calls->enter_ns[i];
		op->startup_ns = is_kept(op) ? (double)op->duration_ns : 0;
		op->rendezvous = calls->bytes_sent[i] >= pattern->rendezvous_from;
		read_row(row, calls, i, call);
		if (op->act == ACT_FILE || op->act == ACT_COLLECTIVE)
			row->enter_ns = calls->enter_ns[i];
		if (op->act == ACT_START || op->act == ACT_FREE || op->act == ACT_REQUEST)
			note_request(e, calls->location, calls->first + i, op, row);
		lane->last_leave_ns = calls->leave_ns[i];
	}
	lane->count += calls->count;
	if (calls->first == 0) {
		begin_thread(e, calls);
		lanes_spawned(e);
	}
	return 0;
}

/* A rank spawned by MPI_Comm_spawn has computed since then, not since the begin of the run. */
void
lanes_spawned(struct engine *e)
{
	for (uint32_t l = 0; l < e->locations && e->known->begins != NULL; l++) {
		const struct beginning *begin = beginning_of(e->known, l);
		struct runner *r = &e->runners[l];
		struct op *first = op_at(e, l, 0);

		if (begin == NULL || r->unborn || r->recorded_leave_ns != 0 || first == NULL ||
		    r->seq > 0 || op_at(e, begin->location, begin->seq) == NULL ||
		    begin->ns > first->gap_ns)
			continue;
		first->gap_ns -= begin->ns;
		r->recorded_leave_ns = begin->ns;
		r->unborn = true;
		e->unborn++;
	}
}

void
follow_request(const struct replay_row *row, uint32_t *location, uint64_t *seq)
{
	if (row->request_at > 0) {
		*location = row->request_at - 1;
		*seq = row->request;
	} else
		*seq -= row->request;
}

struct op *
started_by(const struct engine *e, uint32_t *location, uint64_t *seq)
{
	const struct replay_row *row = row_at(e, *location, *seq);

	if (row->request == 0 && row->request_at == 0)
		return NULL;
	follow_request(row, location, seq);
	return op_at(e, *location, *seq);
}

/* All edges of these rows have arrived: finds the operation that each completion completes. */
static void
resolve(struct engine *e, uint32_t location, uint64_t from, uint64_t to)
{
	for (uint64_t seq = from; seq < to; seq++) {
		struct op *op = op_at(e, location, seq), *start;
		uint32_t at = location;
		uint64_t begun = seq;

		if (op->act != ACT_COMPLETE && op->act != ACT_WAIT && op->act != ACT_FREE)
			continue;
		start = started_by(e, &at, &begun);
		if (op->act != ACT_WAIT && (begun != seq || at != location))
			early_over(e, at, begun, op->act == ACT_FREE);
		if (start == NULL)
			continue;
		if (op->act == ACT_FREE && start->open && start->act == ACT_POST &&
		    start->link == NONE)
			start->act = ACT_POST_FREED;
		start->open = false;
		if (op->act != ACT_COMPLETE || start->link == NONE)
			continue;
		if (start->act == ACT_COLLECTIVE_START) {
			op->act = ACT_WAIT_COLLECTIVE;
			op->link = start->link;
			row_at(e, location, seq)->member = row_at(e, at, begun)->member;
			e->instances[op->link].references++;
		} else if (start->act == ACT_SEND_START) {
			op->act = ACT_WAIT_SEND;
			op->link = start->link;
			e->flights[op->link].references++;
		}
	}
}

/*
 * Rows may be simulated up to the first one whose request has no known completion, which shows what
 * it starts, and is waited for.
 */
void
lanes_advance(struct engine *e)
{
	enum { MANY_ROWS = 1 << 14 };	/* wait behind a receive that is posted early */

	for (uint32_t l = 0; l < e->locations; l++) {
		struct op_lane *lane = &e->lanes[l];
		uint64_t whole = lane->ready;	/* calls only, with all their parts */

		for (uint64_t seq = lane->ready; seq <= lane->settled; seq++) {
			const struct op *op = op_at(e, l, seq);

			if (op == NULL || !op->part)
				whole = seq;
			if (seq == lane->settled || (op->open && !e->ended &&
			    (op->act != ACT_POST || lane_end(lane) - seq < MANY_ROWS)))
				break;
		}
		lane->ready = whole;
	}
}

void
lane_settle(struct engine *e, uint32_t location, uint64_t seq)
{
	struct op_lane *lane = &e->lanes[location];

	if (seq <= lane->settled)
		return;
	resolve(e, location, lane->settled, seq);
	lane->settled = seq;
}

void
lanes_end(struct engine *e)
{
	e->ended = true;
	for (uint32_t l = 0; l < e->locations; l++)
		lane_settle(e, l, lane_end(&e->lanes[l]));
	lanes_advance(e);
}
