/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and instances, which are used again as soon as they are free; links and buses, and the
 * queues for them.
 */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "transfer.h"

uint32_t
flight_new(struct engine *e)
{
	uint32_t f;

	if (e->free_flight_count > 0)
		f = e->free_flights[--e->free_flight_count];
	else {
		e->flights = grow(e->flights, &e->flight_capacity, e->flight_count + 1,
		    sizeof *e->flights);
		f = (uint32_t)e->flight_count++;
	}
	e->flights[f] = (struct flight){ .sender = NONE, .receiver = NONE };
	if (e->contended && has_gaps(e->machine))
		e->held_ns = grow(e->held_ns, &e->held_capacity, e->flight_count, sizeof *e->held_ns);
	if (e->explains) {
		e->trails = grow(e->trails, &e->trail_capacity, e->flight_count, sizeof *e->trails);
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
	e->free_flights = grow(e->free_flights, &e->free_flight_capacity, e->free_flight_count + 1,
	    sizeof *e->free_flights);
	e->free_flights[e->free_flight_count++] = f;
}

uint32_t
instance_new(struct engine *e, uint32_t members)
{
	uint32_t i = e->free_instance;
	struct instance *instance;
	struct arrival *arrivals;
	size_t capacity, block_capacity;
	double *blocks;

	if (i != NONE)
		e->free_instance = e->instances[i].next;
	else {
		size_t known = e->instance_capacity;

		e->instances = grow(e->instances, &e->instance_capacity, e->instance_count + 1,
		    sizeof *e->instances);
		memset(e->instances + known, 0, (e->instance_capacity - known) * sizeof *e->instances);
		i = (uint32_t)e->instance_count++;
	}
	instance = &e->instances[i];
	capacity = instance->capacity;
	blocks = instance->blocks;
	block_capacity = instance->block_capacity;
	arrivals = grow(instance->members, &capacity, members, sizeof *arrivals);
	*instance = (struct instance){ .members = arrivals, .capacity = (uint32_t)capacity,
	    .count = members, .references = members, .root = NONE, .done_ns = -1, .factor = 1,
	    .next = NONE, .blocks = blocks, .block_capacity = block_capacity };
	return i;
}

void
instance_unref(struct engine *e, uint32_t i)
{
	if (--e->instances[i].references > 0)
		return;
	e->instances[i].next = e->free_instance;
	e->free_instance = i;
}

void
pool_begin(struct pool *pool, int64_t total)
{
	*pool = (struct pool){ total, 0, { NONE, NONE } };
}

bool
is_free(const struct pool *pool)
{
	return pool->total == 0 || pool->busy < pool->total;
}

bool
pool_take(struct engine *e, struct pool *pool, struct queue *queue, uint32_t f, uint8_t flag)
{
	if (e->flights[f].flags & flag)
		return true;
	if (!is_free(pool)) {
		queue_add(e, queue, f);
		return false;
	}
	pool->busy++;
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

void
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

uint32_t
queue_take(struct engine *e, struct queue *queue)
{
	uint32_t f = queue->head;

	if (f != NONE)
		queue_remove(e, queue, f);
	return f;
}
