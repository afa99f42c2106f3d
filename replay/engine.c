/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank does, row by row. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* The runner goes on at that time; where CPUs are limited, once it has one. */
void
wake(struct engine *e, uint32_t id, double at_ns)
{
	struct runner *r = &e->runners[id];

	r->blocked = false;
	r->woken_ns = at_ns;
	if (!e->contended) {
		r->now_ns = at_ns;
		e->stack[e->stack_count++] = id;
		return;
	}
	if (e->limited_cpus && !r->has_cpu) {
		struct queue *queue = &e->cpu_queues[r->node];

		if (e->free_cpus[r->node] == 0) {
			if (queue->head == NONE)
				queue->head = id;
			else
				e->runners[queue->tail].next = id;
			queue->tail = id;
			r->next = NONE;
			return;
		}
		e->free_cpus[r->node]--;
		r->has_cpu = true;
	}
	schedule(e, at_ns, EVENT_RUN, id);
}

/* A rank keeps its CPU until it blocks; then the first that waits for one gets it. */
static void
give_cpu(struct engine *e, struct runner *r)
{
	struct queue *queue = &e->cpu_queues[r->node];
	uint32_t next = queue->head;

	r->has_cpu = false;
	e->free_cpus[r->node]++;
	if (next == NONE)
		return;
	queue->head = e->runners[next].next;
	wake(e, next, e->now_ns);
}

static bool
block(struct engine *e, struct runner *r)
{
	r->blocked = true;
	if (e->limited_cpus)
		give_cpu(e, r);
	return false;
}

/* What it waits for is known to be over then, which where there are events is the past. */
static bool
sleep_until(struct runner *r, double at_ns)
{
	if (at_ns > r->now_ns)
		r->now_ns = at_ns;
	return true;
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
	schedule(e, r->now_ns + ns, EVENT_RUN, id);
	return false;
}

