/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank waits for. It must not hang on how far the others are: they run in any order. */
#include "engine.h"
#include "../mpi/call_class.h"

/* The part of [BEGIN, END] before AT; BEGIN moves there. */
static double
until(double *begin, double end, double at)
{
	double from = *begin, to = at < end ? at : end;

	if (to <= from)
		return 0;
	*begin = to;
	return to - from;
}

/* A member waits for those that it needs, then perhaps for the buses, then for the operation. */
static void
wait_for_members(struct engine *e, struct runner *r, double begin, double end)
{
	struct spent *spent = &r->spent;
	const struct instance *i = &e->instances[r->op->link];

	spent->partner_ns += until(&begin, end, collective_met_ns(e, r->op->link, r->row->member));
	if (i->class == CLASS_FILE)	/* time on files is what remains */
		return;
	spent->bus_ns += until(&begin, end, i->done_ns - i->cost.ns);
	spent->wire_ns += end - begin;
}

/* Either end waits for the other one, then for the message. */
static void
wait_for_message(struct engine *e, struct runner *r, uint32_t flight, double begin, double end)
{
	struct spent *spent = &r->spent;
	const struct trail *trail = &e->trails[flight];
	const bool is_seen = r->op->act == ACT_PROBE &&
	    (e->flights[flight].flags & MESSAGE_RENDEZVOUS) != 0;	/* once it is sent */

	spent->partner_ns += until(&begin, end, is_seen ? end : trail->due_ns);
	spent->link_ns += until(&begin, end, trail->linked_ns);
	spent->bus_ns += until(&begin, end, trail->start_ns);
	spent->wire_ns += end - begin;
}

void
explain_part(struct engine *e, uint32_t flight)
{
	const struct flight *f = &e->flights[flight];
	struct runner *r = &e->runners[f->source];

	wait_for_message(e, r, flight, r->act_ns, f->arrived_ns);
	r->act_ns = f->arrived_ns;
}

void
explain_wait(struct engine *e, uint32_t id, double cost_ns)
{
	struct runner *r = &e->runners[id];
	const struct op *op = r->op;
	double begin = r->act_ns, end = r->now_ns;

	r->act_ns = end + cost_ns;
	r->spent.cpu_ns += cost_ns;
	if (end <= begin)
		return;
	if (r->woken_ns >= begin && r->woken_ns < end) {
		r->spent.cpu_ns += end - r->woken_ns;
		end = r->woken_ns;
	}
	if (op->link == NONE)
		r->spent.partner_ns += end - begin;
	else if (is_scheduled(e, op))
		wait_for_message(e, r, r->move.flight, begin, end);
	else if (op->act == ACT_COLLECTIVE || op->act == ACT_WAIT_COLLECTIVE)
		wait_for_members(e, r, begin, end);
	else
		wait_for_message(e, r, op->link, begin, end);
}
