/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait states as the field's pattern analysers define them (Wolf and Mohr 2003; Geimer et al. 2010;
 * Boehme et al. 2016). The same rules extend to non-blocking and neighbourhood collectives, which
 * these omit. E is the enter and L the leave of the waiting call. Every wait lies within its call,
 * and a call has at most one of each kind. one_sided.c has the waits of one-sided communication.
 */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* ---- states of each call ------------------------------------------------------------- */

static bool
begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool
ends(const char *name, const char *with)
{
	const size_t size = strlen(name), more = strlen(with);

	return size >= more && strcmp(name + size - more, with) == 0;
}

static enum state
state_before(unsigned call)
{
	const char *name = call_name(call);

	switch (blocking_class(call_class(call))) {
	case CLASS_BARRIER: return begins(name, "MPI_Win_fence") ? WAIT_AT_FENCE :
	    begins(name, "MPI_Win_free") ? WAIT_AT_WINDOW_FREE : WAIT_AT_BARRIER;
	case CLASS_ALL_TO_ALL: return WAIT_AT_NXN;
	case CLASS_ONE_TO_ALL: return LATE_BROADCAST;
	case CLASS_ALL_TO_ONE: return EARLY_REDUCE;
	case CLASS_SCAN: return EARLY_SCAN;
	case CLASS_NEIGHBOUR: return WAIT_AT_NEIGHBOURS;
	case CLASS_FILE: return begins(name, "MPI_Comm_") ? WAIT_AT_BARRIER : WAIT_AT_FILE;
	case CLASS_COMM_CREATE: return begins(name, "MPI_Win_") ? WAIT_AT_WINDOW_CREATE :
	    begins(name, "MPI_File_") ? WAIT_AT_FILE_OPEN : WAIT_AT_COMM_CREATE;
	case CLASS_FINALIZE: return WAIT_AT_FINALIZE;
	case CLASS_ACCESS: return LATE_POST;
	case CLASS_ACCESS_END: return LATE_POST;
	case CLASS_EXPOSE_END: return EARLY_WAIT;
	default: return STATES;
	}
}

static struct call_kind
kind_of(unsigned call)
{
	const char *name = call_name(call);
	const enum call_class class = call_class(call);
	struct call_kind k = { .class = class, .before = state_before(call), .after = STATES,
	    .one_sided = call_one_sided(call) };

	if (class == CLASS_INIT)
		k.after = INIT_COMPLETION;
	else if (k.before == WAIT_AT_BARRIER && class != CLASS_DISCONNECT)
		k.after = BARRIER_COMPLETION;
	else if (k.before == WAIT_AT_NXN)
		k.after = NXN_COMPLETION;
	k.only_overlap = k.before == WAIT_AT_FENCE || k.before == WAIT_AT_WINDOW_FREE ||
	    class == CLASS_COMM_CREATE || class == CLASS_COMM_CREATE_GROUP ||
	    class == CLASS_FILE || class == CLASS_DISCONNECT;
	k.several = class == CLASS_COMPLETE &&
	    (ends(name, "all") || ends(name, "any") || ends(name, "some"));
	k.polls = call_polls(call);
	k.is_test = k.polls && class != CLASS_PROBE;
	k.frames = span_frames(call);
	k.starts = class == CLASS_SEND_START || class == CLASS_RECV_START || class == CLASS_START ||
	    is_collective_start(class);
	k.ends = class == CLASS_COMPLETE || class == CLASS_REQUEST_FREE;
	return k;
}

void
learn_kinds(struct imbalance *im)
{
	const unsigned count = call_count();

	im->kinds = need(realloc(im->kinds, count * sizeof *im->kinds));
	for (; im->kind_count < count; im->kind_count++)
		im->kinds[im->kind_count] = kind_of(im->kind_count);
}

/* ---- the waits of a call ---------------------------------------------------------------- */

void
wait_for(struct wait *wait, enum state state, const struct wait_row *edge, const struct row *call)
{
	int64_t to_ns = edge->other_ns < call->leave_ns ? edge->other_ns : call->leave_ns;

	if (!edge->has_other || to_ns <= wait->to_ns)
		return;
	wait->state = state;
	wait->to_ns = to_ns;
	wait->cause = edge->other;
	wait->cause_seq = edge->other_seq;
	wait->comm = edge->row.comm != 0 ? edge->row.comm : wait->comm;
}

