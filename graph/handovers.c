/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that hand over to each other. Where several threads of a rank make calls, one of them
 * may wait for another one outside of its calls, in a condition variable for example. Then the path
 * goes on in the other thread, where it may be in any call. So such a wait becomes two rows:
 *
 *	thread_wait	from the begin of the wait to the end of the other thread's last activity
 *	thread_signal	of the other thread at that instant, without time
 *
 * with the same tag, and an edge of kind locks from the second to the first. The site of both is
 * where the thread waited. When a thread waits, and for which one, is found as for threads without
 * calls (base/run/thread_waits.h). A thread begins with a wait without time for the thread that was
 * active when it was created.
 *
 * A wait for a thread without calls, or one whose end is not known to be another thread's doing,
 * stays computation. So do all waits if there are no switches, or where the threads' own clocks
 * replace them.
 *
 * Memory: all messages up to the end of the input, with blocks compressed, and CALL_BYTES a call,
 * together at most MOST_HELD; 48 bytes a switch, 16 a sample. Beyond MOST_HELD nothing is found,
 * which is said.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "../base/tool/search.h"
#include "held.h"

enum {
	CALL_BYTES = 24,
	MOST_HELD = 1 << 29,
	UNSWITCHED = 1 << 24,	/* so many bytes without switches: there are none */
};

/* ---- holding back ----------------------------------------------------------------------- */

static void
note_calls(struct handovers *h, const struct calls *c)
{
	struct thread_rows *t = &h->threads[c->location];

	h->calls_bytes += c->count * CALL_BYTES;
	for (size_t i = 0; i < c->count; i++) {
		if (c->call[i] == 0)
			continue;
		GROW(t->seq, t->seq_capacity, t->calls.count + 1);
		t->seq[t->calls.count] = c->first + i;
		*APPEND(t->calls.at, t->calls.count, t->calls.capacity) = (struct time_span){
		    c->enter_ns[i], c->leave_ns[i] };
	}
	t->rows = c->first + c->count;
}

static void
note_samples(struct handovers *h, const struct graph *graph, const struct message *message)
{
	if (samples_read(&h->block, graph->in, message) < 0)
		die_input(graph->in);
	if (!is_one_of_several(h->next, &graph->known, h->block.location))
		return;
	lane_add(h->lanes, &h->block);
	if (!h->block.switches)
		h->period_ns = h->block.period_ns;
}

/* Whether it is too much to hold, or there is nothing to find. */
static bool
gives_up(const struct handovers *h)
{
	if (!h->lanes->watched)
		return h->held.bytes > UNSWITCHED;
	if (h->held.bytes + h->calls_bytes <= MOST_HELD)
		return false;
	note("several threads of a rank make calls, but they are too many to find which of them "
	    "waited for each other");
	return true;
}

bool
handovers_hold(struct handovers *h, const struct graph *graph, const struct message *message,
    struct calls *calls)
{
	const struct definitions *known = &graph->known;

	h->locations = known->location_count;
	if (is_kind(message, "run"))
		h->looks = known->location_count > (uint32_t)known->ranks &&
		    body_get(message, "followed") == NULL;
	if (!h->looks || (h->held.oldest == NULL && calls == NULL && !is_samples(message)))
		return false;
	if (h->threads == NULL) {
		h->lanes = zalloc(1, sizeof *h->lanes);
		h->threads = zalloc(known->location_count, sizeof *h->threads);
		h->next = next_threads(known);
	}
	if (gives_up(h)) {
		h->looks = false;
		return false;
	}
	if (is_samples(message))
		note_samples(h, graph, message);
	if (calls != NULL && is_one_of_several(h->next, known, calls->location))
		note_calls(h, calls);
	held_add(&h->held, message, calls, true);
	return true;
}

/* ---- passing on ------------------------------------------------------------------------- */

#define BEFORE(row, seq) ((row)->before <= (seq))
SEARCH(made_behind, struct made_row, uint64_t, BEFORE)
#undef BEFORE