double
cpu_ratio(const struct engine *e, const struct runner *r)
{
	return e->machine->nodes[r->node].ratio;
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

static double
compute_ns(const struct engine *e, struct runner *r, const struct op *op)
{
	double ns = (double)op->gap_ns, cpu = cpu_ratio(e, r), region;

	if (op->gap_ns == 0)
		return 0;
	if (cpu != 1)
		ns = cpu > 0 ? ns / cpu : 0;
	region = r->region_count > 0 ? region_ratio(r) : 1;
	if (region != 1)
		ns = region > 0 ? ns / region : region == 0 ? 0 : -region * 1e9;
	if (e->scale != NULL)
		ns *= e->scale(e->context, r->rank, op, true);
	r->useful_ns += ns;
	return ns;
}

/* An event opens a region, or closes the innermost of its type. */
static void
take_event(const struct engine *e, struct runner *r, const struct op *op)
{
	double ratio = __builtin_nan("");

	if (op->tag == NO_TAG || e->machine->region_count == 0)
		return;
	if (op->peer == 0) {
		for (size_t i = r->region_count; i > 0; i--)
			if (r->regions[i - 1].type == op->tag) {
				memmove(&r->regions[i - 1], &r->regions[i],
				    (r->region_count - i) * sizeof *r->regions);
				r->region_count--;
				return;
			}
		return;
	}
	for (size_t i = 0; i < e->machine->region_count; i++)
		if (e->machine->regions[i].type == op->tag && e->machine->regions[i].value == op->peer)
			ratio = e->machine->regions[i].ratio;
	r->regions = grow(r->regions, &r->region_capacity, r->region_count + 1, sizeof *r->regions);
	r->regions[r->region_count++] = (struct open_region){ op->tag, ratio };
}

/* The peer of a message that has no other end is a rank of this run: its other end is lost. */
static bool
is_lost(const struct engine *e, const struct runner *r, const struct op *op)
{
	return op->peer == ANY_PEER ||
	    world_rank(e->known, op->comm, (int32_t)r->rank, op->peer) >= 0;
}

static bool
is_rendezvous(const struct engine *e, const struct op *op)
{
	return e->machine->eager_bytes >= 0 ? op->sent >= (uint64_t)e->machine->eager_bytes : !op->eager;
}

/* Time on the CPU that an operation takes at its begin: once the latency of its way. */
static double
startup_ns(const struct engine *e, uint32_t id, const struct op *op)
{
	const struct flight *f;

	switch (op->act) {
	case ACT_SEND: case ACT_SENDRECV: case ACT_SEND_START: case ACT_RECEIVE: case ACT_WAIT:
		if (op->link == NONE)
			return 0;
		f = &e->flights[op->link];
		return latency_ns(e, f->source, f->target);
	case ACT_COLLECTIVE:
		return op->link != NONE && e->machine->dimemas ? reduction_startup_ns(e, id, op->link) : 0;
	case ACT_COLLECTIVE_START: case ACT_WAIT_COLLECTIVE:
		return e->machine->dimemas && op->link != NONE ? collective_startup_ns(e, id, op->link) : 0;
	case ACT_KEEP:
		return (double)op->duration_ns;
	default:
		return 0;
	}
}

/* The data is there: who sleeps on it goes on. */
void
arrive(struct engine *e, uint32_t link, double at_ns)
{
	struct flight *f = &e->flights[link];

	f->flags |= MESSAGE_ARRIVED;
	f->arrived_ns = at_ns;
	if (f->instance != NONE) {
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
static void
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
	return block(e, &e->runners[id]);
}

static bool
do_send(struct engine *e, uint32_t id, const struct op *op)
{
	struct runner *r = &e->runners[id];
	bool blocking = op->act != ACT_SEND_START, rendezvous = is_rendezvous(e, op);
	uint32_t link = op->link;
	struct flight *f;

	if (link == NONE) {
		if (!is_lost(e, r, op))
			return true;
		e->unmatched_sends++;
		return blocking && rendezvous ? block(e, r) : true;
	}
	f = &e->flights[link];
	f->flags |= MESSAGE_SENT | (rendezvous ? MESSAGE_RENDEZVOUS : 0);
	f->sent_ns = r->now_ns;
	if (e->scale != NULL)
		f->factor = e->scale(e->context, r->rank, op, false);
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
		return is_lost(e, r, op) ? block(e, r) : true;
	post(e, link, r->now_ns);
	f = &e->flights[link];
	if (f->flags & MESSAGE_ARRIVED)
		return sleep_until(r, f->arrived_ns);
	f->receiver = id;
	return block(e, r);
}

/* Does what the row does; false: the runner sleeps, and goes on behind it. */
static bool
act(struct engine *e, uint32_t id, struct op *op)
{
	struct runner *r = &e->runners[id];

	switch ((enum act)op->act) {
	case ACT_SEND: case ACT_SENDRECV: case ACT_SEND_START:
		return do_send(e, id, op);
	case ACT_RECEIVE: case ACT_WAIT:
		return do_wait(e, id, op);
	case ACT_POST:
		if (op->link != NONE)
			post(e, op->link, r->now_ns);
		return true;
	case ACT_WAIT_SEND:	/* in Dimemas' model a send that was started is never waited for */
		return e->machine->dimemas || wait_posted(e, id, op->link);
	case ACT_COMPLETE:
		return op->peer >= 0 && is_lost(e, r, op) ? block(e, r) : true;
	case ACT_COLLECTIVE: case ACT_COLLECTIVE_START:
		return collective_enter(e, id, op, op->act == ACT_COLLECTIVE) || block(e, r);
	case ACT_WAIT_COLLECTIVE:
		return collective_wait(e, id, op) || block(e, r);
	case ACT_EVENT:
		take_event(e, r, op);
		return true;
	default:
		return true;
	}
}

/* The call is left: its rows get their simulated times. */
static void
leave_call(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	uint64_t end = r->part;
	int64_t enter_ns = (int64_t)(r->enter_ns + 0.5), leave_ns = (int64_t)(r->now_ns + 0.5);

	for (uint64_t seq = r->seq; seq < end; seq++) {
		struct op *op = op_at(e, id, seq);

		if (seq == r->seq) {
			r->recorded_useful_ns += op->gap_ns;
			r->recorded_leave_ns += op->gap_ns + op->duration_ns;
		}
		switch ((enum act)op->act) {
		case ACT_COLLECTIVE: case ACT_COLLECTIVE_START: case ACT_WAIT_COLLECTIVE:
			if (op->link != NONE)
				instance_unref(e, op->link);
			break;
		default:
			if (op->link != NONE)
				flight_unref(e, op->link);
		}
	}
	e->operations += end - r->seq;
	if (e->done != NULL)
		e->done(e->context, id, r->seq, end);
	for (uint64_t seq = r->seq; seq < end; seq++) {
		struct op *op = op_at(e, id, seq);

		if (op == NULL)		/* done with, and forgotten */
			break;
		op->gap_ns = enter_ns;
		op->duration_ns = leave_ns;
	}
	r->seq = end;
	r->begin_ns = r->now_ns;
}

/* A call begins: the receives of MPI_Sendrecv are posted at once. */
static void
enter_call(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	struct op *op = op_at(e, id, r->seq), *part;

	r->enter_ns = r->now_ns;
	r->part = r->seq;
	if (op->act != ACT_SENDRECV)
		return;
	for (uint64_t seq = r->seq + 1; (part = op_at(e, id, seq)) != NULL && part->part; seq++)
		if (part->link != NONE)
			post(e, part->link, r->now_ns);
}

/* Runs until it blocks, lacks rows, or has to wait for its turn. */
static void
run(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	const struct lane *lane = &e->lanes[id];
	struct op *op;
	double ns;

	for (;;)
		switch ((enum step)r->step) {
		case STEP_COMPUTE:
			if (r->seq == lane->ready) {
				if (e->ended && r->seq == lane_end(lane)) {
					r->step = STEP_END;
					if (e->limited_cpus)
						give_cpu(e, r);
				} else {
					r->starved = true;
					e->starving++;
				}
				return;
			}
			op = op_at(e, id, r->seq);
			r->step = STEP_ENTER;
			ns = compute_ns(e, r, op);
			e->operations += ns > 0;
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
			ns = startup_ns(e, id, op);
			if (e->scale != NULL)
				ns *= e->scale(e->context, r->rank, op, false);
			if (op->act != ACT_KEEP)
				r->spent.latency_ns += ns;
			if (ns > 0 && !spend(e, id, ns))
				return;
			break;
		case STEP_ACT:
			r->step = STEP_LEAVE;
			r->act_ns = r->now_ns;
			if (!act(e, id, op_at(e, id, r->part)))
				return;
			break;
		case STEP_LEAVE:
			if (e->slept != NULL && r->now_ns > r->act_ns)
				e->slept(e->context, id, op_at(e, id, r->part), r->act_ns);
			op = op_at(e, id, ++r->part);
			if (op != NULL && op->part)
				r->step = STEP_PART;
			else {
				leave_call(e, id);
				r->step = STEP_COMPUTE;
			}
			break;
		case STEP_END:
			return;
		}
}

/* Runners that lacked rows, and now have some, or the end, go on. */
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

	/* What a runner that lacks rows will do comes before all that is scheduled. */
	while (e->starving == 0 && event_next(e, &event)) {
		e->now_ns = event.at_ns;
		if (event.kind == EVENT_RUN) {
			e->runners[event.who].now_ns = event.at_ns;
			run(e, event.who);
		} else if (event.kind == EVENT_ARRIVE) {
			transfer_end(e, event.who);
			arrive(e, event.who, event.at_ns);
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
