/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a rank, row by row. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* The runner continues at AT_NS or its own later clock. If CPUs are limited, it needs one first. */
void
wake(struct engine *e, uint32_t id, double at_ns)
{
	struct runner *r = &e->runners[id];

	at_ns = at_ns > r->now_ns ? at_ns : r->now_ns;
	r->woken_ns = at_ns;
	if (!e->contended) {
		r->now_ns = at_ns;
		e->stack[e->stack_count++] = id;
		return;
	}
	if (e->limited_cpus && !r->has_cpu) {
		struct resource *cpus = &e->nodes[e->node_of[id]].cpus;

		if (!is_free(cpus)) {
			if (cpus->queue.head == NONE)
				cpus->queue.head = id;
			else
				e->runners[cpus->queue.tail].next = id;
			cpus->queue.tail = id;
			r->next = NONE;
			return;
		}
		cpus->busy++;
		r->has_cpu = true;
	}
	events_add(&e->events, at_ns, EVENT_RUN, id);
}

/* A rank keeps its CPU until it blocks; then the first in the queue gets it. */
bool
block(struct engine *e, uint32_t id)
{
	struct resource *cpus = &e->nodes[e->node_of[id]].cpus;
	const uint32_t next = cpus->queue.head;

	if (!e->limited_cpus)
		return false;
	e->runners[id].has_cpu = false;
	cpus->busy--;
	if (next != NONE) {
		cpus->queue.head = e->runners[next].next;
		wake(e, next, e->now_ns);
	}
	return false;
}

/* Spends time on the CPU. */
static inline bool
spend(struct engine *e, uint32_t id, double ns)
{
	struct runner *r = &e->runners[id];

	if (!e->contended) {
		r->now_ns += ns;
		return true;
	}
	/* Its event would be the next one. A collective may have put its clock ahead of all. */
	if (r->now_ns + ns <= e->now_ns && e->starving == 0 && !events_are_due(&e->events))
		return true;
	events_add(&e->events, r->now_ns + ns, EVENT_RUN, id);
	return false;
}

/* Finds the rows of a runner's part, which move when rows are read. */
static void
find_rows(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];

	r->op = op_at(e, id, r->part);
	r->row = r->op != NULL ? row_at(e, id, r->part) : NULL;
}

/* Does the call have another part? */
static bool
has_part(const struct engine *e, uint32_t id)
{
	const struct runner *r = &e->runners[id];

	return r->part + 1 < lane_end(&e->lanes[id]) && r->op[1].part;
}

/* The call is left: its rows get their simulated times. */
static void
leave_call(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	uint64_t end = r->part;
	struct op *op = r->op - (end - 1 - r->seq);
	int64_t enter_ns = (int64_t)(r->enter_ns + 0.5), leave_ns = (int64_t)(r->now_ns + 0.5);

	r->recorded_useful_ns += op->gap_ns;
	r->recorded_leave_ns += op->gap_ns + op->duration_ns;
	if (op->frames || !r->span.any) {
		span_call(&r->recorded, r->row->call, r->recorded_leave_ns - op->duration_ns,
		    r->recorded_leave_ns);
		span_call(&r->span, r->row->call, enter_ns, leave_ns);
	} else {
		span_call_between(&r->recorded, op->gap_ns, r->recorded_leave_ns);
		span_call_between(&r->span, enter_ns - r->span.last_ns, leave_ns);
	}
	for (; op <= r->op; op++) {
		if (op->link == NONE)
			;
		else if (is_any_collective(op) || op->act == ACT_WAIT_COLLECTIVE)
			instance_unref(e, op->link);
		else
			flight_unref(e, op->link);
		op->gap_ns = enter_ns;
		op->duration_ns = leave_ns;
	}
	if (e->done != NULL)
		e->done(e->context, id);
	if (!e->keeps_rows)
		lane_drop(&e->lanes[id], end);
	r->seq = end;
	r->begin_ns = r->now_ns;
}