/*
 * Late Receiver: the send completes only after the receive was posted, E_post - E; or, where the
 * receiver held it up, after the receiver was in a call again.
 */
static void
late_receiver(struct wait *wait, const struct wait_row *send, const struct row *call)
{
	if (send->has_other && send->is_send && send->other_ns <= call->leave_ns)
		wait_for(wait, LATE_RECEIVER, send, call);
}

/*
 * A completion waits for messages (Late Sender), collectives, and receivers that held it up: the
 * last of them. If it waits for none of these, the last receive posted meanwhile is what it waited
 * for; else that receive may be of a send that had long been done.
 */
static void
completion_waits(struct imbalance *im, const struct whole_call *c, struct wait *wait)
{
	const struct row *call = &c->rows[0].row;
	struct wait late = *wait;	/* the last receive that was posted */

	for (uint32_t i = 0; i < c->count; i++) {
		const struct wait_row *row = &c->rows[i], *start;

		if (row->has_other && !row->is_send) {
			wait_for(wait, LATE_SENDER, row, call);
			continue;
		}
		start = referred_row(im, row, c->location, c->first + i);
		if (start == NULL || !is_collective_start(call_class(start->row.call))) {
			if (row->has_other || start != NULL)
				late_receiver(row->is_held ? wait : &late,
				    row->has_other ? row : start, call);
		} else if (start->other_ns <= call->leave_ns ||
		    call_class(start->row.call) != CLASS_FILE_START) {
			const enum state before = call_kind(im, start->row.call)->before;
			struct wait_row held = *row;	/* by another member than MPI says */

			held.row.comm = start->row.comm;
			wait_for(wait, before, start, call);
			wait_for(wait, before, &held, call);
		}
	}
	if (wait->state == STATES)
		*wait = late;
}

/* Late Sender: min(E_send, L) - E. MPI_Sendrecv waits for the receiver likewise. */
static void
message_waits(const struct whole_call *c, struct wait *wait)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->rows[i].has_other && !c->rows[i].is_send)
			wait_for(wait, LATE_SENDER, &c->rows[i], &c->rows[0].row);
	if (wait->state == STATES || c->rows[0].is_held)
		late_receiver(wait, &c->rows[0], &c->rows[0].row);
}

/* Late Post, Early Wait: the last of those posted before the leave. */
static void
epoch_waits(const struct whole_call *c, struct wait *wait)
{
	for (const struct wait_row *row = c->rows; row < c->rows + c->count; row++) {
		if (row->has_other && !row->is_send && row->other_ns <= c->rows[0].row.leave_ns)
			wait_for(wait, c->kind->before, row, &c->rows[0].row);
	}
}

/* Before: E of the member it waits for - E. After: L - the first L, if all calls overlap. */
static int
collective_waits_of(const struct wait_row *row, const struct call_kind *r,
    struct wait waits[MOST_WAITS])
{
	struct wait after = waits[0];
	int count = 0;

	if (r->before != STATES && (!r->only_overlap || row->overlap))
		wait_for(&waits[0], r->before, row, &row->row);
	count += waits[0].state != STATES;
	if (r->after != STATES && row->overlap && row->row.leave_ns > row->end_ns) {
		after.state = r->after;
		after.from_ns = row->end_ns;
		after.to_ns = row->row.leave_ns;
		waits[count++] = after;
	}
	return count;
}

/* Whether the program could have received another message instead. */
static bool
has_choice(const struct imbalance *im, const struct whole_call *c, uint32_t i)
{
	const struct wait_row *start = referred_row(im, &c->rows[i], c->location, c->first + i);

	return im->every_order || (!c->kind->several && (start == NULL || !start->row.any));
}

/* A matched probe took the message: the order of the probes counts. */
static bool
was_taken(const struct imbalance *im, const struct whole_call *c, uint32_t i)
{
	const struct wait_row *row = &c->rows[i];

	if (c->kind->class == CLASS_COMPLETE)
		row = referred_row(im, row, c->location, c->first + i);
	return row != NULL && (row->row.request > 0 || row->row.request_at > 0) &&
	    (call_class(row->row.call) == CLASS_RECV ||
	    call_class(row->row.call) == CLASS_RECV_START);
}

