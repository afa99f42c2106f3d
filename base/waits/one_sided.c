/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of one-sided communication: which rank accessed whose memory and when, and when a target
 * was in a call.
 *
 * Memory: the last 4096 calls of each location, 4 million in all; the state of each MPI window at
 * each rank.
 */
#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "../tool/search.h"
#include "core.h"

/* ---- state of MPI windows ------------------------------------------------------------ */

enum { MOST_VISITS = 4096, LEAST_VISITS = 64, ALL_VISITS = 1 << 22 };

/* The last calls of a location. */
struct visits {
	struct visit { int64_t enter_ns, leave_ns; uint64_t seq; } *of;
	size_t begin, end, capacity;
	int64_t kept_ns;		/* all calls left after this are kept */
};

/*
 * The last operation of an origin on a target's memory in its epoch, and the last in the epoch
 * before.
 */
struct accesses {
	uint32_t origin, epoch;
	struct access { int64_t leave_ns; uint64_t seq; } last, before;
};

/* A rank's part of an MPI window, by world rank: the holders of its lock, and its accesses. */
struct target {
	uint32_t window, of;		/* rank; NOBODY: free slot */
	uint32_t *holders;		/* locations */
	size_t holder_count, holder_capacity;
	struct accesses *accesses;	/* in order of origins */
	size_t access_count, access_capacity;
};

/* The state of an origin in an MPI window. */
struct accessor {
	uint32_t window, of;		/* location; NOBODY: free slot */
	uint32_t epochs;		/* of active targets, ended */
	bool all;			/* MPI_Win_lock_all */
	/* ranks accessed under a lock and not flushed since, in order */
	int32_t *pending;
	size_t pending_count, pending_capacity;
};

HASH_TABLE_OF(targets, struct target, window, of, of, NOBODY)
HASH_TABLE_OF(accessors, struct accessor, window, of, of, NOBODY)

struct one_sided {
	struct targets targets;
	struct accessors accessors;
	struct visits *visits;		/* by location; NULL: there is no MPI window */
	size_t most_visits;		/* of each location */
	bool defined;			/* there is an MPI window */
};

/* ---- the last calls of locations ----------------------------------------------------- */

static void
visits_begin(struct imbalance *im)
{
	const size_t locations = im->graph.known.location_count, each = ALL_VISITS / locations;
	struct one_sided *o = im->one_sided;

	if (o->visits != NULL)
		return;
	o->visits = zalloc(locations, sizeof *o->visits);
	o->most_visits = each > MOST_VISITS ? MOST_VISITS :
	    each < LEAST_VISITS ? LEAST_VISITS : each;
	for (size_t l = 0; l < locations; l++)
		o->visits[l].kept_ns = im->last_leave_ns[l];
}

static void
visit_add(const struct one_sided *o, const struct whole_call *call)
{
	struct visits *v = &o->visits[call->location];
	const struct row *row = &call->rows[0].row;
	const size_t quarter = o->most_visits / 4;

	if (v->end - v->begin >= o->most_visits) {
		v->begin += quarter;
		v->kept_ns = v->of[v->begin - 1].leave_ns;
	}
	if (v->end == v->capacity && v->begin >= quarter) {
		memmove(v->of, v->of + v->begin, (v->end - v->begin) * sizeof *v->of);
		v->end -= v->begin;
		v->begin = 0;
	}
	v->of = grow_little(v->of, &v->capacity, v->end + 1, sizeof *v->of);
	v->of[v->end++] = (struct visit){ row->enter_ns, row->leave_ns, call->first };
}

/* The last call of each location is kept. */
void
one_sided_forget(struct imbalance *im, int64_t at_ns)
{
	for (uint32_t l = 0; im->one_sided->visits != NULL && l < im->graph.known.location_count;
	    l++) {
		struct visits *v = &im->one_sided->visits[l];

		if (v->end > v->begin) {
			v->of[0] = v->of[v->end - 1];
			v->end = 1;
		}
		v->begin = 0;
		v->kept_ns = at_ns;
	}
}

#define BEFORE(visit, sought) ((visit)->leave_ns <= (sought))
SEARCH(visit_at, struct visit, int64_t, BEFORE)
#undef BEFORE

/*
 * The first call that the location left after AT_NS, counted or not; false: there is none, or it is
 * no longer kept.
 */
static bool
visit_after(const struct imbalance *im, uint32_t location, int64_t at_ns, struct visit *found)
{
	const struct visits *v = &im->one_sided->visits[location];
	const uint64_t next = im->done[location];
	const struct wait_row *row;
	size_t at;

	if (im->last_leave_ns[location] <= at_ns) {
		if ((row = wait_row(im, location, next)) != NULL)
			*found = (struct visit){ row->row.enter_ns, row->row.leave_ns, next };
		return row != NULL;
	}
	if (at_ns < v->kept_ns)
		return false;
	at = v->begin + visit_at(v->of + v->begin, v->end - v->begin, at_ns);
	if (at == v->end)
		return false;
	*found = v->of[at];
	return true;
}

/* ---- MPI windows --------------------------------------------------------------------- */