/* The seq of a row among the rows made. */
static uint64_t
seq_now(const struct thread_rows *t, uint64_t seq)
{
	return seq + made_behind(t->made, t->count, seq);
}

/* What it refers to has another number now. */
static void
renumber(const struct handovers *h, uint32_t location, uint64_t seq, uint64_t now,
    struct call_row *row)
{
	if (row->request_at > h->locations)	/* refused later */
		return;
	if (row->request_at > 0)
		row->request = (uint32_t)seq_now(&h->threads[row->request_at - 1], row->request);
	else if (row->request > 0)
		row->request = (uint32_t)(now - seq_now(&h->threads[location],
		    seq - row->request));
}

/* Adds the rows made before row SEQ, from number *AT on. */
static void
add_made(struct calls *calls, const struct thread_rows *t, size_t *at, uint64_t seq)
{
	for (; *at < t->count && t->made[*at].before <= seq; ++*at) {
		struct call_row row = CALL_ROW;

		row.enter_ns = t->made[*at].enter_ns;
		row.leave_ns = t->made[*at].leave_ns;
		row.call = t->made[*at].call;
		row.site = t->made[*at].site;
		row.tag = t->made[*at].tag;
		need_memory(calls_add(calls, &row));
	}
}

/* The block with its made rows; the last one of the thread also with those after it. */
static void
add_rows(struct handovers *h, const struct thread_rows *t, const struct calls *recorded)
{
	struct calls *calls = &h->calls;
	size_t at = made_behind(t->made, t->count, recorded->first - 1);

	if (recorded->first == 0)
		at = 0;
	calls->location = recorded->location;
	calls->first = recorded->first + at;
	calls->count = 0;
	for (size_t i = 0; i < recorded->count; i++) {
		const uint64_t seq = recorded->first + i;
		struct call_row row;

		add_made(calls, t, &at, seq);
#define COPY(field, ...) row.field = recorded->field[i];
		CALL_FIELDS(COPY)
#undef COPY
		renumber(h, recorded->location, seq, calls->first + calls->count, &row);
		need_memory(calls_add(calls, &row));
	}
	if (recorded->first + recorded->count == t->rows)
		add_made(calls, t, &at, t->rows);
}

void
handovers_pass(struct handovers *h, handover_take *take, void *to)
{
	struct calls recorded = { 0 };

	for (struct held *held; (held = h->held.oldest) != NULL; held_drop(&h->held)) {
		held_read(held, &recorded);
		if (held->is_block && h->count > 0 && h->threads[held->location].rows > 0) {
			add_rows(h, &h->threads[held->location], &recorded);
			take(to, &held->message, &h->calls, true);
		} else
			take(to, &held->message, held->is_block ? &recorded : NULL, false);
	}
	calls_free(&recorded);
}

/* ---- matching --------------------------------------------------------------------------- */

/* A row whose other end is still to come. */
struct open_handover {
	int32_t tag, rank;		/* tag NO_TAG: free slot */
	uint32_t operation;
	uint16_t call;
};
HASH_TABLE_OF(open_handovers, struct open_handover, tag, rank, tag, NO_TAG)

void
handover_row(struct graph *graph, const struct graph_row *row)
{
	struct open_handover key = { row->tag, row->rank, NONE, row->call }, *other;
	const bool waits = row->call == call_thread_wait;
	uint32_t operation;

	if (row->tag == NO_TAG)
		return;
	other = open_handovers_find(graph->handovers, &key);
	if (other != NULL && other->call == key.call)
		return;
	operation = operation_new(graph, row);
	operation_list(graph, operation);
	if (other == NULL) {
		key.operation = operation;
		open_handovers_add(&graph->handovers, &key);
		return;
	}
	edge_add(graph, EDGE_LOCK, waits ? other->operation : operation,
	    waits ? operation : other->operation);
	operation_free(graph, other->operation);
	operation_free(graph, operation);
	open_handovers_remove(graph->handovers, other);
}
