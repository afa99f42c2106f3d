/* SPDX-License-Identifier: BSD-3-Clause */
/* What a row does: how long it computes before, what it costs, for whom it waits. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* What it waits for is known to be over then, which where there are events is the past. */
static bool
sleep_until(struct runner *r, double at_ns)
{
	if (at_ns > r->now_ns)
		r->now_ns = at_ns;
	return true;
}

/* The ratio of the innermost open region that has one; 1 where there is none. */
static double
region_ratio(const struct runner *r)
{
	for (size_t i = r->region_count; i > 0; i--)
		if (r->regions[i - 1].ratio == r->regions[i - 1].ratio)	/* not a number: none */
			return r->regions[i - 1].ratio;
	return 1;
}

double
compute_ns(const struct engine *e, uint32_t id, const struct op *op)
{
	struct runner *r = &e->runners[id];
	double ns = (double)op->gap_ns, region;

	if (op->gap_ns == 0)
		return 0;
	if (r->cpu_ratio != 1)
		ns = r->cpu_ratio > 0 ? ns / r->cpu_ratio : 0;
	region = e->machine->region_count > 0 ? region_ratio(r) : 1;
	if (region != 1)
		ns = region > 0 ? ns / region : region == 0 ? 0 : -region * 1e9;
	if (e->scale != NULL)
		ns *= e->scale(e->context, r->rank, row_at(e, id, r->seq), true);
	r->useful_ns += ns;
	return ns;
}

/* An event opens a region, or closes the innermost of its type. */
static void
take_event(const struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	const struct row *row = row_at(e, id, r->part);
	double ratio = __builtin_nan("");

	if (row->tag == NO_TAG || e->machine->region_count == 0)
		return;
	if (row->peer == 0) {
		for (size_t i = r->region_count; i > 0; i--)
			if (r->regions[i - 1].type == row->tag) {
				memmove(&r->regions[i - 1], &r->regions[i],
				    (r->region_count - i) * sizeof *r->regions);
				r->region_count--;
				return;
			}
		return;
	}
	for (size_t i = 0; i < e->machine->region_count; i++)
		if (e->machine->regions[i].type == row->tag && e->machine->regions[i].value == row->peer)
			ratio = e->machine->regions[i].ratio;
	r->regions = grow(r->regions, &r->region_capacity, r->region_count + 1, sizeof *r->regions);
	r->regions[r->region_count++] = (struct open_region){ row->tag, ratio };
}

/* The peer of a message that has no other end is a rank of this run: its other end is lost. */
static bool
is_lost(const struct engine *e, uint32_t id)
{
	const struct runner *r = &e->runners[id];
	const struct row *row = row_at(e, id, r->part);

	return row->peer == ANY_PEER ||
	    world_rank(e->known, row->comm, (int32_t)r->rank, row->peer) >= 0;
}

/* Time on the CPU that an operation takes at its begin. */
double
startup_ns(const struct engine *e, uint32_t id, const struct op *op)
{
	switch (op->act) {
	case ACT_COLLECTIVE:
		return op->link != NONE && e->machine->dimemas ? reduction_startup_ns(e, id, op->link) : 0;
	case ACT_COLLECTIVE_START: case ACT_WAIT_COLLECTIVE:
		return e->machine->dimemas && op->link != NONE ? collective_startup_ns(e, id, op->link) : 0;
	default:
		return op->startup_ns;
	}
}

/* The data is there: who sleeps on it goes on. */
void
arrive(struct engine *e, uint32_t link, double at_ns)
{
	struct flight *f = &e->flights[link];

	f->flags |= MESSAGE_ARRIVED;
	f->arrived_ns = at_ns;
	if (f->flags & MESSAGE_PART) {
		collective_part(e, link);
		return;
	}
	if (f->receiver != NONE)	/* whose clock may be ahead, where there are no events */
		wake(e, f->receiver, at_ns > e->runners[f->receiver].now_ns ? at_ns :
		    e->runners[f->receiver].now_ns);
	f->receiver = NONE;
	flight_unref(e, link);
}

