/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is to happen, in order of time and, at the same time, of scheduling: a radix heap.
 *
 * Nothing is ever scheduled before the event taken last, so an event can be filed by the highest
 * digit in which its time differs from that one's. The first event is then in the first bucket of
 * the lowest level that has any; when it is taken, those that share its bucket move to lower levels
 * and the others stay where they are. So an event moves a few times in its life, where a heap
 * compares it with four others on each of many levels; and as buckets are first in, first out and
 * equal times always share one, ties keep their order without a number for it.
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

enum { DIGIT_BITS = 4, DIGITS = 1 << DIGIT_BITS, LEVELS = 64 / DIGIT_BITS };

struct slot {			/* of an event; 16 bytes, so that those of 1024 ranks stay near */
	uint64_t time;		/* bits of a time >= 0, which are in order as the times are */
	uint32_t who;
	uint32_t next : 29, kind : 3;
};

struct bucket { uint32_t first, last; };	/* slots */

struct events {
	struct slot *slots;
	size_t slot_count, slot_capacity;
	uint32_t free;
	uint64_t now;		/* time of the event taken last */
	struct bucket due;	/* events of this very time */
	struct bucket buckets[LEVELS][DIGITS];	/* by the highest digit unlike that of now */
	uint16_t filled[LEVELS];	/* a bit for each bucket that is not empty */
	uint16_t levels;		/* a bit for each level that has one */
};

void events_begin(struct events *events);
/* AT_NS before now is now. */
void events_add(struct events *events, double at_ns, enum event_kind kind, uint32_t who);
bool events_take(struct events *events, struct event *event);	/* the first; false: none */

#endif
