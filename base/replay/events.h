/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coming events in order of time and then of scheduling: a radix heap.
 *
 * Nothing is scheduled before the event taken last. So an event can be filed by the highest digit
 * in which its time differs from that event's time. The first event is in the first bucket of the
 * lowest non-empty level. When it is taken, the events of its bucket move to lower levels; the
 * others stay. An event thus moves a few times, while an ordinary heap compares it with four others
 * on each of many levels. Buckets are first in, first out, and equal times always share one, so
 * ties keep their order.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../tool/tool.h"

enum event_kind { EVENT_RUN, EVENT_ARRIVE, EVENT_INSTANCE, EVENT_RELEASE, EVENT_FREE };

struct event {
	double at_ns;
	uint32_t who;
	enum event_kind kind;
};

enum { NO_SLOT = UINT32_MAX, KINDS_OF_EVENT = 8 };

enum { DIGIT_BITS = 6, DIGITS = 1 << DIGIT_BITS, LEVELS = 64 / DIGIT_BITS + 1 };

struct slot {		/* of an event; 16 bytes, so that those of 1024 ranks stay in cache */
	uint64_t time;		/* bits of a time >= 0, which have the same order as the times */
	uint32_t next;
	uint32_t what;		/* KINDS_OF_EVENT * who + kind */
};

struct bucket { uint32_t first, last; };	/* slots */

struct events {
	struct slot *slots;
	size_t slot_count, slot_capacity;
	uint32_t free;
	uint64_t now;		/* time of the event taken last */
	struct bucket due;	/* events of this very time */
	struct bucket buckets[LEVELS][DIGITS];	/* by the highest digit that differs from now */
	uint64_t filled[LEVELS];	/* a bit for each bucket that is not empty */
	uint32_t levels;	/* a bit for each level that is not empty */
};

static inline void
events_begin(struct events *events)
{
	memset(events, 0, sizeof *events);
	events->free = events->due.first = NO_SLOT;
}

static inline uint32_t
events_slot(struct events *events)
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

static inline void
events_append(struct events *events, struct bucket *bucket, uint32_t s, bool empty)
{
	events->slots[s].next = NO_SLOT;
	if (empty)
		bucket->first = s;
	else
		events->slots[bucket->last].next = s;
	bucket->last = s;
}

/* Files an event that is not before now. */
static inline void
events_file(struct events *events, uint32_t s)
{
	uint64_t time = events->slots[s].time, unlike = time ^ events->now;
	unsigned level, digit;

	if (unlike == 0) {
		events_append(events, &events->due, s, events->due.first == NO_SLOT);
		return;
	}
	level = (63 - (unsigned)__builtin_clzll(unlike)) / DIGIT_BITS;
	digit = (unsigned)(time >> (level * DIGIT_BITS)) % DIGITS;
	events_append(events, &events->buckets[level][digit], s,
	    (events->filled[level] >> digit & 1) == 0);
	events->filled[level] |= UINT64_C(1) << digit;
	events->levels |= 1u << level;
}

/* AT_NS before now counts as now. */
static inline void
events_add(struct events *events, double at_ns, enum event_kind kind, uint32_t who)
{
	uint32_t s = events_slot(events);
	struct slot *slot = &events->slots[s];
	double now_ns;

	memcpy(&now_ns, &events->now, sizeof now_ns);
	if (at_ns < now_ns || at_ns == 0)	/* zero may have a sign */
		at_ns = now_ns;
	memcpy(&slot->time, &at_ns, sizeof at_ns);
	if (who >= NO_SLOT / KINDS_OF_EVENT)
		die("there are more than %u messages at once", NO_SLOT / KINDS_OF_EVENT);
	slot->what = KINDS_OF_EVENT * who + kind;
	events_file(events, s);
}

/* Advances to the first event, and files the events of its bucket again. */
static inline void
events_go_on(struct events *events)
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
		events_file(events, s);
	}
}

/* Takes the first; false: none. */
static inline bool
events_take(struct events *events, struct event *event)
{
	uint32_t s;

	if (events->due.first == NO_SLOT) {
		if (events->levels == 0)
			return false;
		events_go_on(events);
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

/* Is there an event of this very time? */
static inline bool
events_are_due(const struct events *events)
{
	return events->due.first != NO_SLOT;
}

#endif