/* The root of MPI_Comm_spawn has entered: the spawned ranks begin. */
static void
bear(struct engine *e, uint32_t id)
{
	const struct runner *maker = &e->runners[id];

	for (uint32_t l = 0; l < e->locations; l++) {
		struct runner *r = &e->runners[l];
		const struct beginning *begin = r->unborn ? beginning_of(e->known, l) : NULL;

		if (begin == NULL || begin->location != id || begin->seq != maker->seq)
			continue;
		r->unborn = false;
		e->unborn--;
		if (e->marks != NULL)
			mark_set(e, l, id, &NO_COST, NO_PAYER);
		if (r->starved)
			r->now_ns = maker->now_ns;
		else
			wake(e, l, maker->now_ns);
	}
}

/* A call begins: the receive of MPI_Sendrecv is posted at once. */
static void
enter_call(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];

	r->enter_ns = r->now_ns;
	if (e->unborn > 0)
		bear(e, id);
	if (r->op->act == ACT_SENDRECV && has_part(e, id) && r->op[1].link != NONE)
		post(e, id, r->op[1].link);
}

/* The cost at the begin of a row. */
static double
begin_ns(struct engine *e, uint32_t id)
{
	const struct runner *r = &e->runners[id];
	const double call_ns = r->op->costs && r->part == r->seq ? e->machine->call_ns : 0;
	struct cost cost;
	double factor;

	if (e->marks == NULL && e->scales == NULL && !is_any_collective(r->op) &&
	    r->op->act != ACT_WAIT_COLLECTIVE)
		return r->op->startup_ns + call_ns;
	cost = startup(e, id, r->op);
	factor = scale_of(e, id, false);
	for (int p = 0; p < PARAMETERS; p++)
		cost.times[p] *= factor;
	cost.ns = cost.ns * factor + call_ns;
	cost.times[OVERHEAD] = r->op->costs && r->part == r->seq;
	if (e->marks != NULL &&
	    (cost.ns != 0 || cost.times[LATENCY] != 0 || cost.times[OVERHEAD] != 0))
		mark_add(e, id, &cost, payer_here(e, id, false));
	return cost.ns;
}

/* There is no next row, not yet, or not before its process is spawned. */
static bool
must_wait(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	const struct op_lane *lane = &e->lanes[id];

	if (r->seq == lane->ready) {
		if (e->ended && r->seq == lane_end(lane)) {
			r->step = STEP_END;
			block(e, id);
		} else {
			r->starved = true;
			e->starving++;
		}
		return true;
	}
	if (r->unborn)
		block(e, id);
	return r->unborn;
}

/* Its messages and rows will be needed: soon, unless other ranks take turns with it. */
static void
prefetch(const struct engine *e, uint32_t id)
{
	const struct runner *r = &e->runners[id];
	const unsigned ahead = e->contended ? 0 : 4;	/* rows: measured */

	if (r->part + ahead < lane_end(&e->lanes[id]) && r->op[ahead].link < e->flight_count)
		/* a load: prefetching had no effect */
		(void)*(volatile uint8_t *)&e->flights[r->op[ahead].link].flags;
	__builtin_prefetch(r->op + ahead + 4);
}

/* The cost on the CPU after a row's wait. */
static double
end_wait(struct engine *e, uint32_t id)
{
	const double ns = after_ns(e, id);

	if (e->explains)
		explain_wait(e, id, ns);
	mark_spent(e, id, ns);
	return ns;
}

/* The part is over. */
static void
leave_part(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	struct op *op = r->op;
	const bool more = has_part(e, id);

	if (op->sends_too) {	/* it has received, and sends now */
		flight_unref(e, op->link);
		op->link = r->row->member;
		op->act = ACT_SEND;
		op->sends_too = op->costs = false;
		op->startup_ns = send_startup_ns(e, op->link, r->row);
		r->step = STEP_PART;
		return;
	}
	r->part++;
	if (more) {
		r->op++;
		r->row++;
		r->step = STEP_PART;
	} else {
		leave_call(e, id);
		r->step = STEP_COMPUTE;
	}
}

