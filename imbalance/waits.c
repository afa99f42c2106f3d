/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait states, as the field's pattern analysers define them (Wolf and Mohr 2003; Geimer et al. 2010;
 * Boehme et al. 2016), and the same rules for what those leave out: non-blocking and neighbourhood
 * collectives. E is the enter and L the leave of the waiting call. Every wait begins at E or ends at
 * L, lies within the call, and at most one of each kind is taken from a call.
 */
#include <stdlib.h>
#include <string.h>

#include "imbalance.h"
#include "origins.h"
#include "../base/mpi/call_class.h"

/* ---- which state a call leads to -------------------------------------------------------- */

static bool
begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
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
	struct call_kind k = { .class = class, .before = state_before(call), .after = STATES };

	if (class == CLASS_INIT)
		k.after = INIT_COMPLETION;
	else if (k.before == WAIT_AT_BARRIER)
		k.after = BARRIER_COMPLETION;
	else if (k.before == WAIT_AT_NXN)
		k.after = NXN_COMPLETION;
	k.only_overlap = k.before == WAIT_AT_FENCE || k.before == WAIT_AT_WINDOW_FREE ||
	    class == CLASS_COMM_CREATE;
	k.is_test = begins(name, "MPI_Test") || begins(name, "MPI_Win_test") ||
	    begins(name, "MPI_Request_get_status");
	k.polls = k.is_test || begins(name, "MPI_Iprobe") || begins(name, "MPI_Improbe");
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

/* ---- messages in wrong order ------------------------------------------------------------ */

/* A receive that waited although another message, received after it, had been sent before. */
enum { LATE = 100 };
struct late {
	struct origin *origin;		/* the wait, whose cause is who sent the message */
	int64_t sent_ns;
};
struct late_list {
	struct late *of;
	size_t capacity;
	unsigned count, next;
	int64_t latest_ns;		/* no message of the list was sent later */
};

static void
remember_late(struct imbalance *im, const struct wait *wait, int64_t sent_ns)
{
	struct late_list *list = &im->late[wait->location];
	const unsigned at = list->next;

	if (list->count == LATE) {
		count_largest(im, &list->of[at].origin->wait);
		origin_release(&im->origins, list->of[at].origin);
	} else
		list->of = grow_little(list->of, &list->capacity, list->count + (size_t)1, sizeof *list->of);
	list->next = (at + 1) % LATE;
	list->count += list->count < LATE;
	list->of[at] = (struct late){ origin_new(&im->origins, wait), sent_ns };
	if (list->count == 1 || sent_ns > list->latest_ns)
		list->latest_ns = sent_ns;
}

struct origin *
late_origin(struct imbalance *im, const struct wait *wait)
{
	const struct late_list *list = &im->late[wait->location];
	const unsigned at = (list->next + LATE - 1) % LATE;	/* remembered last */
	struct origin *origin = list->count > 0 ? list->of[at].origin : NULL;

	if (origin == NULL || wait->state != LATE_SENDER || origin->wait.from_ns != wait->from_ns ||
	    origin->explained)
		return NULL;
	origin->users++;
	return origin;
}

/* The wait is of another state than it was counted under, and so is what was told of its cause. */
static void
change_state(struct imbalance *im, struct origin *origin, enum state state)
{
	struct state_sums *from = &im->states[origin->wait.state], *to = &im->states[state];

	count_wait(im, &origin->wait, -1);
	origin->wait.state = state;
	count_wait(im, &origin->wait, 1);
	count_largest(im, &origin->wait);
	from->direct_ns -= origin->direct_ns;
	to->direct_ns += origin->direct_ns;
	from->indirect_ns -= origin->indirect_ns;
	to->indirect_ns += origin->indirect_ns;
	from->propagating_ns -= origin->propagating_ns;
	to->propagating_ns += origin->propagating_ns;
	origin_release(&im->origins, origin);
}

