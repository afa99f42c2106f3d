/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and instances are used again as soon as they are free; events are in a heap. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

uint32_t
flight_new(struct engine *e)
{
	uint32_t f = e->free_flight;

	if (f != NONE)
		e->free_flight = e->flights[f].next;
	else {
		e->flights = grow(e->flights, &e->flight_capacity, e->flight_count + 1,
		    sizeof *e->flights);
		f = (uint32_t)e->flight_count++;
	}
	e->flights[f] = (struct flight){ .sender = NONE, .receiver = NONE, .instance = NONE,
	    .next = NONE, .factor = 1 };
	return f;
}

void
flight_unref(struct engine *e, uint32_t f)
{
	if (--e->flights[f].references > 0)
		return;
	if (e->over != NULL)
		e->over(e->context, &e->flights[f]);
	e->flights[f].next = e->free_flight;
	e->free_flight = f;
}

uint32_t
instance_new(struct engine *e, uint32_t members)
{
	uint32_t i = e->free_instance;
	struct instance *instance;
	struct arrival *arrivals;
	size_t capacity;

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
	arrivals = grow(instance->members, &capacity, members, sizeof *arrivals);
	*instance = (struct instance){ .members = arrivals, .capacity = (uint32_t)capacity,
	    .count = members, .references = members, .root = NONE, .done_ns = -1, .factor = 1,
	    .next = NONE };
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

static inline bool
before(const struct event *a, const struct event *b)
{
	return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order);
}

/* Half of all events are due at once; they need no heap. */
static void
schedule_now(struct engine *e, struct event event)
{
	if (e->due_count == e->due_capacity) {
		size_t old = e->due_capacity;

		e->due = grow(e->due, &e->due_capacity, old + 1, sizeof *e->due);
		/* The part of the ring that lay before its first goes behind the rest. */
		memmove(e->due + old, e->due, e->due_first * sizeof *e->due);
	}
	e->due[(e->due_first + e->due_count++) & (e->due_capacity - 1)] = event;
}

void
schedule(struct engine *e, double at_ns, uint32_t kind, uint32_t who)
{
	struct event event = { at_ns, e->order++, kind, who };
	size_t i;

	if (at_ns <= e->now_ns) {
		schedule_now(e, event);
		return;
	}
	i = e->heap_count++;

	e->heap = grow(e->heap, &e->heap_capacity, e->heap_count, sizeof *e->heap);
	for (; i > 0 && before(&event, &e->heap[(i - 1) / 4]); i = (i - 1) / 4)
		e->heap[i] = e->heap[(i - 1) / 4];
	e->heap[i] = event;
}

bool
event_next(struct engine *e, struct event *event)
{
	struct event last;
	size_t i = 0, n;

	/* Those of this time that are in the heap were scheduled before it came. */
	if (e->due_count > 0 && (e->heap_count == 0 || e->heap[0].at_ns > e->now_ns)) {
		*event = e->due[e->due_first];
		e->due_first = (e->due_first + 1) & (e->due_capacity - 1);
		e->due_count--;
		return true;
	}
	if (e->heap_count == 0)
		return false;
	*event = e->heap[0];
	n = --e->heap_count;
	last = e->heap[n];
	for (size_t child; (child = 4 * i + 1) < n; i = child) {
		size_t end = child + 4 < n ? child + 4 : n;

		for (size_t k = child + 1; k < end; k++)
			if (before(&e->heap[k], &e->heap[child]))
				child = k;
		if (!before(&e->heap[child], &last))
			break;
		e->heap[i] = e->heap[child];
	}
	e->heap[i] = last;
	return true;
}
