/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of a Dimemas trace become rows, sides of messages, and steps for dim_match.c. */
#include <stdlib.h>

#include "../../base/machine/machine.h"
#include "../../base/tool/hash_table.h"
#include "dim.h"

/*
 * The rows of the receives of one kind that were posted and not waited for, with the oldest first,
 * as a wait is for that.
 */
struct post {
	uint32_t source, location, comm;	/* location UINT32_MAX: free slot */
	int32_t tag;
	uint64_t *at;
	size_t begin, end, capacity;
};

#define POST_HASH(p) mix((uint64_t)(p)->source << 32 | (p)->location, \
	(uint64_t)(p)->comm << 32 | (uint32_t)(p)->tag)
#define POST_SAME(a, b) ((a)->source == (b)->source && (a)->location == (b)->location && \
	(a)->comm == (b)->comm && (a)->tag == (b)->tag)
HASH_TABLE_BY(posts, struct post, POST_HASH, POST_SAME, location, UINT32_MAX)

/* The flags of a send show its mode, as Dimemas' own converter derived it. */
static const char *const sends[] = { "MPI_Bsend", "MPI_Ssend", "MPI_Isend", "MPI_Irsend" };

/* The call for a record without events. WHICH: flags of a send, id of a collective. */
static uint16_t
natural(struct dim *d, enum kind kind, int which)
{
	uint16_t *call = &d->natural[kind][which];
	char *name;

	if (*call != 0)
		return *call;
	if (kind == COLLECTIVE || kind == COLLECTIVE_START) {
		name = operation_call((enum operation)which, kind == COLLECTIVE_START);
		*call = build_call(name);
		free(name);
	} else
		*call = build_call(kind == SEND ? sends[which] : kind == RECEIVE ? "MPI_Recv" :
		    kind == POST ? "MPI_Irecv" : "MPI_Wait");
	return *call;
}

void
dim_bound(const struct dim *d, uint64_t things)
{
	if (!text_allows(&d->text, things, 8 * sizeof(struct post)))
		die_text(&d->text, "too much that nobody waits for");
}

/* The kind of a receive: its wait has the same wildcards and is on the same thread. */
static struct post
kind_of(const struct dim *d, const struct step *r)
{
	return (struct post){ .source = r->peer == ANY_PEER ? d->build.ranks : (uint32_t)r->peer,
	    .location = d->location, .comm = r->comm, .tag = r->tag };
}

static void
put_post(struct dim *d, const struct step *step)
{
	const struct post key = kind_of(d, step);
	struct post *kind;

	dim_bound(d, ++d->waiting);
	kind = posts_add(&d->posts, &key);
	*ENQUEUE(kind->at, kind->begin, kind->end, kind->capacity) = step->seq;
}

/* Removes the oldest posted receive of the kind. */
static void
take_post(struct dim *d, struct step *step)
{
	const struct post key = kind_of(d, step);
	struct post *kind = posts_find(d->posts, &key);

	if (kind == NULL)
		die_text(&d->text, "a wait for a receive that was not posted");
	step->posted = kind->at[kind->begin++];
	if (kind->begin == kind->end) {
		free(kind->at);
		posts_remove(d->posts, kind);
	}
	d->waiting--;
}

/* A side of a message, which began in row PLACE. */
static void
put_side(struct dim *d, const struct step *s, uint64_t place)
{
	const uint32_t here = d->build.of[d->location].rank, there = (uint32_t)s->peer;
	const bool send = s->kind == SEND;

	if (d->played)
		return;
	sorter_add(&d->build.sides, &(struct build_call){
	    .channel = { (uint64_t)(send ? here : there) << 32 | (send ? there : here),
	    (uint64_t)s->comm << 32 | (uint32_t)s->tag },
	    .member = send ? SEND_SIDE : RECEIVE_SIDE, .location = d->location,
	    .at = (int64_t)place, .seq = s->seq });
}

_Static_assert(sizeof(struct step) == 64, "a step has no gaps");

