/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools of messages and instances; links and buses with their queues. A message takes a link out of
 * its source, then one into its target. If one is missing it waits and keeps the other, unless
 * another message borrows that. As Dimemas' links.c.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

uint32_t
flight_new(struct engine *e)
{
	enum { AHEAD = 8 };	/* it will be written soon */
	uint32_t f;

	if (e->free_flight_count > AHEAD)
		__builtin_prefetch(
		    &e->flights[e->free_flights[e->free_flight_count - 1 - AHEAD]], 1);
	if (e->free_flight_count > 0)
		f = e->free_flights[--e->free_flight_count];
	else {
		GROW(e->flights, e->flight_capacity, e->flight_count + 1);
		f = (uint32_t)e->flight_count++;
	}
	e->flights[f] = (struct flight){ .sender = NONE, .receiver = NONE };
	if (e->contended && (e->machine->network.gap.told || e->machine->memory.gap.told))
		GROW(e->held_ns, e->held_capacity, e->flight_count);
	if (e->explains) {
		GROW(e->trails, e->trail_capacity, e->flight_count);
		e->trails[f] = (struct trail){ 0 };
	}
	return f;
}

void
flight_unref(struct engine *e, uint32_t f)
{
	if (--e->flights[f].references > 0)
		return;
	if (e->over != NULL)
		e->over(e->context, f);
	if (e->marks != NULL)
		mark_over(e, message_weight(e, f)->first, MESSAGE_TIMES);
	*APPEND(e->free_flights, e->free_flight_count, e->free_flight_capacity) = f;
}

uint32_t
instance_new(struct engine *e, uint32_t members)
{
	uint32_t i = e->free_instance;
	struct instance *instance, before;
	size_t capacity;

	if (i != NONE)
		e->free_instance = e->instances[i].next;
	else
		i = (uint32_t)e->instance_count++;
	instance = AT(e->instances, e->instance_capacity, i);
	/* keep its memory and its numbers of times */
	before = *instance;
	capacity = before.capacity;
	*instance = (struct instance){
	    .members = grow(before.members, &capacity, members, sizeof *before.members),
	    .count = members, .references = members, .root = NONE,
	    .done_ns = -1, .factor = 1, .next = NONE,
	    .blocks = before.blocks, .block_capacity = before.block_capacity,
	    .needs = before.needs, .groups = before.groups,
	    .group_capacity = before.group_capacity,
	    .first_time = before.first_time, .times = before.times };
	instance->capacity = (uint32_t)capacity;
	return i;
}

void
instance_unref(struct engine *e, uint32_t i)
{
	if (--e->instances[i].references > 0)
		return;
	if (e->marks != NULL)
		mark_over(e, e->instances[i].first_time, e->instances[i].times);
	e->instances[i].next = e->free_instance;
	e->free_instance = i;
}

void
resource_begin(struct resource *resource, int64_t total)
{
	*resource = (struct resource){ total, 0, { NONE, NONE } };
}

bool
is_free(const struct resource *resource)
{
	return resource->total == 0 || resource->busy < resource->total;
}

bool
resource_take(struct engine *e, struct resource *resource, struct queue *queue,
    uint32_t f, uint8_t flag)
{
	if (e->flights[f].flags & flag)
		return true;
	if (!is_free(resource)) {
		queue_add(e, queue, f);
		return false;
	}
	resource->busy++;
	e->flights[f].flags |= flag;
	return true;
}

void
queue_add(struct engine *e, struct queue *queue, uint32_t f)
{
	e->flights[f].next = NONE;
	e->flights[f].previous = queue->head == NONE ? NONE : queue->tail;
	if (queue->head == NONE)
		queue->head = f;
	else
		e->flights[queue->tail].next = f;
	queue->tail = f;
}

static void
queue_add_first(struct engine *e, struct queue *queue, uint32_t f)
{
	e->flights[f].next = queue->head;
	e->flights[f].previous = NONE;
	if (queue->head == NONE)
		queue->tail = f;
	else
		e->flights[queue->head].previous = f;
	queue->head = f;
}

void
queue_remove(struct engine *e, struct queue *queue, uint32_t f)
{
	uint32_t next = e->flights[f].next, previous = e->flights[f].previous;

	if (previous == NONE)
		queue->head = next;
	else
		e->flights[previous].next = next;
	if (next == NONE)
		queue->tail = previous;
	else
		e->flights[next].previous = previous;
}

/* IN and OUT links; exactly one of them 0: half duplex, a message takes a pair. */
void
port_begin(struct port *port, int64_t in, int64_t out)
{
	port->half_duplex = (in == 0) != (out == 0);
	resource_begin(&port->out, port->half_duplex ? in + out : out);
	resource_begin(&port->in, in);		/* half duplex: only its queue is used */
	port->lenders = NONE;
}

/* The port of a message at one of its ends. */
static struct port *
port_of(const struct engine *e, const struct flight *f, uint32_t location)
{
	uint32_t node = e->node_of[location];

	return f->wire == WIRE_NETWORK ? &e->nodes[node].links :
	    f->wire == WIRE_MEMORY ? &e->memory_links[e->runners[location].rank] :
	    f->wire == WIRE_WIDE ? &e->islands[e->machine->nodes[node].island].wide_links :
	    &e->connections[f->connection];
}