void
one_sided_begin(struct imbalance *im)
{
	im->one_sided = zalloc(1, sizeof *im->one_sided);
	targets_begin(&im->one_sided->targets, 64);
	accessors_begin(&im->one_sided->accessors, 64);
}

void
one_sided_window(struct imbalance *im)
{
	visits_begin(im);
	im->one_sided->defined = true;
}

static struct target *
target_of(struct imbalance *im, uint32_t window, int32_t rank)
{
	const struct target key = { .window = window, .of = (uint32_t)rank };

	return targets_add(&im->one_sided->targets, &key);
}

static struct accessor *
accessor_of(struct imbalance *im, uint32_t window, uint32_t location)
{
	const struct accessor key = { .window = window, .of = location };

	return accessors_add(&im->one_sided->accessors, &key);
}

/* The world rank of the call's target; -1: none, or unknown. */
static int32_t
target_rank(const struct imbalance *im, uint32_t location, const struct row *row)
{
	return row->peer < 0 ? -1 : world_rank(&im->graph.known, row->comm,
	    im->graph.known.location_rank[location], row->peer);
}

/* ---- when a target is in MPI -------------------------------------------------------------- */

/*
 * Wait for Progress: the target was outside MPI, where it makes no progress for others. The
 * origin's call returned only after a thread of the target had entered MPI again. Only if longer
 * than WAIT.
 */
