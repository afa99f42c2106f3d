/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which event of OTF2 a row becomes, and what a reader takes from that alone: what differs from the
 * row goes along as attributes. A row for which OTF2 has no event is told by attributes only.
 *
 * memory  requests that are open, and persistent ones until they are freed
 */
#include "../../base/tool/hash_table.h"
#include "otf2.h"

/* A request that an event has begun, by the row that did. */
struct open {
	uint64_t seq;
	uint32_t location;	/* NONE: free */
	enum { OPEN_SEND, OPEN_RECEIVE, OPEN_COLLECTIVE, OPEN_MOVE, OPEN_IO, SEND_IS_MADE, RECEIVE_IS_MADE } kind;
	uint32_t object, root;
	int collective;
	uint64_t sent, received;
};
#define HASH(o) mix((o)->seq, (o)->location)
#define SAME(x, y) ((x)->seq == (y)->seq && (x)->location == (y)->location)
#define FREE(o) ((o)->location == NONE)
#define MAKE_FREE(o) ((o)->location = NONE)
HASH_TABLE(open_table, struct open, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

#define NOTHING (struct otf2_row){ .peer = NO_PEER, .tag = NO_TAG }

/* What plans of a row look at. */
struct subject {
	struct archive *a;
	const struct calls *rows;
	size_t i, part;
	uint32_t location;
	uint64_t seq;
	uint16_t call;
	const struct meaning *meaning;
	const struct group_of *of;	/* NULL: nothing that is known */
};

void
plan_begin(struct archive *a)
{
	a->open = zalloc(1, sizeof *a->open);
	open_table_begin(a->open, 64);
}

/* The same for no other request of the process. */
static uint64_t
request_id(const struct archive *a, uint32_t location, uint64_t seq)
{
	return (seq + 1) ^ (uint64_t)a->known->location_thread[location] << 48;
}

static void
keep(const struct subject *s, const struct deed *d, int kind)
{
	const struct open open = { .seq = s->seq, .location = s->location, .kind = kind, .object = d->object,
	    .root = d->root, .collective = d->collective, .sent = d->sent, .received = d->received };

	*open_table_add(s->a->open, &open) = open;
}

static struct open *
referred(const struct subject *s)
{
	const struct calls *c = s->rows;
	struct open key = { .location = s->location };

	if (c->request_at[s->i] > 0) {
		key.location = c->request_at[s->i] - 1;
		key.seq = c->request[s->i];
	} else if (c->request[s->i] == 0 || c->request[s->i] > s->seq)
		return NULL;
	else
		key.seq = s->seq - c->request[s->i];
	return open_table_find(s->a->open, &key);
}

static uint32_t
root_of(int32_t peer)
{
	return peer >= 0 ? (uint32_t)peer : peer == ROOT_PEER ? OTF2_COLLECTIVE_ROOT_SELF :
	    peer == NULL_PEER ? OTF2_COLLECTIVE_ROOT_THIS_GROUP : OTF2_COLLECTIVE_ROOT_NONE;
}

/* Scout has no intercommunicators. */
static bool
has_comm(const struct subject *s)
{
	return s->of != NULL && s->of->defined && !(s->a->scout && s->of->inter);
}

/* There is somebody at the other end. */
static bool
has_peer(const struct subject *s)
{
	return has_comm(s) && s->rows->peer[s->i] >= 0;
}

static void
tell_message(const struct subject *s, struct deed *d)
{
	const struct calls *c = s->rows;

	d->object = s->of->comm;
	d->told.comm = s->of->number;
	d->told.peer = c->peer[s->i];
	d->told.tag = c->tag[s->i] >= 0 ? c->tag[s->i] : NO_TAG;
}

static void
plan_send(const struct subject *s, struct deed *d, bool starts)
{
	if (!has_peer(s))
		return;
	d->kind = starts ? START_SEND : SEND;
	tell_message(s, d);
	d->told.sent = s->rows->bytes_sent[s->i];
	if (starts)
		keep(s, d, OPEN_SEND);
}

static void
plan_receive(const struct subject *s, struct deed *d)
{
	if (!has_peer(s))
		return;
	d->kind = RECEIVE;
	tell_message(s, d);
	d->told.received = s->rows->bytes_received[s->i];
}

/* OTF2 tells of a posted receive only that it is one. */
static void
plan_post(const struct subject *s, struct deed *d)
{
	if (!has_comm(s) || s->rows->peer[s->i] == NULL_PEER)
		return;
	d->kind = START_RECEIVE;
	d->told.peer = ANY_PEER;
	d->told.tag = ANY_TAG;
	keep(s, d, OPEN_RECEIVE);
}

/* A persistent request is what it was made as. */
static void
plan_start(const struct subject *s, struct deed *d)
{
	const struct open *made = referred(s);

	if (made != NULL && made->kind == SEND_IS_MADE)
		plan_send(s, d, true);
	else if (made != NULL && made->kind == RECEIVE_IS_MADE)
		plan_post(s, d);
}

static void
plan_completion(const struct subject *s, struct deed *d)
{
	static const enum deed_kind ends[] = { [OPEN_SEND] = END_SEND, [OPEN_RECEIVE] = END_RECEIVE,
	    [OPEN_COLLECTIVE] = END_COLLECTIVE, [OPEN_MOVE] = END_MOVE, [OPEN_IO] = END_IO };
	struct open *open = referred(s);
	const struct calls *c = s->rows;

	if (open == NULL || open->kind == SEND_IS_MADE || open->kind == RECEIVE_IS_MADE ||
	    (open->location != s->location &&
	    s->a->known->location_rank[open->location] != s->a->known->location_rank[s->location]))
		return;
	d->kind = ends[open->kind];
	d->request = request_id(s->a, open->location, open->seq);
	d->told.request = c->request[s->i];
	d->told.request_at = c->request_at[s->i];
	d->object = open->object;
	d->root = open->root;
	d->collective = open->collective;
	d->sent = open->sent;
	d->received = open->received;
	if (open->kind == OPEN_RECEIVE) {
		if (has_peer(s)) {
			tell_message(s, d);
			d->told.received = c->bytes_received[s->i];
		} else
			d->kind = CANCEL;
	}
	open_table_remove(s->a->open, open);
}

static void
plan_collective(const struct subject *s, struct deed *d, bool starts)
{
	const struct calls *c = s->rows;

	if (!has_comm(s) || s->meaning->collective < 0 || (s->of->window != NONE && starts))
		return;
	d->kind = starts ? START_COLLECTIVE : s->of->window != NONE ? WINDOW_COLLECTIVE : COLLECTIVE;
	d->object = s->of->window != NONE ? s->of->window : s->of->comm;
	d->collective = s->meaning->collective;
	d->root = root_of(c->peer[s->i]);
	d->sent = c->bytes_sent[s->i];
	d->received = c->bytes_received[s->i];
	if (starts) {
		keep(s, d, OPEN_COLLECTIVE);
		return;
	}
	d->told.comm = s->of->number;
	d->told.peer = c->peer[s->i] == ANY_PEER || c->peer[s->i] < ROOT_PEER ? NO_PEER : c->peer[s->i];
	d->told.sent = d->sent;
	d->told.received = d->received;
}

static void
plan_one_sided(const struct subject *s, struct deed *d)
{
	const struct calls *c = s->rows;
	const struct meaning *m = s->meaning;

	if (!has_peer(s) || s->of->window == NONE || m->rma == NOT_RMA)
		return;
	d->kind = m->rma == LOCK ? TAKE_LOCK : m->rma == UNLOCK ? RELEASE_LOCK : MOVE_DATA;
	d->object = s->of->window;
	d->told.comm = s->of->number;
	d->told.peer = c->peer[s->i];
	if (m->rma == LOCK)
		d->told.tag = c->tag[s->i] == 1 ? 1 : 2;
	if (m->rma == PUT || m->rma == ATOMIC)
		d->told.sent = c->bytes_sent[s->i];
	if (m->rma == GET || m->rma == ATOMIC)
		d->told.received = c->bytes_received[s->i];
	if (m->starts)
		keep(s, d, OPEN_MOVE);
}

static void
plan_io(const struct subject *s, struct deed *d)
{
	const struct meaning *m = s->meaning;

	if (s->a->scout || !has_comm(s) || s->of->file == NONE || m->io == NOT_IO)
		return;
	d->kind = m->io == CLOSES ? CLOSE_FILE : m->starts ? START_IO : DO_IO;
	d->object = s->of->file;
	d->told.comm = s->of->number;
	if (m->io == WRITES)
		d->told.sent = d->sent = s->rows->bytes_sent[s->i];
	if (m->io == READS)
		d->told.received = d->sent = s->rows->bytes_received[s->i];
	if (d->kind == START_IO)
		keep(s, d, OPEN_IO);
}

static void
plan_of_class(const struct subject *s, struct deed *d, enum call_class class)
{
	struct open *open;

	switch (class) {
	case CLASS_SEND: plan_send(s, d, false); break;
	case CLASS_RECV: plan_receive(s, d); break;
	case CLASS_SENDRECV:
		if (s->part == 0)
			plan_send(s, d, false);
		else
			plan_receive(s, d);
		break;
	case CLASS_SEND_START: plan_send(s, d, true); break;
	case CLASS_RECV_START: plan_post(s, d); break;
	case CLASS_SEND_INIT: keep(s, d, SEND_IS_MADE); break;
	case CLASS_RECV_INIT: keep(s, d, RECEIVE_IS_MADE); break;
	case CLASS_START: plan_start(s, d); break;
	case CLASS_COMPLETE: plan_completion(s, d); break;
	case CLASS_REQUEST_FREE:
		if ((open = referred(s)) != NULL)
			open_table_remove(s->a->open, open);
		break;
	case CLASS_RMA: plan_one_sided(s, d); break;
	case CLASS_IO: plan_io(s, d); break;
	case CLASS_INIT: case CLASS_FINALIZE: break;
	default:
		if (is_collective(class))
			plan_collective(s, d, is_collective_start(class));
		else if (s->meaning->frees && has_comm(s) && s->of->type == A_COMMUNICATOR && !s->a->scout) {
			d->kind = FREE_COMMUNICATOR;
			d->object = s->of->comm;
			d->told.comm = s->of->number;
		}
	}
}

struct deed
plan_row(struct archive *a, uint32_t location, const struct calls *rows, size_t i, size_t part, uint16_t call)
{
	const struct subject s = { a, rows, i, part, location, rows->first + i, call, meaning_of(a, call),
	    comm_of(a, rows->comm[i]) };
	struct deed d = { .kind = ATTRIBUTES, .told = NOTHING, .root = OTF2_COLLECTIVE_ROOT_NONE };

	d.request = request_id(a, location, s.seq);
	plan_of_class(&s, &d, call_class(call));
	return d;
}