/* Both ends have done what the protocol asks for: the data moves. */
static void
start_if_due(struct engine *e, uint32_t link)
{
	struct flight *f = &e->flights[link];
	uint8_t needed = MESSAGE_SENT | (f->flags & MESSAGE_RENDEZVOUS ? MESSAGE_POSTED : 0);

	if ((f->flags & needed) != needed)
		return;
	transfer_start(e, link, f->flags & MESSAGE_RENDEZVOUS && f->posted_ns > f->sent_ns ?
	    f->posted_ns : f->sent_ns);
}

/* The receive of a message is reached: a sender that waits for it goes on. */
void
post(struct engine *e, uint32_t link, double now_ns)
{
	struct flight *f = &e->flights[link];

	if (f->flags & MESSAGE_POSTED)
		return;
	f->flags |= MESSAGE_POSTED;
	f->posted_ns = now_ns;
	if (f->flags & MESSAGE_RENDEZVOUS) {
		if (f->sender != NONE)
			wake(e, f->sender, now_ns > f->sent_ns ? now_ns : e->runners[f->sender].now_ns);
		f->sender = NONE;
		start_if_due(e, link);
	}
}

/* A rendezvous send waits until its receive is reached. */
static bool
wait_posted(struct engine *e, uint32_t id, uint32_t link)
{
	struct flight *f = &e->flights[link];

	if (!(f->flags & MESSAGE_RENDEZVOUS))
		return true;
	if (f->flags & MESSAGE_POSTED)
		return sleep_until(&e->runners[id], f->posted_ns);
	f->sender = id;
	return block(e, id);
}

static bool
do_send(struct engine *e, uint32_t id, const struct op *op)
{
	struct runner *r = &e->runners[id];
	bool blocking = op->act != ACT_SEND_START, rendezvous = op->rendezvous;
	uint32_t link = op->link;
	struct flight *f;

	if (link == NONE)
		return lost_send(e, id, op);
	f = &e->flights[link];
	f->flags |= MESSAGE_SENT | (rendezvous ? MESSAGE_RENDEZVOUS : 0);
	f->sent_ns = r->now_ns;
	if (e->scale != NULL)
		f->wire_ns *= e->scale(e->context, r->rank, row_at(e, id, r->part), false);
	start_if_due(e, link);
	return blocking ? wait_posted(e, id, link) : true;
}

static bool
do_wait(struct engine *e, uint32_t id, const struct op *op)
{
	struct runner *r = &e->runners[id];
	uint32_t link = op->link;
	struct flight *f;

	if (link == NONE)
		return is_lost(e, id) ? block(e, id) : true;
	post(e, link, r->now_ns);
	f = &e->flights[link];
	if (f->flags & MESSAGE_ARRIVED)
		return sleep_until(r, f->arrived_ns);
	f->receiver = id;
	return block(e, id);
}

/* Does what the row does; false: the runner sleeps, and goes on behind it. */
bool
act(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	const struct op *op = op_at(e, id, r->part);

	switch ((enum act)op->act) {
	case ACT_SEND: case ACT_SENDRECV: case ACT_SEND_START:
		return do_send(e, id, op);
	case ACT_RECEIVE: case ACT_WAIT:
		return do_wait(e, id, op);
	case ACT_POST:
		if (op->link != NONE)
			post(e, op->link, r->now_ns);
		return true;
	case ACT_POST_FREED:
		lost_post(e, id);
		return true;
	case ACT_WAIT_SEND:	/* in Dimemas' model a send that was started is never waited for */
		return e->machine->dimemas || wait_posted(e, id, op->link);
	case ACT_COMPLETE:
		return row_at(e, id, e->runners[id].part)->peer >= 0 && is_lost(e, id) ? block(e, id) : true;
	case ACT_COLLECTIVE: case ACT_COLLECTIVE_START:
		return collective_enter(e, id, op, op->act == ACT_COLLECTIVE) || block(e, id);
	case ACT_WAIT_COLLECTIVE:
		return collective_wait(e, id, op) || block(e, id);
	case ACT_EVENT:
		take_event(e, id);
		return true;
	default:
		return true;
	}
}