static void
wait_for_progress(const struct imbalance *im, int32_t rank, int64_t leave_ns, struct wait *wait)
{
	struct wait found = *wait;
	bool any = false;

	if (rank < 0 || rank >= im->graph.known.ranks ||
	    rank == im->graph.known.location_rank[wait->location])
		return;
	for (uint32_t l = (uint32_t)rank; l < im->graph.known.location_count;
	    l = l < (uint32_t)im->graph.known.ranks ? (uint32_t)im->graph.known.ranks : l + 1) {
		struct visit visit;

		if (im->graph.known.location_rank[l] != rank || 
		    !visit_after(im, l, wait->from_ns, &visit))
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

/* The index of the location among the holders; their number if it is not one. */
static size_t
holder_at(const struct target *target, uint32_t location)
{
	size_t at = 0;

	while (at < target->holder_count && target->holders[at] != location)
		at++;
	return at;
}

#define BEFORE(at, sought) (*(at) < (sought))
SEARCH(pending_at, int32_t, int32_t, BEFORE)
#undef BEFORE

static void
set_pending(struct accessor *me, int32_t rank, bool pending)
{
	const size_t at = pending_at(me->pending, me->pending_count, rank),
	    count = me->pending_count;
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

/* Waits of a call in an epoch of passive targets, at one target. */
static int
waits_at_target(struct imbalance *im, const struct whole_call *call, int32_t rank,
    struct wait waits[MOST_WAITS])
{
	const struct row *row = &call->rows[0].row;
	const enum one_sided_kind kind = call->kind->one_sided;
	struct accessor *me = accessor_of(im, row->comm, call->location);
	struct target *target = target_of(im, row->comm, rank);
	struct wait next = waits[0];
	size_t at;
	int count;

	if (kind == LOCKS) {
		*APPEND(target->holders, target->holder_count, target->holder_capacity) =
		    call->location;
	}
	at = holder_at(target, call->location);
	if (at == target->holder_count && !me->all)
		return 0;
	if (call->rows[0].other_ns <= row->leave_ns)	/* else the times are replayed */
		wait_for(&waits[0], LOCK_CONTENTION, &call->rows[0], row);
	count = waits[0].state != STATES;
	if (count > 0)
		next.from_ns = next.to_ns = waits[0].to_ns;
	wait_for_progress(im, rank, row->leave_ns, &next);
	if (next.state != STATES)
		waits[count++] = next;
	if (kind == ACCESSES || kind == FLUSHES || kind == UNLOCKS)
		set_pending(me, rank, kind == ACCESSES);
	if (kind == UNLOCKS && at < target->holder_count)
		target->holders[at] = target->holders[--target->holder_count];
	return count;
}

int
passive_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS])
{
	const struct row *row = &call->rows[0].row;
	const enum one_sided_kind kind = call->kind->one_sided;
	const int32_t rank = target_rank(im, call->location, row);
	struct accessor *me;

	visits_begin(im);
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

/* ---- epochs of active targets: ends of operations on own memory ---------------------- */

#define BEFORE(at, sought) ((at)->origin < (sought))
SEARCH(access_at, struct accesses, uint32_t, BEFORE)
#undef BEFORE

static struct accesses *
accesses_of(struct target *target, uint32_t origin)
{
	const size_t low = access_at(target->accesses, target->access_count, origin);

	if (low < target->access_count && target->accesses[low].origin == origin)
		return &target->accesses[low];
	target->accesses = grow_little(target->accesses, &target->access_capacity,
	    target->access_count + 1, sizeof *target->accesses);
	memmove(target->accesses + low + 1, target->accesses + low,
	    (target->access_count++ - low) * sizeof *target->accesses);
	target->accesses[low] = (struct accesses){ origin, 0, { INT64_MIN, 0 }, { INT64_MIN, 0 } };
	return &target->accesses[low];
}

/* An operation on another rank's memory. */
static void
note_access(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	const int32_t rank = target_rank(im, call->location, row);
	const struct accessor *me = accessor_of(im, row->comm, call->location);
	struct target *target;
	struct accesses *accesses;

	if (rank < 0 || rank == im->graph.known.location_rank[call->location] || me->all)
		return;
	target = target_of(im, row->comm, rank);
	if (holder_at(target, call->location) < target->holder_count)
		return;
	accesses = accesses_of(target, call->location);
	if (accesses->epoch != me->epochs) {
		accesses->before = accesses->last;
		accesses->epoch = me->epochs;
	}
	accesses->last = (struct access){ row->leave_ns, call->first };
}

/* The later of LAST and the last access of ORIGIN in its ended epoch, not after LIMIT_NS. */
static void
last_access(const struct accesses *a, int64_t limit_ns, struct access *last, uint32_t *by)
{
	const struct access *access = a->last.leave_ns <= limit_ns ? &a->last : &a->before;

	if (access->leave_ns <= limit_ns && access->leave_ns > last->leave_ns) {
		*last = *access;
		*by = a->origin;
	}
}

/* The part of the first wait before AT_NS gets state BEFORE; the rest keeps its state. */
static int
divide(struct wait waits[MOST_WAITS], int count, const struct access *at, uint32_t by,
    enum state before)
{
	struct wait first = waits[0];

	first.state = before;
	first.to_ns = at->leave_ns;
	first.cause = by;
	first.cause_seq = at->seq;
	if (count > 0 && waits[0].to_ns > at->leave_ns) {
		memmove(waits + 1, waits, (size_t)count * sizeof *waits);
		waits[1].from_ns = at->leave_ns;
		count++;
	} else if (count == 0)
		count = 1;
	waits[0] = first;
	return count;
}

/*
 * Early Fence: the part of a fence until the last operation of others on own memory, before their
 * fence, returned.
 */
int
fence_waits(struct imbalance *im, const struct whole_call *call,
    struct wait waits[MOST_WAITS], int count)
{
	const struct wait_row *row = &call->rows[0];
	const int32_t rank = im->graph.known.location_rank[call->location];
	const struct target *target = target_of(im, row->row.comm, rank);
	const int64_t limit_ns = row->has_other ? row->other_ns : INT64_MIN;
	struct access last = { row->row.enter_ns, 0 };
	const int waiting = count > 0 && waits[0].state == WAIT_AT_FENCE;
	uint32_t by = NOBODY;

	for (size_t i = 0; i < target->access_count; i++)
		last_access(&target->accesses[i], limit_ns, &last, &by);
	if (by == NOBODY || last.leave_ns >= row->row.leave_ns)
		return count;
	/* not all calls overlap, but this one ended after the operation */
	if (!waiting) {
		waits[0].from_ns = waits[0].to_ns = row->row.enter_ns;
		waits[0].state = STATES;
	}
	return divide(waits, waiting ? count : 0, &last, by, EARLY_FENCE);
}

/*
 * Early Wait lasts until the last operation of the epoch. Late Complete lasts from there, or from
 * the own enter, until the last origin entered MPI_Win_complete.
 */
int
exposure_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS])
{
	const int32_t rank = im->graph.known.location_rank[call->location];
	struct access last = { call->rows[0].row.enter_ns, 0 };
	uint32_t by = NOBODY;

	if (waits[0].state == STATES)
		return 0;
	waits[0].state = LATE_COMPLETE;
	for (const struct wait_row *row = call->rows; row < call->rows + call->count; row++) {
		if (row->has_other && !row->is_send)
			last_access(accesses_of(target_of(im, row->row.comm, rank), row->other),
			    row->other_ns, &last, &by);
	}
	return by == NOBODY ? 1 : divide(waits, 1, &last, by, EARLY_WAIT);
}

/* ---- call by call ---- */

void
one_sided_count(struct imbalance *im, const struct whole_call *call)
{
	struct one_sided *o = im->one_sided;

	if (o->visits == NULL)
		return;
	visit_add(o, call);
	if (call->kind->one_sided == ACCESSES && call->kind->class == CLASS_RMA)
		note_access(im, call);
	else if (call->kind->one_sided == ENDS_EPOCH)
		accessor_of(im, call->rows[0].row.comm, call->location)->epochs++;
}

bool
one_sided_is_clear(const struct imbalance *im)
{
	const struct one_sided *o = im->one_sided;

	for (size_t i = 0; i < o->targets.size; i++)
		if (!targets_is_free(&o->targets.slots[i]) && o->targets.slots[i].holder_count > 0)
			return false;
	for (size_t i = 0; i < o->accessors.size; i++)
		if (!accessors_is_free(&o->accessors.slots[i]) &&
		    (o->accessors.slots[i].all || o->accessors.slots[i].pending_count > 0))
			return false;
	return o->visits == NULL || o->defined;
}