/* In a half duplex port both directions share one supply. */
static struct resource *
in_links(struct port *port)
{
	return port->half_duplex ? &port->out : &port->in;
}

/* It no longer waits, or has lost its link. A port has few links out, and so few lenders. */
static void
unlend(struct engine *e, struct port *from, uint32_t link)
{
	uint32_t *at = &from->lenders;

	while (*at != link)
		at = &e->flights[*at].next_lender;
	*at = e->flights[link].next_lender;
}

/*
 * The message that loses its link to another that can use it: the one that has held it longest;
 * then the one to the lowest node; then the one that queued first (last in the list). Or NONE.
 */
static uint32_t
robbable(const struct engine *e, const struct port *port)
{
	const struct flight *best = NULL;

	for (uint32_t at = port->lenders; at != NONE; at = e->flights[at].next_lender) {
		const struct flight *f = &e->flights[at];

		if (best == NULL || f->arrived_ns < best->arrived_ns ||
		    (f->arrived_ns == best->arrived_ns &&
		    e->node_of[f->target] <= e->node_of[best->target]))
			best = f;
	}
	return best != NULL ? (uint32_t)(best - e->flights) : NONE;
}

/* The victim goes to the front of the queue for links out; its link is free for a moment. */
static void
rob(struct engine *e, struct port *port, uint32_t victim)
{
	struct flight *f = &e->flights[victim];

	queue_remove(e, &port_of(e, f, f->target)->in.queue, victim);
	unlend(e, port, victim);
	f->flags &= (uint8_t)~MESSAGE_HAS_OUT;
	port->out.busy--;
	queue_add_first(e, &port->out.queue, victim);
}

static void
take_out(struct engine *e, struct port *from, struct flight *f)
{
	from->out.busy++;
	f->flags |= MESSAGE_HAS_OUT;
	f->arrived_ns = e->now_ns;
}

static bool
take_network_links(struct engine *e, uint32_t link, struct port *from, struct port *to)
{
	struct flight *f = &e->flights[link];
	uint32_t from_victim = NONE, to_victim = NONE;

	if (!(f->flags & MESSAGE_HAS_OUT)) {
		if (is_free(&from->out))
			take_out(e, from, f);
		else if ((from_victim = robbable(e, from)) == NONE) {
			queue_add(e, &from->out.queue, link);
			return false;
		}
	}
	if (!(f->flags & MESSAGE_HAS_IN) && !is_free(in_links(to)) &&
	    (!to->half_duplex || (to_victim = robbable(e, to)) == NONE)) {
		queue_add(e, from_victim != NONE ? &from->out.queue : &to->in.queue, link);
		if (from_victim == NONE) {	/* it lends its link out meanwhile */
			f->next_lender = from->lenders;
			from->lenders = link;
		}
		return false;
	}
	if (from_victim != NONE) {
		rob(e, from, from_victim);
		take_out(e, from, f);
	}
	if (!(f->flags & MESSAGE_HAS_IN)) {
		if (to_victim != NONE)
			rob(e, to, to_victim);
		in_links(to)->busy++;
		f->flags |= MESSAGE_HAS_IN;
	}
	return true;
}

/*
 * Memory has links of the two ranks; if half duplex, the lower rank's comes first. Between islands
 * each has one link out and one in, which nobody borrows; a connection is one link.
 */
bool
links_take(struct engine *e, uint32_t link)
{
	const struct flight *f = &e->flights[link];
	struct port *from = port_of(e, f, f->source), *to = port_of(e, f, f->target);
	bool memory = f->wire == WIRE_MEMORY, in_first = memory && from->half_duplex &&
	    e->runners[f->source].rank > e->runners[f->target].rank;

	if (f->wire == WIRE_NETWORK)
		return take_network_links(e, link, from, to);
	if (memory && from == to)
		return true;
	if (in_first && !resource_take(e, in_links(to), &to->in.queue, link, MESSAGE_HAS_IN))
		return false;
	return resource_take(e, &from->out, &from->out.queue, link, MESSAGE_HAS_OUT) &&
	    (from == to || resource_take(e, in_links(to), &to->in.queue, link, MESSAGE_HAS_IN));
}

static void
try_first(struct engine *e, struct port *port, struct queue *queue)
{
	const uint32_t who = queue->head;

	if (who == NONE)
		return;
	queue_remove(e, queue, who);
	if (queue == &port->in.queue && e->flights[who].wire == WIRE_NETWORK)
		unlend(e, port_of(e, &e->flights[who], e->flights[who].source), who);
	transfer_try(e, who);
}

void
links_give(struct engine *e, uint32_t link)
{
	struct flight *f = &e->flights[link];
	struct port *from = port_of(e, f, f->source), *to = port_of(e, f, f->target);
	uint8_t held = f->flags;

	f->flags &= (uint8_t)~(MESSAGE_HAS_OUT | MESSAGE_HAS_IN);
	if (held & MESSAGE_HAS_OUT) {
		from->out.busy--;
		if (from->half_duplex)
			try_first(e, from, &from->in.queue);
		try_first(e, from, &from->out.queue);
	}
	if (held & MESSAGE_HAS_IN) {
		in_links(to)->busy--;
		if (to->half_duplex)
			try_first(e, to, &to->out.queue);
		try_first(e, to, &to->in.queue);
	}
}
