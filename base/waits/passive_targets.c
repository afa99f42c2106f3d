/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "../tool/search.h"
#include "core.h"

#define HASH(t) mix((t)->window, (uint32_t)(t)->rank)
#define SAME(a, b) ((a)->window == (b)->window && (a)->rank == (b)->rank)
#define FREE(t) ((t)->rank < 0)
#define MAKE_FREE(t) ((t)->rank = -1)
HASH_TABLE(targets, struct target, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))
#undef HASH
#undef SAME
#undef FREE
#undef MAKE_FREE

#define HASH(m) mix((m)->window, (m)->location)
#define SAME(a, b) ((a)->window == (b)->window && (a)->location == (b)->location)
#define FREE(m) ((m)->location == NOBODY)
#define MAKE_FREE(m) ((m)->location = NOBODY)
HASH_TABLE(accessors, struct accessor, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))
#undef HASH
#undef SAME
#undef FREE
#undef MAKE_FREE

struct one_sided {
	struct targets targets;
	struct accessors accessors;
	struct visits *visits;		/* NULL: there is no window */
	bool defined;			/* windows are */
};

void
one_sided_begin(struct imbalance *im)
{
	im->one_sided = zalloc(1, sizeof *im->one_sided);
	targets_begin(&im->one_sided->targets, 64);
	accessors_begin(&im->one_sided->accessors, 64);
}

static void
begin_visits(struct imbalance *im)
{
	if (im->one_sided->visits == NULL)
		im->one_sided->visits = visits_begin(im);
}

void
one_sided_window(struct imbalance *im)
{
	begin_visits(im);
	im->one_sided->defined = true;
}

struct target *
target_of(struct imbalance *im, uint32_t window, int32_t rank)
{
	const struct target key = { .window = window, .rank = rank, .unlocked_by = NOBODY };

	return targets_add(&im->one_sided->targets, &key);
}

struct accessor *
accessor_of(struct imbalance *im, uint32_t window, uint32_t location)
{
	const struct accessor key = { .window = window, .location = location };

	return accessors_add(&im->one_sided->accessors, &key);
}

int32_t
target_rank(const struct imbalance *im, uint32_t location, const struct row *row)
{
	return row->peer < 0 ? -1 :
	    world_rank(&im->graph.known, row->comm, im->graph.known.location_rank[location], row->peer);
}

/* ---- when a target is in MPI -------------------------------------------------------------- */

/*
 * Wait for Progress: the target was outside of MPI, where it does nothing for others, and the call of the
 * origin returned only after one of the target's threads had entered MPI again. Longer than what is in WAIT.
 */
static void
wait_for_progress(const struct imbalance *im, int32_t rank, int64_t leave_ns, struct wait *wait)
{
	struct wait found = *wait;
	bool any = false;

	if (rank < 0 || rank >= im->graph.known.ranks || rank == im->graph.known.location_rank[wait->location])
		return;
	for (uint32_t l = (uint32_t)rank; l < im->graph.known.location_count;
	    l = l < (uint32_t)im->graph.known.ranks ? (uint32_t)im->graph.known.ranks : l + 1) {
		struct visit visit;

		if (im->graph.known.location_rank[l] != rank || 
		    !visit_after(im, im->one_sided->visits, l, wait->from_ns, &visit))
			continue;
		if (visit.enter_ns <= wait->from_ns)
			return;		/* it was in a call */
		if (any && visit.enter_ns >= found.to_ns)
			continue;
		any = true;
		found.to_ns = visit.enter_ns;
		found.cause = l;
		found.cause_seq = visit.seq;
	}
	if (!any || found.to_ns >= leave_ns || found.to_ns <= wait->to_ns)
		return;
	found.state = WAIT_FOR_PROGRESS;
	*wait = found;
}

/* ---- locks ------------------------------------------------------------------------------ */

static void
hold(struct target *target, uint32_t location, bool shared)
{
	target->holders = grow(target->holders, &target->holder_capacity, target->holder_count + 1,
	    sizeof *target->holders);
	target->holders[target->holder_count++] = (struct holder){ location, shared };
}

size_t
holder_at(const struct target *target, uint32_t location)
{
	size_t at = 0;

	while (at < target->holder_count && target->holders[at].location != location)
		at++;
	return at;
}

#define BEFORE(at, sought) (*(at) < (sought))
SEARCH(pending_at, int32_t, int32_t, BEFORE)
#undef BEFORE

static void
set_pending(struct accessor *me, int32_t rank, bool pending)
{
	const size_t at = pending_at(me->pending, me->pending_count, rank), count = me->pending_count;
	const bool is = at < count && me->pending[at] == rank;

	if (is == pending)
		return;
	if (pending)
		me->pending = grow_little(me->pending, &me->pending_capacity, count + 1,
		    sizeof *me->pending);
	memmove(me->pending + at + pending, me->pending + at + is,
	    (count - at - is) * sizeof *me->pending);
	if (pending)
		me->pending[at] = rank;
	me->pending_count += pending ? 1 : (size_t)-1;
}

