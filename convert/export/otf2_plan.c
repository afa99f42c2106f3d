/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OTF2 event for a row. Differences from the row go into attributes; if OTF2 has no event for
 * the row, attributes hold all of it.
 *
 * memory open requests, and persistent ones until they are freed
 */
#include "otf2.h"

/* A request begun by an event, by the row that began it. */
struct open {
	uint64_t seq;
	uint32_t location;	/* NONE: free */
	/* for its end; of a receive if cancelled; of a persistent request: kind of its starts */
	struct otf2_event end;
};
HASH_TABLE_OF(open_table, struct open, seq, location, location, NONE)

/* Input for the event of a row. */
struct subject {
	struct archive *a;
	const struct calls *rows;
	size_t i, part;
	uint32_t location;
	uint64_t seq;
	const struct meaning *meaning;
	const struct group_of *of;	/* NULL: unknown */
};

static void
keep(const struct subject *s, const struct otf2_event *e, enum otf2_kind end)
{
	struct open open = { .seq = s->seq, .location = s->location, .end = *e };

	open.end.kind = end;
	*open_table_add(&s->a->open, &open) = open;
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

/* Scout supports no intercommunicators. */
static bool
has_comm(const struct subject *s)
{
	return s->of != NULL && s->of->defined && !(s->a->scout && s->of->inter);
}

/* Whether the peer is a rank. */
static bool
has_peer(const struct subject *s)
{
	return has_comm(s) && s->rows->peer[s->i] >= 0;
}

static void
tell_message(const struct subject *s, struct otf2_event *e)
{
	e->comm = s->of->comm;
	e->peer = (uint32_t)s->rows->peer[s->i];
	e->tag = (uint32_t)s->rows->tag[s->i];
}

static void
plan_send(const struct subject *s, struct otf2_event *e, bool starts)
{
	if (!has_peer(s))
		return;
	e->kind = starts ? EVENT_MpiIsend : EVENT_MpiSend;
	tell_message(s, e);
	e->sent = s->rows->bytes_sent[s->i];
	if (starts)
		keep(s, e, EVENT_MpiIsendComplete);
}

static void
plan_receive(const struct subject *s, struct otf2_event *e, enum otf2_kind kind)
{
	if (!has_peer(s))
		return;
	e->kind = kind;
	tell_message(s, e);
	e->received = s->rows->bytes_received[s->i];
}

static void
plan_post(const struct subject *s, struct otf2_event *e)
{
	if (!has_comm(s) || s->rows->peer[s->i] == NULL_PEER)
		return;
	e->kind = EVENT_MpiIrecvRequest;
	keep(s, e, EVENT_MpiRequestCancelled);
}

/* A persistent request is of the kind that it was made as. */
static void
plan_start(const struct subject *s, struct otf2_event *e)
{
	const struct open *made = referred(s);

	if (made != NULL && made->end.kind == EVENT_MpiIsend)
		plan_send(s, e, true);
	else if (made != NULL && made->end.kind == EVENT_MpiIrecvRequest)
		plan_post(s, e);
}

static void
plan_completion(const struct subject *s, struct otf2_event *e)
{
	struct open *open = referred(s);

	if (open == NULL || open->end.kind == EVENT_MpiIsend ||
	    open->end.kind == EVENT_MpiIrecvRequest || (open->location != s->location &&
	    s->a->known->location_rank[open->location] != s->a->known->location_rank[s->location]))
		return;
	*e = open->end;
	if (e->kind == EVENT_MpiRequestCancelled)
		plan_receive(s, e, EVENT_MpiIrecv);
	open_table_remove(s->a->open, open);
}

static void
plan_collective(const struct subject *s, struct otf2_event *e, bool starts)
{
	const struct calls *c = s->rows;
	const int32_t peer = c->peer[s->i];
	const uint64_t request = e->request;

	if (!has_comm(s) || s->meaning->collective < 0 || (s->of->window != NONE && starts))
		return;
	e->kind = s->of->window != NONE ? EVENT_RmaCollectiveEnd : EVENT_MpiCollectiveEnd;
	*(s->of->window != NONE ? &e->window : &e->comm) = s->of->window != NONE ?
	    s->of->window : s->of->comm;
	e->level = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;
	e->collective = (OTF2_CollectiveOp)s->meaning->collective;
	e->root = peer >= 0 ? (uint32_t)peer : peer == ROOT_PEER ? OTF2_COLLECTIVE_ROOT_SELF :
	    peer == NULL_PEER ? OTF2_COLLECTIVE_ROOT_THIS_GROUP : OTF2_COLLECTIVE_ROOT_NONE;
	e->sent = c->bytes_sent[s->i];
	e->received = c->bytes_received[s->i];
	if (starts) {
		keep(s, e, EVENT_NonBlockingCollectiveComplete);
		*e = OTF2_EVENT(EVENT_NonBlockingCollectiveRequest);
		e->request = request;
	}
}

static void
plan_one_sided(const struct subject *s, struct otf2_event *e)
{
	const struct calls *c = s->rows;
	const struct meaning *m = s->meaning;

	if (!has_peer(s) || s->of->window == NONE)
		return;
	e->kind = m->event;
	e->window = s->of->window;
	e->peer = (uint32_t)c->peer[s->i];
	e->atomic = m->atomic;
	e->lock = c->tag[s->i] == 1 ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED;
	if (m->event == EVENT_RmaPut || m->event == EVENT_RmaAtomic)
		e->sent = c->bytes_sent[s->i];
	if (m->event == EVENT_RmaGet || m->event == EVENT_RmaAtomic)
		e->received = c->bytes_received[s->i];
	if (m->starts && m->event != NO_EVENT)
		keep(s, e, EVENT_RmaOpCompleteNonBlocking);
}

static void
plan_io(const struct subject *s, struct otf2_event *e)
{
	const struct meaning *m = s->meaning;

	if (s->a->scout || !has_comm(s) || s->of->file == NONE || m->event == NO_EVENT)
		return;
	e->kind = m->event;
	e->file = s->of->file;
	if (m->event == EVENT_IoDestroyHandle)
		return;
	e->mode = m->mode;
	e->flags = (m->starts ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING : 0) |
	    (m->io_collective ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : 0);
	e->sent = (m->mode == OTF2_IO_OPERATION_MODE_WRITE ? s->rows->bytes_sent :
	    s->rows->bytes_received)[s->i];
	if (m->starts)
		keep(s, e, EVENT_IoOperationComplete);
}

static void
plan_of_class(const struct subject *s, struct otf2_event *e, enum call_class class)
{
	struct open *open;

	switch (class) {
	case CLASS_SEND: plan_send(s, e, false); break;
	case CLASS_RECV: plan_receive(s, e, EVENT_MpiRecv); break;
	case CLASS_SENDRECV:
		if (s->part == 0)
			plan_send(s, e, false);
		else
			plan_receive(s, e, EVENT_MpiRecv);
		break;
	case CLASS_SEND_START: plan_send(s, e, true); break;
	case CLASS_RECV_START: plan_post(s, e); break;
	case CLASS_SEND_INIT: keep(s, e, EVENT_MpiIsend); break;
	case CLASS_RECV_INIT: keep(s, e, EVENT_MpiIrecvRequest); break;
	case CLASS_START: plan_start(s, e); break;
	case CLASS_COMPLETE: plan_completion(s, e); break;
	case CLASS_REQUEST_FREE:
		if ((open = referred(s)) != NULL)
			open_table_remove(s->a->open, open);
		break;
	case CLASS_RMA: plan_one_sided(s, e); break;
	case CLASS_IO: case CLASS_FILE: case CLASS_FILE_START: plan_io(s, e); break;
	case CLASS_INIT: case CLASS_FINALIZE: break;
	default:
		if (is_collective(class) && class != CLASS_DISCONNECT)
			plan_collective(s, e, is_collective_start(class));
		else if (s->meaning->frees && has_comm(s) && s->of->type == A_COMMUNICATOR &&
		    !s->a->scout) {
			e->kind = EVENT_CommDestroy;
			e->comm = s->of->comm;
		}
	}
}

struct otf2_event
plan_row(struct archive *a, uint32_t location, const struct calls *rows, size_t i, size_t part,
    uint16_t call)
{
	const struct subject s = { a, rows, i, part, location, rows->first + i, meaning_of(a, call),
	    comm_of(a, rows->comm[i]) };
	struct otf2_event e = OTF2_EVENT(NO_EVENT);

	/* a number that no other request of the process has */
	e.request = (s.seq + 1) ^ (uint64_t)a->known->location_thread[location] << 48;
	plan_of_class(&s, &e, call_class(call));
	return e;
}