/* Notes the received messages for later waits. */
static void
note_received(struct imbalance *im, const struct whole_call *c, const struct wait *wait)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->rows[i].has_other && !c->rows[i].is_send && !was_taken(im, c, i))
			late_check(im, c->location, &c->rows[i]);
	for (uint32_t i = 0; wait->state == LATE_SENDER && i < c->count; i++) {
		const struct wait_row *row = &c->rows[i];

		if (row->has_other && !row->is_send && row->other == wait->cause &&
		    row->other_seq == wait->cause_seq) {
			if (has_choice(im, c, i))
				late_remember(im, wait, row->other_ns);
			else
				count_largest(im, wait);
		}
	}
}

/* The state of a wait for an operation that never came to its end; STATES: it waits for none. */
static enum state
state_of(struct imbalance *im, uint16_t operation)
{
	switch (call_class(operation)) {
	case CLASS_SEND: case CLASS_SEND_START: case CLASS_SEND_INIT: return LATE_RECEIVER;
	case CLASS_RECV: case CLASS_RECV_START: case CLASS_RECV_INIT: case CLASS_PROBE:
		return LATE_SENDER;
	case CLASS_RMA: return LOCK_CONTENTION;
	default: return call_kind(im, operation)->before;
	}
}

/* The call did not return: it waits from its enter to the end of the run. */
static int
open_waits(struct imbalance *im, const struct whole_call *c, const struct awaited_call *of,
    struct wait waits[MOST_WAITS])
{
	const struct row *row = &c->rows[0].row;

	waits[0] = (struct wait){ .state = state_of(im, of->operation), .from_ns = row->enter_ns,
	    .to_ns = row->leave_ns, .location = c->location, .site = row->site,
	    .comm = row->comm, .call = row->call, .cause = of->location,
	    .cause_seq = of->location == NOBODY ? 0 :
	    window_end(&im->graph.window, of->location) - 1 };
	if (waits[0].state == LATE_SENDER)	/* no other message came */
		count_largest(im, &waits[0]);
	return waits[0].state != STATES;
}

int
find_waits(struct imbalance *im, const struct whole_call *c, struct wait waits[MOST_WAITS])
{
	const struct awaited_call *of = awaited_to_end(&im->graph.known, c->location,
	    c->rows[0].row.call, c->rows[0].row.leave_ns);
	const struct row *row = &c->rows[0].row;
	const struct call_kind *kind = c->kind;
	int count;

	if (of != NULL)
		return open_waits(im, c, of, waits);
	if (kind->starts && c->count == 1 && (!c->rows[0].has_other || c->rows[0].is_send))
		return 0;
	waits[0] = (struct wait){ .state = STATES, .from_ns = row->enter_ns, .to_ns = row->enter_ns,
	    .location = c->location, .site = row->site, .comm = row->comm, .call = row->call,
	    .cause = NOBODY };
	if (kind->is_test && !im->graph.known.polls_wait) {
		note_received(im, c, &waits[0]);
		return 0;
	}
	switch (kind->class) {
	case CLASS_PROBE:
		if (kind->polls && !im->graph.known.polls_wait)
			return 0;
		/* It may test a request. */
		/* fall through */
	case CLASS_COMPLETE:
		completion_waits(im, c, &waits[0]);
		break;
	case CLASS_SEND:
	case CLASS_RECV:
	case CLASS_SENDRECV:
		message_waits(c, &waits[0]);
		break;
	case CLASS_ACCESS:
	case CLASS_ACCESS_END:
		epoch_waits(c, &waits[0]);
		return progress_waits(im, c, waits, waits[0].state != STATES);
	case CLASS_EXPOSE_END:
		epoch_waits(c, &waits[0]);
		return exposure_waits(im, c, waits);
	case CLASS_RMA:
		return passive_waits(im, c, waits);
	case CLASS_THREAD_WAIT:
		wait_for(&waits[0], WAIT_FOR_THREAD, &c->rows[0], row);
		return waits[0].state != STATES;
	default:
		if (!is_collective(kind->class) || is_collective_start(kind->class))
			break;
		count = collective_waits_of(&c->rows[0], kind, waits);
		return kind->before == WAIT_AT_FENCE ? fence_waits(im, c, waits, count) : count;
	}
	note_received(im, c, &waits[0]);
	return waits[0].state != STATES;
}
