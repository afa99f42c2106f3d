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
		struct queue *queue = &e->cpu_queues[e->node_of[id]];

		if (e->free_cpus[e->node_of[id]] == 0) {
			if (queue->head == NONE)
				queue->head = id;
			else
				e->runners[queue->tail].next = id;
			queue->tail = id;
			r->next = NONE;
			return;
		}
		e->free_cpus[e->node_of[id]]--;
		r->has_cpu = true;
	}
	events_add(&e->events, at_ns, EVENT_RUN, id);
}

/* A rank keeps its CPU until it blocks; then the first in the queue gets it. */
static void
give_cpu(struct engine *e, uint32_t id)
{
	struct queue *queue = &e->cpu_queues[e->node_of[id]];
	uint32_t next = queue->head;

	e->runners[id].has_cpu = false;
	e->free_cpus[e->node_of[id]]++;
	if (next == NONE)
		return;
	queue->head = e->runners[next].next;
	wake(e, next, e->now_ns);
}

bool
block(struct engine *e, uint32_t id)
{
	if (e->limited_cpus)
		give_cpu(e, id);
	return false;
}

/* Spends time on the CPU. */
static bool
spend(struct engine *e, uint32_t id, double ns)
{
	struct runner *r = &e->runners[id];

	if (!e->contended) {
		r->now_ns += ns;
		return true;
	}
	events_add(&e->events, r->now_ns + ns, EVENT_RUN, id);
	return false;
}

/* The call is left: its rows get their simulated times. */
static void
leave_call(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	struct op *op = op_at(e, id, r->seq);
	uint64_t end = r->part;
	int64_t enter_ns = (int64_t)(r->enter_ns + 0.5), leave_ns = (int64_t)(r->now_ns + 0.5);

	r->recorded_useful_ns += op->gap_ns;
	r->recorded_leave_ns += op->gap_ns + op->duration_ns;
	span_call(&r->recorded, row_at(e, id, r->seq)->call, r->recorded_leave_ns - op->duration_ns,
	    r->recorded_leave_ns);
	span_call(&r->span, row_at(e, id, r->seq)->call, enter_ns, leave_ns);
	for (uint64_t seq = r->seq; seq < end; seq++, op++) {
		switch ((enum act)op->act) {
		case ACT_COLLECTIVE: case ACT_COLLECTIVE_START: case ACT_WAIT_COLLECTIVE:
			if (op->link != NONE)
				instance_unref(e, op->link);
			break;
		default:
			if (op->link != NONE)
				flight_unref(e, op->link);
		}
		op->gap_ns = enter_ns;
		op->duration_ns = leave_ns;
	}
	if (e->done != NULL)
		e->done(e->context, id, r->seq, end);
	else
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
	const struct op *receive;

	r->enter_ns = r->now_ns;
	r->part = r->seq;
	if (e->unborn > 0)
		bear(e, id);
	if (op_at(e, id, r->seq)->act != ACT_SENDRECV)
		return;
	receive = op_at(e, id, r->seq + 1);
	if (receive != NULL && receive->part && receive->link != NONE)
		post(e, id, receive->link);
}

/* The cost at the begin of a row. */
static double
begin_ns(struct engine *e, uint32_t id, const struct op *op)
{
	const struct runner *r = &e->runners[id];
	struct cost cost = startup(e, id, op);

	if (e->scales != NULL) {
		double factor = scale_of(e, id, r->part, false);

		cost.ns *= factor;
		for (int p = 0; p < PARAMETERS; p++)
			cost.times[p] *= factor;
	}
	if (op->costs && r->part == r->seq) {
		cost.ns += e->machine->call_ns;
		cost.times[OVERHEAD] = 1;
	}
	if (e->marks != NULL &&
	    (cost.ns != 0 || cost.times[LATENCY] != 0 || cost.times[OVERHEAD] != 0))
		mark_add(e, id, &cost, payer_here(e, id, false));
	return cost.ns;
}

/* One step of a collective that runs as messages; false: it sleeps, or waits for its turn. */
static bool
go_on(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	double ns = 0;

	switch ((enum step)r->step) {
	case STEP_MOVE:
		r->step = move_next(e, id, &ns) ? STEP_MOVE_ACT : STEP_LEAVE;
		break;
	case STEP_MOVE_ACT:
		r->step = STEP_MOVE_AFTER;
		return move_act(e, id);
	default:
		r->step = STEP_MOVE;
		ns = move_after(e, id);
	}
	return ns == 0 || spend(e, id, ns);
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
			if (e->limited_cpus)
				give_cpu(e, id);
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

/* The row's message and the rows behind it will be needed. */
static void
prefetch(const struct engine *e, uint32_t id, const struct op *op)
{
	if (op->link < e->flight_count)
		__builtin_prefetch(&e->flights[op->link]);
	__builtin_prefetch(op_at(e, id, e->runners[id].seq + 2));
}

/* The part is over. */
static void
leave_part(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	const struct op *op;

	if (e->slept != NULL && r->now_ns > r->act_ns)
		e->slept(e->context, id, op_at(e, id, r->part), r->act_ns);
	op = op_at(e, id, ++r->part);
	if (op != NULL && op->part)
		r->step = STEP_PART;
	else {
		leave_call(e, id);
		r->step = STEP_COMPUTE;
	}
}

/* Runs until the rank blocks, has no rows, or must wait for its turn. */
static void
run(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	struct op *op;
	double ns;

	for (;;)
		switch ((enum step)r->step) {
		case STEP_COMPUTE:
			if (must_wait(e, id))
				return;
			op = op_at(e, id, r->seq);
			r->step = STEP_ENTER;
			prefetch(e, id, op);
			ns = compute_ns(e, id, op);
			mark_spent(e, id, ns);
			if (!spend(e, id, ns))
				return;
			break;
		case STEP_ENTER:
			enter_call(e, id);
			r->step = STEP_PART;
			break;
		case STEP_PART:
			op = op_at(e, id, r->part);
			r->step = STEP_ACT;
			ns = begin_ns(e, id, op);
			if (e->explains && !is_kept(op))
				r->spent.latency_ns += ns;
			if (ns > 0 && !spend(e, id, ns))
				return;
			break;
		case STEP_ACT:
			r->act_ns = r->now_ns;
			if (is_scheduled(e, op_at(e, id, r->part))) {
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
			ns = after_ns(e, id, op_at(e, id, r->part));
			mark_spent(e, id, ns);
			if (ns > 0 && !spend(e, id, ns))
				return;
			break;
		case STEP_LEAVE:
			leave_part(e, id);
			break;
		case STEP_MOVE: case STEP_MOVE_ACT: case STEP_MOVE_AFTER:
			if (!go_on(e, id))
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
	for (uint32_t l = 0; l < e->locations; l++) {
		struct runner *r = &e->runners[l];

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

static void
run_events(struct engine *e)
{
	struct event event;

	/* A runner without rows may act before all scheduled events. */
	while (e->starving == 0 && events_take(&e->events, &event)) {
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

void
engine_run(struct engine *e)
{
	feed(e);
	if (e->contended) {
		run_events(e);
		return;
	}
	while (e->stack_count > 0)
		run(e, e->stack[--e->stack_count]);
}
