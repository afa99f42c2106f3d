/* SPDX-License-Identifier: BSD-3-Clause */
/* The effect of a row: the computation before it, its cost, and which events it waits for. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

double
compute_ns(const struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	double ns = (double)r->op->gap_ns, region = 1;

	if (r->op->gap_ns == 0)
		return 0;
	if (r->cpu_ratio != 1)
		ns = r->cpu_ratio > 0 ? ns / r->cpu_ratio : 0;
	for (size_t i = 0; i < r->region_count; i++)	/* the innermost with a ratio counts */
		if (r->regions[i].ratio == r->regions[i].ratio)	/* not a number: none */
			region = r->regions[i].ratio;
	if (region != 1)
		ns = region > 0 ? ns / region : region == 0 ? 0 : -region * 1e9;
	ns *= scale_of(e, id, true);
	r->useful_ns += ns;
	return ns;
}

/* An event opens a region, or closes the innermost one of its type. */
static void
take_event(const struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	const struct replay_row *row = r->row;
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
		if (e->machine->regions[i].type == row->tag &&
		    e->machine->regions[i].value == row->peer)
			ratio = e->machine->regions[i].ratio;
	*APPEND(r->regions, r->region_count, r->region_capacity) = (struct open_region){ row->tag,
	    ratio };
}

/* Whether the other end of a message is missing although its peer is a rank of this run. */
static bool
is_lost(const struct engine *e, uint32_t id)
{
	const struct runner *r = &e->runners[id];
	const struct replay_row *row = r->row;

	return row->peer == ANY_PEER ||
	    world_rank(e->known, row->comm, (int32_t)r->rank, row->peer) >= 0;
}

struct cost
startup(const struct engine *e, uint32_t id, const struct op *op)
{
	struct cost cost = { op->startup_ns, { 0 } };
	const struct flight *f;

	switch (op->act) {
	case ACT_COLLECTIVE:
		if (is_scheduled(e, op))
			cost.ns += e->instances[op->link].plan.beside_ns;
		return op->link != NONE && e->machine->dimemas ?
		    reduction_startup(e, id, op->link) : cost;
	case ACT_COLLECTIVE_START: case ACT_WAIT_COLLECTIVE:
		return e->machine->dimemas && op->link != NONE ?
		    collective_startup(e, id, op->link) : cost;
	case ACT_SEND: case ACT_SENDRECV: case ACT_SEND_START: case ACT_RECEIVE: case ACT_WAIT:
		if (op->link == NONE || e->machine->loggp)
			return cost;
		f = &e->flights[op->link];
		cost.times[LATENCY] = f->wire == WIRE_NETWORK;
		return cost;
	default:
		return cost;
	}
}

double
after_ns(const struct engine *e, uint32_t id)
{
	const struct op *op = e->runners[id].op;

	if (op->link != NONE &&
	    (op->act == ACT_SEND || op->act == ACT_SENDRECV || op->act == ACT_SEND_START))
		return sent_ns(e->machine, e->flights[op->link].wire == WIRE_MEMORY,
		    (double)e->runners[id].row->sent);
	if ((op->act != ACT_RECEIVE && op->act != ACT_WAIT) || op->link == NONE)
		return 0;
	return overhead_ns(e->machine, e->flights[op->link].wire == WIRE_MEMORY, true,
	    (double)e->runners[id].row->received);
}

/* Wakes the receiver that sleeps on the message. */
static void
wake_receiver(struct engine *e, uint32_t link, int when, double at_ns)
{
	struct flight *f = &e->flights[link];
	const uint32_t id = f->receiver;

	if (id == NONE)
		return;
	mark_message(e, id, link, when);
	f->receiver = NONE;
	wake(e, id, at_ns);
}

/* The data has arrived: wakes the rank that sleeps on it. */
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
	if (f->receiver != NONE && e->marks != NULL &&
	    e->runners[f->receiver].op->act != ACT_PROBE)
		e->marks->in_flight--;
	wake_receiver(e, link, ARRIVED, at_ns);
	if (!e->contended)
		depart(e, link, at_ns - (e->machine->loggp ? flight_latency_ns(e, f) : 0));
	flight_unref(e, link);
}

/* All data has left: with LogGP, wakes the sender that waited for the receive. */
void
depart(struct engine *e, uint32_t link, double at_ns)
{
	struct flight *f = &e->flights[link];
	uint32_t sender = f->sender;

	f->departed = true;
	if (!e->machine->loggp || sender == NONE || !(f->flags & MESSAGE_RENDEZVOUS))
		return;
	f->sender = NONE;
	mark_message(e, sender, link, POSTED);
	wake(e, sender, at_ns);
}

/* Both ends have done what the protocol needs: the transfer starts. */
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

