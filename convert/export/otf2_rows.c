/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of a location: the frames of a call site, the call in them, and in that an event for each of
 * its rows. As nothing is known of a program between its calls, it is in the frames of a call since the
 * one before was left, which is how all tools count what was computed.
 */
#include <string.h>

#include "otf2.h"

/* Where a call's events are being written. */
struct cursor {
	struct archive *a;
	struct spot *spot;
	const struct calls *rows;
	uint32_t location;
	uint64_t enter, leave, at;	/* events come in order of time: at is that of the last */
	uint16_t call;
};

#define WRITE(cursor, kind, attributes, ...) \
	do { \
		archive_check((cursor)->a, OTF2_EvtWriter_##kind((cursor)->spot->writer, attributes, \
		    __VA_ARGS__)); \
		(cursor)->spot->events++; \
	} while (0)

static uint64_t
at_leave(struct cursor *k)
{
	return k->at = k->leave;
}

/* ---- attributes ---- */

static OTF2_AttributeValue
value_COMM(struct archive *a, uint64_t value)
{
	return (OTF2_AttributeValue){ .commRef = value == 0 ? OTF2_UNDEFINED_COMM :
	    comm_of(a, (uint32_t)value)->comm };
}

static OTF2_AttributeValue
value_INT32(struct archive *a, int64_t value)
{
	(void)a;
	return (OTF2_AttributeValue){ .int32 = (int32_t)value };
}

static OTF2_AttributeValue
value_UINT32(struct archive *a, uint64_t value)
{
	(void)a;
	return (OTF2_AttributeValue){ .uint32 = (uint32_t)value };
}

static OTF2_AttributeValue
value_UINT64(struct archive *a, uint64_t value)
{
	(void)a;
	return (OTF2_AttributeValue){ .uint64 = value };
}

static void
attribute(struct archive *a, enum otf2_word word, OTF2_Type type, OTF2_AttributeValue value)
{
	archive_check(a, OTF2_AttributeList_AddAttribute(a->attributes, word, type, value));
}