/* Waits for messages that were sent after one that was received only now: these came in wrong order. */
static void
change_later(struct imbalance *im, struct late_list *list, const struct wait_row *receive)
{
	int64_t latest_ns = INT64_MIN;

	for (unsigned i = 0; i < list->count; i++) {
		struct late *late = &list->of[i];

		if (late->sent_ns <= receive->other_ns) {
			latest_ns = late->sent_ns > latest_ns ? late->sent_ns : latest_ns;
			continue;
		}
		change_state(im, late->origin, late->origin->wait.cause == receive->other ?
		    WRONG_ORDER_SAME : WRONG_ORDER_DIFFERENT);
		*late = list->of[--list->count];
		list->next = list->count % LATE;
		i--;
	}
	list->latest_ns = latest_ns;
}

/* A message was received. */
static void
check_order(struct imbalance *im, uint32_t location, const struct wait_row *receive)
{
	struct late_list *list = &im->late[location];

	if (list->count > 0 && list->latest_ns > receive->other_ns)
		change_later(im, list, receive);
}

/* ---- locks ------------------------------------------------------------------------------ */

/* A window at a target: who holds its lock, and who let go of it last. */
struct lock {
	uint32_t window;
	int32_t target;
	struct { uint32_t location; bool shared; } *holders;
	size_t count, capacity;
	uint32_t location;		/* that unlocked it last; NOBODY */
	bool shared;
	uint64_t seq;
	int64_t free_ns;
	struct lock *next;
};
enum { LOCK_LISTS = 256 };
struct locks {
	struct lock *lists[LOCK_LISTS];
};

static struct lock *
lock_of(struct imbalance *im, const struct row *row)
{
	struct lock **at = &im->locks->lists[(row->comm * 31 + (uint32_t)row->peer) % LOCK_LISTS];

	while (*at != NULL && ((*at)->window != row->comm || (*at)->target != row->peer))
		at = &(*at)->next;
	if (*at == NULL) {
		*at = zalloc(1, sizeof **at);
		**at = (struct lock){ .window = row->comm, .target = row->peer, .location = NOBODY };
	}
	return *at;
}

static void
hold(struct lock *lock, uint32_t location, bool shared)
{
	lock->holders = grow(lock->holders, &lock->capacity, lock->count + 1, sizeof *lock->holders);
	lock->holders[lock->count].location = location;
	lock->holders[lock->count++].shared = shared;
}

/* The place of the location among the holders; count where it is none. */
static size_t
holder(const struct lock *lock, uint32_t location)
{
	size_t at = 0;

	while (at < lock->count && lock->holders[at].location != location)
		at++;
	return at;
}

/*
 * Lock Contention: a call of one epoch goes on when another, with which it cannot share the lock, has
 * unlocked the window at that target. Calls come here in order of their leaves, so that unlock has
 * been here.
 */
static void
find_contention(struct imbalance *im, uint32_t location, uint64_t seq, const struct row *row,
    struct wait *wait)
{
	struct lock *lock = lock_of(im, row);
	const char *name = call_name(row->call);
	size_t at;

	if (strcmp(name, "MPI_Win_lock") == 0)
		hold(lock, location, row->shared);
	at = holder(lock, location);
	if (at == lock->count)
		return;		/* no epoch of this target alone */
	if (lock->location != NOBODY && lock->location != location && lock->free_ns > row->enter_ns &&
	    lock->free_ns < row->leave_ns && !(lock->shared && lock->holders[at].shared)) {
		wait->state = LOCK_CONTENTION;
		wait->to_ns = lock->free_ns;
		wait->cause = lock->location;
		wait->cause_seq = lock->seq;
	}
	if (strcmp(name, "MPI_Win_unlock") == 0) {
		lock->location = location;
		lock->shared = lock->holders[at].shared;
		lock->seq = seq;
		lock->free_ns = row->leave_ns;
		lock->holders[at] = lock->holders[--lock->count];
	}
}

/* ---- the waits of a call ---------------------------------------------------------------- */

/* The wait until the other end of EDGE was entered, if it is longer than what is in WAIT. */
static void
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

/* Late Receiver: the send is complete only after the receive was posted: E_post - E. */
static void
late_receiver(struct wait *wait, const struct wait_row *send, const struct row *call)
{
	if (send->has_other && send->is_send && send->other_ns <= call->leave_ns)
		wait_for(wait, LATE_RECEIVER, send, call);
}

