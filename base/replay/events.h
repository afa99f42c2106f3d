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

void events_begin(struct events *events);
/* AT_NS before now counts as now. */
void events_add(struct events *events, double at_ns, enum event_kind kind, uint32_t who);
bool events_take(struct events *events, struct event *event);	/* the first; false: none */

/* Is there an event of this very time? */
static inline bool
events_are_due(const struct events *events)
{
	return events->due.first != NO_SLOT;
}

#endif