/* Runs until the rank blocks, has no rows, or must wait for its turn. */
static void
run(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	double ns;

	for (;;)
		switch ((enum step)r->step) {
		case STEP_COMPUTE:
			if (must_wait(e, id))
				return;
			r->part = r->seq;
			find_rows(e, id);
			r->step = STEP_ENTER;
			prefetch(e, id);
			ns = compute_ns(e, id);
			if (e->marks != NULL)
				mark_spent(e, id, ns);
			if (!spend(e, id, ns))
				return;
			break;
		case STEP_ENTER:
			enter_call(e, id);
			r->step = STEP_PART;
			break;
		case STEP_PART:
			r->step = STEP_ACT;
			ns = begin_ns(e, id);
			if (e->explains && !is_kept(r->op))
				r->spent.latency_ns += ns;
			if (ns > 0 && !spend(e, id, ns))
				return;
			break;
		case STEP_ACT:
			r->act_ns = r->now_ns;
			if (is_scheduled(e, r->op)) {
				moves_enter(e, id);
				r->step = STEP_MOVE;
				break;
			}
			r->step = e->machine->loggp ? STEP_AFTER : STEP_LEAVE;
			if (!act(e, id))
				return;
			break;
		case STEP_AFTER:
			r->step = STEP_LEAVE;
			ns = end_wait(e, id);
			if (ns > 0 && !spend(e, id, ns))
				return;
			break;
		case STEP_LEAVE:
			if (e->explains)
				explain_wait(e, id, 0);
			leave_part(e, id);
			break;
		case STEP_MOVE: case STEP_MOVE_ACT: case STEP_MOVE_AFTER:
			ns = 0;
			if (!move_step(e, id, &ns) || (ns != 0 && !spend(e, id, ns)))
				return;
			break;
		case STEP_END:
			return;
		}
}

/* Continues runners that had no rows and now have some, or have reached the end. */
static void
feed(struct engine *e)
{
	/* All have rows first, so that all begin in the same order, whenever these were read. */
	for (uint32_t l = 0; l < e->locations && e->contended && !e->begun && !e->ended; l++)
		if (e->lanes[l].ready == 0)
			return;
	e->begun = true;
	for (uint32_t l = 0; l < e->locations; l++) {
		struct runner *r = &e->runners[l];

		find_rows(e, l);
		if (!r->starved || (r->seq == e->lanes[l].ready && !e->ended))
			continue;
		r->starved = false;
		e->starving--;
		if (e->contended && (r->seq > 0 || r->has_cpu))
			run(e, l);	/* it holds everybody up: its time is now */
		else
			wake(e, l, r->now_ns);
	}
}

void
engine_run(struct engine *e)
{
	struct event event;

	feed(e);
	while (e->stack_count > 0)
		run(e, e->stack[--e->stack_count]);
	/* A runner without rows may act before all scheduled events. */
	while (e->contended && e->starving == 0 && events_take(&e->events, &event)) {
		e->now_ns = event.at_ns;
		if (event.kind == EVENT_RUN) {
			e->runners[event.who].now_ns = event.at_ns;
			run(e, event.who);
		} else if (event.kind == EVENT_ARRIVE) {
			if (e->held_ns == NULL)
				transfer_end(e, event.who);
			arrive(e, event.who, event.at_ns);
		} else if (event.kind == EVENT_RELEASE) {
			if (e->held_ns == NULL)
				transfer_end(e, event.who);
			depart(e, event.who, event.at_ns);
		} else if (event.kind == EVENT_FREE) {
			transfer_end(e, event.who);
			flight_unref(e, event.who);
		} else {
			bus_give_all(e, event.who);
			collective_done(e, event.who, event.at_ns);
		}
	}
}
