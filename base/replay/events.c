/* SPDX-License-Identifier: BSD-3-Clause */
/* A radix heap of events, see events.h. */
#include "events.h"

#include <string.h>

#include "../tool/tool.h"

void
events_begin(struct events *events)
{
	memset(events, 0, sizeof *events);
	events->free = events->due.first = NO_SLOT;
}

static uint32_t
slot_new(struct events *events)
{
	uint32_t s = events->free;

	if (s != NO_SLOT) {
		events->free = events->slots[s].next;
		return s;
	}
	if (events->slot_count == NO_SLOT)
		die("there are more than %u events at once", NO_SLOT);
	GROW(events->slots, events->slot_capacity, events->slot_count + 1);
	return (uint32_t)events->slot_count++;
}

static void
append(struct events *events, struct bucket *bucket, uint32_t s, bool empty)
{
	events->slots[s].next = NO_SLOT;
	if (empty)
		bucket->first = s;
	else
		events->slots[bucket->last].next = s;
	bucket->last = s;
}

/* Files an event that is not before now. */
static void
file(struct events *events, uint32_t s)
{
	uint64_t time = events->slots[s].time, unlike = time ^ events->now;
	unsigned level, digit;

	if (unlike == 0) {
		append(events, &events->due, s, events->due.first == NO_SLOT);
		return;
	}
	level = (63 - (unsigned)__builtin_clzll(unlike)) / DIGIT_BITS;
	digit = (unsigned)(time >> (level * DIGIT_BITS)) % DIGITS;
	append(events, &events->buckets[level][digit], s,
	    (events->filled[level] >> digit & 1) == 0);
	events->filled[level] |= UINT64_C(1) << digit;
	events->levels |= 1u << level;
}

void
events_add(struct events *events, double at_ns, enum event_kind kind, uint32_t who)
{
	uint32_t s = slot_new(events);
	struct slot *slot = &events->slots[s];
	double now_ns;

	memcpy(&now_ns, &events->now, sizeof now_ns);
	if (at_ns < now_ns || at_ns == 0)	/* zero may have a sign */
		at_ns = now_ns;
	memcpy(&slot->time, &at_ns, sizeof at_ns);
	if (who >= NO_SLOT / KINDS_OF_EVENT)
		die("there are more than %u messages at once", NO_SLOT / KINDS_OF_EVENT);
	slot->what = KINDS_OF_EVENT * who + kind;
	file(events, s);
}

/* Advances to the first event, and files the events of its bucket again. */
static void
go_on(struct events *events)
{
	unsigned level = (unsigned)__builtin_ctz(events->levels);
	unsigned digit = (unsigned)__builtin_ctzll(events->filled[level]);
	uint32_t first = events->buckets[level][digit].first;

	events->filled[level] &= events->filled[level] - 1;
	if (events->filled[level] == 0)
		events->levels &= events->levels - 1;
	events->now = events->slots[first].time;
	if (events->slots[first].next == NO_SLOT) {	/* half of the events are alone */
		events->due = (struct bucket){ first, first };
		return;
	}
	for (uint32_t s = events->slots[first].next; s != NO_SLOT; s = events->slots[s].next)
		if (events->slots[s].time < events->now)
			events->now = events->slots[s].time;
	for (uint32_t s = first, next; s != NO_SLOT; s = next) {
		next = events->slots[s].next;
		file(events, s);
	}
}

bool
events_take(struct events *events, struct event *event)
{
	uint32_t s;

	if (events->due.first == NO_SLOT) {
		if (events->levels == 0)
			return false;
		go_on(events);
	}
	s = events->due.first;
	events->due.first = events->slots[s].next;
	memcpy(&event->at_ns, &events->slots[s].time, sizeof event->at_ns);
	event->who = events->slots[s].what / KINDS_OF_EVENT;
	event->kind = events->slots[s].what % KINDS_OF_EVENT;
	events->slots[s].next = events->free;
	events->free = s;
	return true;
}