/* Writes a record as a row; CALL is 0 for a part of the previous call. */
static void
put_record(struct dim *d, uint16_t call, const struct step *r)
{
	struct call_row row = CALL_ROW;
	struct thread *t = d->at;
	const struct build_location *of = &d->build.of[d->location];
	struct step step = *r;

	step.at_ns = t->now_ns;
	step.seq = of->rows;
	step.head = call != 0 ? of->rows : of->head;
	row.call = call;
	row.enter_ns = row.leave_ns = t->now_ns;
	t->computed = false;
	row.comm = r->kind <= WAIT ? 1 : 0;
	row.peer = r->kind == COLLECTIVE_WAIT ? NO_PEER : r->peer;
	row.tag = r->kind <= WAIT ? r->tag : NO_TAG;
	if (r->kind <= WAIT)
		*(r->kind == SEND ? &row.bytes_sent : &row.bytes_received) = r->bytes;
	switch (r->kind) {
	case SEND: case RECEIVE: put_side(d, &step, step.seq); break;
	case POST: put_post(d, &step); break;
	case WAIT:
		/* In MPI_Sendrecv the receive is the part itself. */
		take_post(d, &step);
		put_side(d, &step, step.posted);
		row.request = (uint32_t)(step.seq - step.posted);
		break;
	case COLLECTIVE_WAIT:
		if (t->start_first == t->start_count)
			die_text(&d->text, "a wait for a collective that was not started");
		d->waiting--;
		row.request = (uint32_t)(step.seq - t->starts[t->start_first++]);
		break;
	case COLLECTIVE_START:
		dim_bound(d, ++d->waiting);
		*ENQUEUE(t->starts, t->start_first, t->start_count, t->start_capacity) = step.seq;
		/* fall through */
	case COLLECTIVE:
		row.comm = d->build.ids[r->comm];
		row.bytes_sent = r->bytes;
		row.bytes_received = r->received;
		sorter_add(&d->build.calls, &(struct build_call){ .channel = { r->comm },
		    .size = (uint32_t)d->build.comms[row.comm].size, .member = of->rank,
		    .location = d->location, .at = t->now_ns, .seq = step.seq });
		break;
	}
	spill_put_record(&d->steps, d->location, &t->step, &step, sizeof step);
	build_row(&d->build, d->location, &row);
}

void
dim_local(struct dim *d, uint16_t call, int32_t tag, int32_t peer)
{
	struct call_row row = CALL_ROW;

	row.call = call;
	row.enter_ns = row.leave_ns = d->at->now_ns;
	row.tag = tag;
	row.peer = peer;
	d->at->computed = false;
	build_row(&d->build, d->location, &row);
}

/* MPI_Sendrecv is a posted receive, a send and a wait; a side with MPI_PROC_NULL is absent. */
static bool
put_sendrecv(struct dim *d, uint16_t call)
{
	const struct step *send = NULL, *post = NULL, *wait = NULL, *r = d->at->records;
	struct step receive;

	for (; r < d->at->records + d->at->record_count; r++)
		if (r->kind == SEND && r->which == 0 && send == NULL)
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
		dim_local(d, call, NO_TAG, NULL_PEER);
	if (wait == NULL)
		return true;
	receive = *wait;
	receive.kind = RECEIVE;
	put_record(d, 0, &receive);
	return true;
}

/* Whether the records match what the function does, so that the call can be a row with parts. */
static bool
fits(struct dim *d, uint16_t call)
{
	enum call_class class = call_class(call);
	const struct step *r = d->at->records;

	if (class == CLASS_COMPLETE || class == CLASS_START) {
		for (; r < d->at->records + d->at->record_count; r++)
			if (class == CLASS_COMPLETE ?
			    r->kind != WAIT && r->kind != COLLECTIVE_WAIT :
			    r->kind != POST && !(r->kind == SEND && r->which == 2))
				return false;
		return true;
	}
	if (d->at->record_count > 1)
		return false;
	/* The flags must give the function's protocol; see lp-replay(1). */
	if (class == CLASS_SEND)
		return r->kind == SEND && r->which == (call != natural(d, SEND, 0));
	if (class == CLASS_SEND_START)
		return r->kind == SEND && r->which == (call == natural(d, SEND, 3) ? 3 : 2);
	if (class == CLASS_INIT)
		return r->kind == COLLECTIVE && r->which == 0;
	return class == call_class(natural(d, r->kind, r->which));
}

void
dim_end_call(struct dim *d)
{
	const uint16_t call = d->at->call;
	const enum call_class class = call_class(call);
	const struct step *r = d->at->records;

	if (d->at->in_call && d->at->record_count == 0)
		dim_local(d, call, NO_TAG, class >= CLASS_SEND && class <= CLASS_START ?
		    NULL_PEER : NO_PEER);
	else if (d->at->in_call && (class != CLASS_SENDRECV || !put_sendrecv(d, call))) {
		const bool whole = class != CLASS_SENDRECV && fits(d, call);

		for (size_t i = 0; i < d->at->record_count; i++, r++)
			put_record(d, !whole ? natural(d, r->kind, r->which) : i == 0 ? call : 0,
			    r);
	}
	d->waiting -= d->at->record_count;
	d->at->in_call = false;
	d->at->record_count = 0;
}

void
dim_record(struct dim *d, const struct step *r)
{
	if (!d->at->in_call) {
		put_record(d, natural(d, r->kind, r->which), r);
		return;
	}
	dim_bound(d, ++d->waiting);
	*APPEND(d->at->records, d->at->record_count, d->at->record_capacity) = *r;
}

void
dim_begin(struct dim *d)
{
	spill_begin(&d->steps, d->build.locations);
}

void
dim_unwaited(struct dim *d)
{
	for (const struct post *p = NULL; (p = posts_next(d->posts, p)) != NULL; ) {
		struct step step = { .kind = POST, .comm = p->comm, .peer = (int32_t)p->source,
		    .tag = p->tag };

		d->location = p->location;
		d->at = &d->threads[p->location];
		for (size_t i = p->begin; i < p->end; i++) {
			step.seq = p->at[i];
			put_side(d, &step, step.seq);
		}
	}
}