/*
 * Lock Contention: a call of one epoch goes on when another, with which it cannot share the lock, has
 * unlocked the window at that target. Calls come here in order of their leaves, so that unlock has
 * been here.
 */
static int
contention(const struct target *target, size_t at, const struct row *row, struct wait *wait)
{
	if (target->unlocked_by == NOBODY || target->unlocked_by == wait->location ||
	    target->unlock_ns <= row->enter_ns || target->unlock_ns >= row->leave_ns ||
	    (target->unlocked_shared && target->holders[at].shared))
		return 0;
	wait->state = LOCK_CONTENTION;
	wait->to_ns = target->unlock_ns;
	wait->cause = target->unlocked_by;
	wait->cause_seq = target->unlock_seq;
	return 1;
}

static void
let_go(struct target *target, size_t at, const struct whole_call *call)
{
	target->unlocked_by = call->location;
	target->unlocked_shared = target->holders[at].shared;
	target->unlock_seq = call->first;
	target->unlock_ns = call->rows[0].row.leave_ns;
	target->holders[at] = target->holders[--target->holder_count];
}

/* One call of an epoch of passive targets, at one of them. */
static int
waits_at_target(struct imbalance *im, const struct whole_call *call, int32_t rank, struct wait waits[MOST_WAITS])
{
	const struct row *row = &call->rows[0].row;
	const enum one_sided_kind kind = call->kind->one_sided;
	struct accessor *me = accessor_of(im, row->comm, call->location);
	struct target *target = target_of(im, row->comm, rank);
	struct wait next = waits[0];
	size_t at;
	int count = 0;

	if (kind == LOCKS)
		hold(target, call->location, row->shared);
	at = holder_at(target, call->location);
	if (at == target->holder_count && !me->all)
		return 0;
	if (at < target->holder_count)
		count = contention(target, at, row, &waits[0]);
	if (count > 0)
		next.from_ns = next.to_ns = waits[0].to_ns;
	wait_for_progress(im, rank, row->leave_ns, &next);
	if (next.state != STATES)
		waits[count++] = next;
	if (kind == ACCESSES || kind == FLUSHES || kind == UNLOCKS)
		set_pending(me, rank, kind == ACCESSES);
	if (kind == UNLOCKS && at < target->holder_count)
		let_go(target, at, call);
	return count;
}

int
passive_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS])
{
	const struct row *row = &call->rows[0].row;
	const enum one_sided_kind kind = call->kind->one_sided;
	const int32_t rank = target_rank(im, call->location, row);
	struct accessor *me;

	begin_visits(im);
	if (rank >= 0)
		return waits_at_target(im, call, rank, waits);
	if (row->peer >= 0 || kind == NO_ACCESS)
		return 0;
	me = accessor_of(im, row->comm, call->location);
	for (size_t i = 0; i < me->pending_count; i++)	/* the last of them counts */
		wait_for_progress(im, me->pending[i], row->leave_ns, &waits[0]);
	if (kind == FLUSHES_ALL || kind == UNLOCKS_ALL)
		me->pending_count = 0;
	if (kind == LOCKS_ALL || kind == UNLOCKS_ALL)
		me->all = kind == LOCKS_ALL;
	return waits[0].state != STATES;
}

void
one_sided_count(struct imbalance *im, const struct whole_call *call)
{
	struct one_sided *o = im->one_sided;

	if (o->visits == NULL)
		return;
	visit_add(o->visits, call);
	if (call->kind->one_sided == ACCESSES && call->kind->class == CLASS_RMA)
		note_access(im, call);
	else if (call->kind->one_sided == ENDS_EPOCH)
		accessor_of(im, call->rows[0].row.comm, call->location)->epochs++;
}

void
one_sided_forget(struct imbalance *im, int64_t at_ns)
{
	if (im->one_sided->visits != NULL)
		visits_forget(im, im->one_sided->visits, at_ns);
}

bool
one_sided_is_clear(const struct imbalance *im)
{
	const struct one_sided *o = im->one_sided;

	for (size_t i = 0; i < o->targets.size; i++)
		if (o->targets.slots[i].rank >= 0 && o->targets.slots[i].holder_count > 0)
			return false;
	for (size_t i = 0; i < o->accessors.size; i++)
		if (o->accessors.slots[i].location != NOBODY &&
		    (o->accessors.slots[i].all || o->accessors.slots[i].pending_count > 0))
			return false;
	return o->visits == NULL || o->defined;
}
