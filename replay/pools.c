/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and instances are used again as soon as they are free. */
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
