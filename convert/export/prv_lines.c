/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of a Paraver trace in order of time. At equal times lower locations come first, then the
 * path, then messages.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/paraver.h"
#include "../../base/tool/heap.h"
#include "prv.h"

#define SOONER(a, b) \
	((a)->at_ns < (b)->at_ns || ((a)->at_ns == (b)->at_ns && (a)->queue < (b)->queue))
HEAP(next, struct next, SOONER)
#define SENT_BEFORE(a, b) \
	((a)->at_ns < (b)->at_ns || ((a)->at_ns == (b)->at_ns && (a)->order < (b)->order))
HEAP(sent, struct sent, SENT_BEFORE)

void
lines_begin(struct output *o)
{
	o->queues = zalloc(o->known->location_count + (size_t)1, sizeof *o->queues);
	o->heap = zalloc(o->known->location_count + (size_t)1, sizeof *o->heap);
}

void
line_add(struct output *o, uint32_t number, const struct line *line)
{
	struct queue *q = &o->queues[number];

	*ENQUEUE(q->at, q->begin, q->end, q->capacity) = *line;
	if (q->end - q->begin == 1)
		next_push(o->heap, &o->heap_count, (struct next){ line->at_ns, number });
}

void
message_add(struct output *o, const struct sent *message)
{
	GROW(o->messages, o->message_capacity, o->message_count + 1);
	sent_push(o->messages, &o->message_count, *message);
}

/* ---- records ---- */

static void
put_number(struct output *o, uint64_t value)
{
	text_char(o->text, ':');
	text_uint(o->text, value);
}

/* CPU:1:TASK:THREAD, all from 1. Each rank has its own CPU. */
static void
put_object(struct output *o, uint32_t location)
{
	const uint32_t rank = (uint32_t)o->known->location_rank[location];

	text_uint(o->text, rank + (uint64_t)1);
	text_bytes(o->text, ":1", 2);
	put_number(o, rank + (uint64_t)1);
	put_number(o, o->known->location_thread[location] + (uint64_t)1);
}

/* The call's location: its own place is level 1. */
static void
put_callers(struct output *o, uint32_t site)
{
	uint32_t frames[PLACES];
	const size_t depth = site_frames(o->known, site, frames);

	for (size_t level = 1; level <= depth && level <= MOST_LEVELS; level++) {
		const uint32_t place = frames[depth - level];

		*AT(o->placed, o->placed_capacity, place) = true;
		o->levels = level > o->levels ? level : o->levels;
		put_number(o, CALLER + level);
		put_number(o, CALLER_VALUES + (uint64_t)place);
		put_number(o, CALLER_LINE + level);
		put_number(o, CALLER_VALUES + (uint64_t)place);
	}
}

static void
put_arguments(struct output *o, const struct line *line)
{
	if (line->sent > 0) {
		put_number(o, PARAVER_SEND_BYTES);
		put_number(o, line->sent);
	}
	if (line->received > 0) {
		put_number(o, PARAVER_RECEIVE_BYTES);
		put_number(o, line->received);
	}
	if (line->root) {
		put_number(o, PARAVER_ROOT);
		put_number(o, 1);
	}
	put_number(o, PARAVER_COMM);
	put_number(o, line->comm);
}

static void
put_line(struct output *o, const struct line *line)
{
	text_put(o->text, line->kind == LINE_STATE ? "1:" : "2:");
	put_object(o, line->location);
	put_number(o, (uint64_t)line->at_ns);
	if (line->kind == LINE_STATE)
		put_number(o, (uint64_t)line->end_ns);
	else
		put_number(o, line->type);
	if (line->kind == LINE_EVENT) {		/* a user's value may be negative */
		text_char(o->text, ':');
		text_int(o->text, (int32_t)line->value);
	} else
		put_number(o, line->value);
	if (line->kind == LINE_ENTER && line->comm != 0)
		put_arguments(o, line);
	if (line->kind == LINE_ENTER)
		put_callers(o, line->site);
	text_char(o->text, '\n');
}

/* Logical times are those of the calls that send and that post the receive. */
static void
put_message(struct output *o, const struct sent *m)
{
	text_put(o->text, "3:");
	put_object(o, m->source);
	put_number(o, (uint64_t)m->at_ns);
	put_number(o, (uint64_t)m->at_ns);
	text_char(o->text, ':');
	put_object(o, m->target);
	put_number(o, (uint64_t)m->post_ns);
	put_number(o, (uint64_t)m->received_ns);
	put_number(o, m->bytes);
	put_number(o, (uint64_t)(m->tag >= 0 ? m->tag : 0));
	text_char(o->text, '\n');
}

void
lines_until(struct output *o, int64_t limit_ns)
{
	for (;;) {
		const bool line = o->heap_count > 0 && o->heap[0].at_ns < limit_ns;
		const bool message = o->message_count > 0 && o->messages[0].at_ns < limit_ns;

		if (!line && !message)
			return;
		if (message && (!line || o->messages[0].at_ns < o->heap[0].at_ns)) {
			const struct sent m = sent_pop(o->messages, &o->message_count);

			put_message(o, &m);
		} else {
			struct queue *q = &o->queues[o->heap[0].queue];

			put_line(o, &q->at[q->begin++]);
			if (q->begin < q->end)
				o->heap[0].at_ns = q->at[q->begin].at_ns;
			else {
				q->begin = q->end = 0;
				o->heap[0] = o->heap[--o->heap_count];
			}
			if (o->heap_count > 0)
				next_down(o->heap, o->heap_count, 0);
		}
	}
}