/* What the row has otherwise than the event tells; MARK: at least one thing. */
static OTF2_AttributeList *
differences(struct cursor *k, size_t i, const struct otf2_row *told, bool mark)
{
	const struct calls *c = k->rows;
	const struct otf2_row row = { c->comm[i], c->peer[i], c->tag[i], c->bytes_sent[i],
	    c->bytes_received[i], c->request[i], c->request_at[i], c->folded[i] };
	bool any = false;

	if (k->a->scout)
		return NULL;
#define X(NAME, field, name, what, type) \
	if (row.field != told->field) { \
		attribute(k->a, WORD_##NAME, OTF2_TYPE_##type, value_##type(k->a, row.field)); \
		any = true; \
	}
	OTF2_COLUMNS(X)
#undef X
	if (mark && !any)
		attribute(k->a, WORD_PEER, OTF2_TYPE_INT32, value_INT32(k->a, row.peer));
	return any || mark ? k->a->attributes : NULL;
}

/* ---- rows ---- */

static void
put_one_sided(struct cursor *k, size_t i, const struct deed *d, OTF2_AttributeList *more)
{
	const struct meaning *m = meaning_of(k->a, k->call);
	const uint32_t target = (uint32_t)k->rows->peer[i];

	switch (m->rma) {
	case PUT:
		WRITE(k, RmaPut, more, k->at, d->object, target, k->rows->bytes_sent[i], d->request);
		break;
	case GET:
		WRITE(k, RmaGet, more, k->at, d->object, target, k->rows->bytes_received[i], d->request);
		break;
	case LOCK:
		WRITE(k, RmaAcquireLock, more, at_leave(k), d->object, target, 0,
		    k->rows->tag[i] == 1 ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED);
		break;
	case UNLOCK:
		WRITE(k, RmaReleaseLock, more, at_leave(k), d->object, target, 0);
		break;
	default:
		WRITE(k, RmaAtomic, more, k->at, d->object, target, m->atomic, k->rows->bytes_sent[i],
		    k->rows->bytes_received[i], d->request);
	}
}

static void
put_io(struct cursor *k, const struct deed *d, OTF2_AttributeList *more)
{
	const struct meaning *m = meaning_of(k->a, k->call);
	const OTF2_IoOperationFlag flags = (m->starts ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING : 0) |
	    (m->io_collective ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : 0);

	WRITE(k, IoOperationBegin, more, k->at, d->object,
	    m->io == READS ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE, flags, d->sent,
	    d->request);
	if (d->kind == START_IO)
		WRITE(k, IoOperationIssued, NULL, at_leave(k), d->object, d->request);
	else
		WRITE(k, IoOperationComplete, NULL, at_leave(k), d->object, d->sent, d->request);
}

static void
put_collective(struct cursor *k, const struct deed *d, OTF2_AttributeList *more)
{
	const OTF2_CollectiveOp op = (OTF2_CollectiveOp)d->collective;

	if (d->kind == START_COLLECTIVE) {
		if (!k->a->scout)
			WRITE(k, NonBlockingCollectiveRequest, more, k->at, d->request);
	} else if (d->kind == END_COLLECTIVE) {
		if (!k->a->scout)
			WRITE(k, NonBlockingCollectiveComplete, more, at_leave(k), op, d->object, d->root, d->sent,
			    d->received, d->request);
	} else if (d->kind == WINDOW_COLLECTIVE) {
		archive_check(k->a, OTF2_EvtWriter_RmaCollectiveBegin(k->spot->writer, NULL, k->at));
		k->spot->events++;
		WRITE(k, RmaCollectiveEnd, more, at_leave(k), op,
		    OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY, d->object, d->root, d->sent,
		    d->received);
	} else {
		archive_check(k->a, OTF2_EvtWriter_MpiCollectiveBegin(k->spot->writer, NULL, k->at));
		k->spot->events++;
		WRITE(k, MpiCollectiveEnd, more, at_leave(k), op, d->object, d->root, d->sent, d->received);
	}
}

static void
put_message(struct cursor *k, size_t i, const struct deed *d, OTF2_AttributeList *more)
{
	const struct calls *c = k->rows;
	const uint32_t peer = (uint32_t)c->peer[i], tag = (uint32_t)c->tag[i];

	switch (d->kind) {
	case SEND: WRITE(k, MpiSend, more, k->at, peer, d->object, tag, c->bytes_sent[i]); break;
	case START_SEND:
		WRITE(k, MpiIsend, more, k->at, peer, d->object, tag, c->bytes_sent[i], d->request);
		break;
	case END_SEND: WRITE(k, MpiIsendComplete, more, at_leave(k), d->request); break;
	case RECEIVE: WRITE(k, MpiRecv, more, at_leave(k), peer, d->object, tag, c->bytes_received[i]); break;
	case START_RECEIVE: WRITE(k, MpiIrecvRequest, more, k->at, d->request); break;
	case END_RECEIVE:
		WRITE(k, MpiIrecv, more, at_leave(k), peer, d->object, tag, c->bytes_received[i], d->request);
		break;
	default: WRITE(k, MpiRequestCancelled, more, at_leave(k), d->request);
	}
}

static void
put_row(struct cursor *k, size_t i, const struct deed *d, size_t part)
{
	OTF2_AttributeList *more = differences(k, i, &d->told, d->kind == ATTRIBUTES);

	switch (d->kind) {
	case ATTRIBUTES:
		if (!k->a->scout)
			WRITE(k, ParameterUnsignedInt, more, k->at, 0, part);
		break;
	case COLLECTIVE: case START_COLLECTIVE: case END_COLLECTIVE: case WINDOW_COLLECTIVE:
		put_collective(k, d, more);
		break;
	case MOVE_DATA: case TAKE_LOCK: case RELEASE_LOCK: put_one_sided(k, i, d, more); break;
	case END_MOVE: WRITE(k, RmaOpCompleteNonBlocking, more, at_leave(k), d->object, d->request); break;
	case DO_IO: case START_IO: put_io(k, d, more); break;
	case END_IO: WRITE(k, IoOperationComplete, more, at_leave(k), d->object, d->sent, d->request); break;
	case CLOSE_FILE: WRITE(k, IoDestroyHandle, more, at_leave(k), d->object); break;
	case FREE_COMMUNICATOR: WRITE(k, CommDestroy, more, at_leave(k), d->object); break;
	default: put_message(k, i, d, more);
	}
}

/* For others: the group that opens an epoch. Its rows are told by attributes. */
static void
put_epoch(struct cursor *k, size_t first, size_t end)
{
	const enum call_class class = call_class(k->call);
	const struct group_of *of;
	uint32_t group;

	if ((class != CLASS_POST && class != CLASS_ACCESS) || k->rows->peer[first] < 0 ||
	    (of = comm_of(k->a, k->rows->comm[first])) == NULL || of->window == NONE)
		return;
	group = sync_group(k->a, of->number, k->a->known->location_rank[k->location], k->rows->peer + first,
	    end - first);
	if (group == NONE)
		return;
	if (!k->a->scout)
		attribute(k->a, WORD_ASIDE, OTF2_TYPE_UINT8, (OTF2_AttributeValue){ .uint8 = 1 });
	WRITE(k, RmaGroupSync, k->a->scout ? NULL : k->a->attributes, k->at, OTF2_RMA_SYNC_LEVEL_PROCESS,
	    of->window, group);
}

/* ---- frames ---- */

static void
turn_frames(struct cursor *k, uint32_t site, uint64_t at)
{
	uint32_t old[PLACES], new[PLACES];
	size_t from = site_frames(k->a->known, k->spot->site, old), to = site_frames(k->a->known, site, new);
	size_t same = 0;

	while (same < from && same < to && old[same] == new[same])
		same++;
	for (size_t f = from; f > same; f--)
		WRITE(k, Leave, NULL, at, region_of_place(k->a, old[f - 1]));
	for (size_t f = same; f < to; f++)
		WRITE(k, Enter, NULL, at, region_of_place(k->a, new[f]));
	k->spot->site = site;
}

/* ---- calls ---- */

static OTF2_AttributeList *
wait_attributes(struct archive *a, const struct wait *waits, int count)
{
	const struct wait *longest = waits;
	int64_t all_ns = 0;

	if (a->scout || count == 0)
		return NULL;
	for (int i = 0; i < count; i++) {
		all_ns += waits[i].to_ns - waits[i].from_ns;
		if (waits[i].to_ns - waits[i].from_ns > longest->to_ns - longest->from_ns)
			longest = &waits[i];
	}
	attribute(a, WORD_WAIT, OTF2_TYPE_UINT64, (OTF2_AttributeValue){ .uint64 = (uint64_t)all_ns });
	attribute(a, WORD_WAIT_STATE, OTF2_TYPE_STRING,
	    (OTF2_AttributeValue){ .stringRef = a->state_names[longest->state] });
	if (longest->cause != NOBODY)
		attribute(a, WORD_WAITS_FOR, OTF2_TYPE_LOCATION,
		    (OTF2_AttributeValue){ .locationRef = longest->cause });
	return a->attributes;
}

/*
 * True where lp-import would take the call for another without a mark: it has further rows, or is of
 * a kind that without any event went to nobody.
 */
static bool
needs_mark(enum call_class class, size_t rows)
{
	return rows > 1 || class == CLASS_SEND || class == CLASS_RECV || class == CLASS_SENDRECV ||
	    class == CLASS_SEND_START || class == CLASS_RECV_START;
}

void
rows_put(struct archive *a, uint32_t location, const struct calls *rows, size_t first, size_t end,
    const struct wait *waits, int wait_count)
{
	struct spot *spot = &a->spots[location];
	const int64_t enter_ns = rows->enter_ns[first], leave_ns = rows->leave_ns[first];
	struct cursor k = { a, spot, rows, location, (uint64_t)enter_ns, (uint64_t)leave_ns, (uint64_t)enter_ns,
	    rows->call[first] };
	const uint32_t region = region_of_call(a, k.call), site = rows->site[first];
	struct deed deed = plan_row(a, location, rows, first, 0, k.call);
	OTF2_AttributeList *more = NULL;

	if (enter_ns < 0 || enter_ns < spot->left_ns || leave_ns < enter_ns)
		die("a call of location %u begins before 0, or before the one before it has ended", location);
	if (site != spot->site)
		turn_frames(&k, site < a->known->site_count ? site : 0,
		    spot->left_ns != INT64_MIN ? (uint64_t)spot->left_ns : k.enter);
	if (deed.kind == ATTRIBUTES)
		more = differences(&k, first, &deed.told, needs_mark(call_class(k.call), end - first));
	WRITE(&k, Enter, more, k.enter, region);
	put_epoch(&k, first, end);
	if (deed.kind != ATTRIBUTES)
		put_row(&k, first, &deed, 0);
	for (size_t i = first + 1; i < end; i++) {
		deed = plan_row(a, location, rows, i, i - first, k.call);
		put_row(&k, i, &deed, i - first);
	}
	WRITE(&k, Leave, wait_attributes(a, waits, wait_count), k.leave, region);
	spot->left_ns = leave_ns;
	if (leave_ns > a->last_ns)
		a->last_ns = leave_ns;
}

void
rows_end(struct archive *a)
{
	for (uint32_t l = 0; l < a->locations; l++) {
		struct cursor k = { .a = a, .spot = &a->spots[l], .location = l };

		if (k.spot->left_ns != INT64_MIN)
			turn_frames(&k, 0, (uint64_t)k.spot->left_ns);
	}
}

/* ---- the path ---- */

void
rows_segment(struct archive *a, const struct segment *s)
{
	struct cursor k = { .a = a, .spot = &a->spots[a->locations], .location = a->locations };
	const OTF2_Type type = OTF2_TYPE_INT64;
	const OTF2_MetricValue rank = { .signed_int = s->kind == GAP ? -1 : a->known->location_rank[s->location] };
	uint32_t frames[PLACES];
	const size_t depth = site_frames(a->known, s->site, frames);

	if (s->begin_ns < 0 || s->begin_ns < k.spot->left_ns)
		die("the pieces of the critical path are not in order of time");
	a->path = true;
	k.spot->left_ns = s->begin_ns;
	attribute(a, WORD_KIND, OTF2_TYPE_STRING, (OTF2_AttributeValue){ .stringRef = a->kind_names[s->kind] });
	if (s->call != 0)
		attribute(a, WORD_CALL, OTF2_TYPE_REGION,
		    (OTF2_AttributeValue){ .regionRef = region_of_call(a, s->call) });
	if (depth > 0)
		attribute(a, WORD_SITE, OTF2_TYPE_REGION,
		    (OTF2_AttributeValue){ .regionRef = region_of_place(a, frames[depth - 1]) });
	WRITE(&k, Metric, a->attributes, (uint64_t)s->begin_ns, 0, 1, &type, &rank);
	if (s->end_ns > a->last_ns)
		a->last_ns = s->end_ns;
}