/* What a completion waited for: messages (Late Sender), collectives, else receivers; the last of each. */
static void
completion_waits(struct imbalance *im, const struct whole_call *c, struct wait *wait)
{
	const struct row *call = &c->rows[0].row;
	struct wait late = *wait;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct wait_row *row = &c->rows[i], *start;

		if (row->has_other && !row->is_send)
			wait_for(wait, LATE_SENDER, row, call);
		else if ((start = referred_row(im, row, c->location, c->first + i)) == NULL)
			continue;
		else if (is_collective_start(call_class(start->row.call)))
			wait_for(wait, call_kind(im, start->row.call)->before, start, call);
		else
			late_receiver(&late, start, call);
	}
	if (wait->state == STATES)
		*wait = late;
}

/* Late Sender: min(E_send, L) - E. */
static void
message_waits(const struct whole_call *c, struct wait *wait)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->rows[i].has_other && !c->rows[i].is_send)
			wait_for(wait, LATE_SENDER, &c->rows[i], &c->rows[0].row);
	if (wait->state == STATES)
		late_receiver(wait, &c->rows[0], &c->rows[0].row);
}

/* Late Post, Early Wait: of those that were posted before it was left the last. */
static void
epoch_waits(const struct whole_call *c, struct wait *wait)
{
	for (uint32_t i = 0; i < c->count; i++) {
		const struct wait_row *row = &c->rows[i];

		if (row->has_other && !row->is_send && row->other_ns <= c->rows[0].row.leave_ns)
			wait_for(wait, c->kind->before, row, &c->rows[0].row);
	}
}

/* Before: E of whom it waits for - E. After: L - the first L, where all calls overlap. */
static int
collective_waits_of(const struct wait_row *row, const struct call_kind *r, struct wait waits[MOST_WAITS])
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

/* What was received, for the waits to come. */
static void
note_received(struct imbalance *im, const struct whole_call *c, const struct wait *wait)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->rows[i].has_other && !c->rows[i].is_send)
			check_order(im, c->location, &c->rows[i]);
	for (uint32_t i = 0; wait->state == LATE_SENDER && i < c->count; i++) {
		const struct wait_row *row = &c->rows[i];

		if (row->has_other && !row->is_send && row->other == wait->cause &&
		    row->other_seq == wait->cause_seq)
			remember_late(im, wait, row->other_ns);
	}
}

int
find_waits(struct imbalance *im, const struct whole_call *c, struct wait waits[MOST_WAITS])
{
	const struct row *row = &c->rows[0].row;
	const struct call_kind *kind = c->kind;

	waits[0].state = STATES;
	if (kind->starts && c->count == 1 && !c->rows[0].has_other)
		return 0;
	waits[0] = (struct wait){ .state = STATES, .from_ns = row->enter_ns, .to_ns = row->enter_ns,
	    .location = c->location, .site = row->site, .comm = row->comm, .call = row->call,
	    .cause = NOBODY };
	if (kind->is_test && !(im->polls_wait && kind->class == CLASS_COMPLETE)) {
		note_received(im, c, &waits[0]);
		return 0;
	}
	switch (kind->class) {
	case CLASS_SEND:
	case CLASS_RECV:
	case CLASS_SENDRECV:
		message_waits(c, &waits[0]);
		break;
	case CLASS_COMPLETE:
		completion_waits(im, c, &waits[0]);
		break;
	case CLASS_ACCESS:
	case CLASS_ACCESS_END:
	case CLASS_EXPOSE_END:
		epoch_waits(c, &waits[0]);
		break;
	case CLASS_RMA:
		if (row->peer >= 0)
			find_contention(im, c->location, c->first, row, &waits[0]);
		break;
	default:
		if (is_collective(kind->class) && !is_collective_start(kind->class))
			return collective_waits_of(&c->rows[0], kind, waits);
	}
	note_received(im, c, &waits[0]);
	return waits[0].state != STATES;
}

void
waits_begin(struct imbalance *im)
{
	im->late = zalloc(im->known.location_count, sizeof *im->late);
	im->locks = zalloc(1, sizeof *im->locks);
}

void
waits_end(struct imbalance *im)
{
	for (uint32_t l = 0; l < im->known.location_count; l++)
		for (unsigned i = 0; i < im->late[l].count; i++)
			count_largest(im, &im->late[l].of[i].origin->wait);
}