/* The receive is posted: wakes a sender that waits for it. */
void
post(struct engine *e, uint32_t id, uint32_t link)
{
	struct flight *f = &e->flights[link];
	double now_ns = e->runners[id].now_ns;

	if (f->flags & MESSAGE_POSTED)
		return;
	f->flags |= MESSAGE_POSTED;
	f->posted_ns = now_ns;
	if (!(f->flags & MESSAGE_RENDEZVOUS))
		return;
	if (e->marks != NULL)
		mark_set(e, message_time(e, link, POSTED), id, &NO_COST, NO_PAYER);
	/* otherwise it goes on when the data has left */
	if (f->sender != NONE && !e->machine->loggp) {
		mark_message(e, f->sender, link, POSTED);
		wake(e, f->sender, now_ns);
		f->sender = NONE;
	}
	start_if_due(e, link);
}

bool
wait_posted(struct engine *e, uint32_t id, uint32_t link)
{
	struct flight *f = &e->flights[link];

	if (!(f->flags & MESSAGE_RENDEZVOUS))
		return true;
	if (e->marks != NULL)
		message_weight(e, link)->waiter = payer_here(e, id, true);
	if (e->machine->loggp ? f->departed : (f->flags & MESSAGE_POSTED) != 0) {
		mark_message(e, id, link, POSTED);
		return sleep_until(&e->runners[id], !e->machine->loggp ? f->posted_ns :
		    e->contended ? 0 : f->arrived_ns - flight_latency_ns(e, f));
	}
	f->sender = id;
	return block(e, id);
}

void
begin_send(struct engine *e, uint32_t id, uint32_t link, double bytes)
{
	struct runner *r = &e->runners[id];
	struct flight *f = &e->flights[link];

	f->flags |= MESSAGE_SENT;
	f->sent_ns = r->now_ns;
	f->wire_ns *= scale_of(e, id, false);
	if (e->marks != NULL) {		/* the parameters of its way; its sender pays */
		struct weight *weight = message_weight(e, link);

		weight->bytes = (f->wire == WIRE_NETWORK ? bytes : 0) * scale_of(e, id, false);
		weight->sender = payer_here(e, id, false);
		e->marks->in_flight++;
		if (f->flags & MESSAGE_RENDEZVOUS)
			mark_set(e, message_time(e, link, SENT), id, &NO_COST, NO_PAYER);
	}
	if (f->flags & MESSAGE_RENDEZVOUS && !(f->flags & (MESSAGE_PART | MESSAGE_POSTED)))
		wake_receiver(e, link, SENT, f->sent_ns);	/* a probe */
	start_if_due(e, link);
}

bool
wait_arrived(struct engine *e, uint32_t id, uint32_t link)
{
	struct runner *r = &e->runners[id];
	struct flight *f;

	if (e->marks != NULL)
		message_weight(e, link)->receiver = payer_here(e, id, true);
	post(e, id, link);
	f = &e->flights[link];
	if (f->flags & MESSAGE_ARRIVED) {
		mark_message(e, id, link, ARRIVED);
		if (e->marks != NULL)
			e->marks->in_flight--;
		return sleep_until(r, f->arrived_ns);
	}
	if (f->receiver != NONE)	/* another thread probes for it */
		wake(e, f->receiver, r->now_ns);
	f->receiver = id;
	return block(e, id);
}

/*
 * Sees a message whose data has arrived. If the data waits for the receive, it sees the message
 * from its send on.
 */
static bool
do_probe(struct engine *e, uint32_t id, uint32_t link)
{
	struct flight *f = &e->flights[link];
	const bool waits_too = (f->flags & MESSAGE_RENDEZVOUS) != 0;

	if (e->marks != NULL)
		message_weight(e, link)->receiver = payer_here(e, id, true);
	if (f->flags & (waits_too ? MESSAGE_SENT : MESSAGE_ARRIVED)) {
		mark_message(e, id, link, waits_too ? SENT : ARRIVED);
		return sleep_until(&e->runners[id], waits_too ? f->sent_ns : f->arrived_ns);
	}
	if (f->receiver != NONE)	/* another thread sleeps on it */
		return true;
	f->receiver = id;
	return block(e, id);
}

/* Executes the row; false: the runner sleeps, and continues after the row. */
bool
act(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	const struct op *op = r->op;

	switch ((enum act)op->act) {
	case ACT_SEND: case ACT_SENDRECV: case ACT_SEND_START:
		if (op->link == NONE)
			return lost_send(e, id, op);
		/* the row is far away, and few ask */
		begin_send(e, id, op->link, e->marks != NULL ? (double)r->row->sent : 0);
		return op->act == ACT_SEND_START || wait_posted(e, id, op->link);
	case ACT_RECEIVE: case ACT_WAIT:
		if (op->link != NONE)
			return wait_arrived(e, id, op->link);
		return is_lost(e, id) ? block(e, id) : true;
	case ACT_PROBE:
		return op->link == NONE || do_probe(e, id, op->link);
	case ACT_POST:
		if (op->link != NONE)
			post(e, id, op->link);
		else if (op->open && !e->ended)
			early_post(e, id);
		return true;
	case ACT_POST_FREED:
		lost_post(e, r->rank, r->row, r->now_ns);
		return true;
	case ACT_WAIT_SEND:	/* Dimemas' model never waits for a send that was started */
		return e->machine->dimemas || wait_posted(e, id, op->link);
	case ACT_COMPLETE:
		return r->row->peer >= 0 && is_lost(e, id) ?
		    block(e, id) : true;
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
