/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of one-sided communication: which rank accessed whose memory and when.
 *
 * Memory: the state of each MPI window at each rank; calls that targets held up, until counted.
 */
#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "../tool/search.h"
#include "core.h"

/* ---- state of MPI windows ------------------------------------------------------------ */

/*
 * The last operation of an origin on a target's memory in its epoch, and the last in the epoch
 * before.
 */
struct accesses {
	uint32_t origin, epoch;
	struct access { int64_t leave_ns; uint64_t seq; } last, before;
};

struct released {		/* by that row, when it was entered */
	int64_t at_ns;
	uint64_t seq;
	uint32_t by;		/* NOBODY: it waited for none */
};

/* The part of a location in an MPI window. A rank is a target as its first location. */
struct member_part {
	uint32_t window, of;		/* location; NOBODY: free slot */
	/* a target: who holds its lock, and accesses to it */
	uint32_t *holders;		/* locations */
	size_t holder_count, holder_capacity;
	struct accesses *accesses;	/* in order of origins */
	size_t access_count, access_capacity;
	/* an origin */
	uint32_t epochs;		/* of active targets, ended */
	bool all;			/* MPI_Win_lock_all */
	/* The last MPI_Win_complete: rows, and the last post that it waited for. */
	uint64_t completed, completed_end;
	struct released released;
};

/* A call not yet counted that ended when the call BY had been entered: trace.5, holds. */
struct held {
	uint64_t seq, by_seq;
	int64_t until_ns;
	uint32_t location, by;		/* location NOBODY: free slot */
};

HASH_TABLE_OF(member_parts, struct member_part, window, of, of, NOBODY)
HASH_TABLE_OF(helds, struct held, seq, location, location, NOBODY)

/* ---- MPI windows --------------------------------------------------------------------- */

void
one_sided_held(struct imbalance *im, uint32_t location, uint64_t seq, uint32_t by, uint64_t by_seq,
    int64_t until_ns)
{
	struct held *held = helds_add(&im->helds, &(struct held){ .location = location,
	    .seq = seq, .until_ns = INT64_MIN });

	if (until_ns > held->until_ns)
		*held = (struct held){ seq, by_seq, until_ns, location, by };
}

/* Valid until the next one is sought. */
static struct member_part *
part_of(struct imbalance *im, uint32_t window, uint32_t location)
{
	const struct member_part key = { .window = window, .of = location };

	return member_parts_add(&im->parts, &key);
}

/* The world rank of the call's target; -1: none, or unknown. */
static int32_t
target_rank(const struct imbalance *im, uint32_t location, const struct row *row)
{
	return row->peer < 0 ? -1 : world_rank(&im->graph.known, row->comm,
	    im->graph.known.location_rank[location], row->peer);
}

/* ---- locks ------------------------------------------------------------------------------ */

/* The index of the location among the holders; their number if it is not one. */
static size_t
holder_at(const struct member_part *target, uint32_t location)
{
	size_t at = 0;

	while (at < target->holder_count && target->holders[at] != location)
		at++;
	return at;
}

int
progress_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS],
    int count)
{
	struct wait *wait = &waits[count];

	if (count > 0) {
		*wait = waits[0];
		wait->state = STATES;
		wait->from_ns = waits[0].to_ns;
	}
	for (uint32_t i = 0; i < call->count; i++) {
		struct held *held = helds_find(im->helds,
		    &(struct held){ .location = call->location, .seq = call->first + i });

		if (held == NULL)
			continue;
		if (held->until_ns > wait->to_ns &&
		    held->until_ns <= call->rows[0].row.leave_ns) {
			wait->state = WAIT_FOR_PROGRESS;	/* else the times are replayed */
			wait->to_ns = held->until_ns;
			wait->cause = held->by;
			wait->cause_seq = held->by_seq;
		}
		helds_remove(im->helds, held);
	}
	return count + (wait->state != STATES);
}

/* Who holds which lock. */
static void
note_lock(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	const enum one_sided_kind kind = call->kind->one_sided;
	const int32_t rank = target_rank(im, call->location, row);
	struct member_part *target;
	size_t at;

	if (kind == LOCKS_ALL || kind == UNLOCKS_ALL)
		part_of(im, row->comm, call->location)->all = kind == LOCKS_ALL;
	if (rank < 0 || (kind != LOCKS && kind != UNLOCKS))
		return;
	target = part_of(im, row->comm, (uint32_t)rank);
	if (kind == LOCKS)
		*APPEND(target->holders, target->holder_count, target->holder_capacity) =
		    call->location;
	else if ((at = holder_at(target, call->location)) < target->holder_count)
		target->holders[at] = target->holders[--target->holder_count];
}

int
passive_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS])
{
	const struct row *row = &call->rows[0].row;

	note_lock(im, call);
	if (call->rows[0].other_ns <= row->leave_ns)	/* else the times are replayed */
		wait_for(&waits[0], LOCK_CONTENTION, &call->rows[0], row);
	return progress_waits(im, call, waits, waits[0].state != STATES);
}

/* ---- epochs of active targets: ends of operations on own memory ---------------------- */

#define BEFORE(at, sought) ((at)->origin < (sought))
SEARCH(access_at, struct accesses, uint32_t, BEFORE)
#undef BEFORE

static struct accesses *
accesses_of(struct member_part *target, uint32_t origin)
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
	const struct member_part *me = part_of(im, row->comm, call->location);
	const uint32_t epoch = me->epochs;
	struct member_part *target;
	struct accesses *accesses;

	if (rank < 0 || rank == im->graph.known.location_rank[call->location] || me->all)
		return;
	target = part_of(im, row->comm, (uint32_t)rank);
	if (holder_at(target, call->location) < target->holder_count)
		return;
	accesses = accesses_of(target, call->location);
	if (accesses->epoch != epoch) {
		accesses->before = accesses->last;
		accesses->epoch = epoch;
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
	const struct member_part *target = part_of(im, row->row.comm, (uint32_t)rank);
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
 * MPI_Win_complete may tell its targets only when all of them have posted: the last post that it
 * has waited for so far. Posts that are not counted yet came too late for who is counted now.
 */
static void
take_post(const struct imbalance *im, struct released *last, const struct wait_row *complete)
{
	if (complete->has_other && complete->other_ns > last->at_ns &&
	    im->done[complete->other] > complete->other_seq)
		*last = (struct released){ complete->other_ns, complete->other_seq,
		    complete->other };
}

/* Of the MPI_Win_complete that one row of a wait refers to, counted or not. */
static struct released
released_of(struct imbalance *im, const struct wait_row *wait)
{
	struct released last = { INT64_MIN, 0, NOBODY };
	const struct wait_row *row = wait_row(im, wait->other, wait->other_seq);
	uint64_t first, seq;

	if (im->done[wait->other] > wait->other_seq) {
		const struct member_part *a = part_of(im, wait->row.comm, wait->other);

		return wait->other_seq >= a->completed && wait->other_seq < a->completed_end ?
		    a->released : last;
	}
	if (row == NULL)
		return last;
	last.at_ns = row->row.enter_ns;
	first = wait->other_seq - row->row.part;
	for (seq = first; (row = wait_row(im, wait->other, seq)) != NULL &&
	    (seq == first || row->row.part > 0); seq++)
		take_post(im, &last, row);
	return last;
}

/* Late Complete goes on until the origins have what they wait for themselves. */
static int
indirect_wait(struct imbalance *im, const struct whole_call *call, struct wait wait,
    struct wait waits[MOST_WAITS], int count)
{
	wait.state = LATE_COMPLETE;
	wait.from_ns = wait.to_ns = count > 0 ? waits[count - 1].to_ns : call->rows[0].row.enter_ns;
	for (uint32_t i = 0; i < call->count; i++) {
		const struct wait_row *row = &call->rows[i];
		struct released last = { INT64_MIN, 0, NOBODY };

		if (row->has_other && !row->is_send)
			last = released_of(im, row);
		if (last.by == NOBODY || last.at_ns <= wait.to_ns ||
		    last.at_ns > call->rows[0].row.leave_ns)
			continue;
		wait.to_ns = last.at_ns;
		wait.cause = last.by;
		wait.cause_seq = last.seq;
	}
	if (wait.to_ns > wait.from_ns)
		waits[count++] = wait;
	return count;
}

/*
 * Early Wait lasts until the last operation of the epoch. Late Complete lasts from there, or from
 * the own enter, until the last origin entered MPI_Win_complete.
 */
int
exposure_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS])
{
	const uint32_t rank = (uint32_t)im->graph.known.location_rank[call->location];
	const struct wait own = waits[0];
	struct access last = { call->rows[0].row.enter_ns, 0 };
	uint32_t by = NOBODY;

	if (waits[0].state == STATES)
		return indirect_wait(im, call, own, waits, 0);
	waits[0].state = LATE_COMPLETE;
	for (const struct wait_row *row = call->rows; row < call->rows + call->count; row++) {
		if (row->has_other && !row->is_send)
			last_access(accesses_of(part_of(im, row->row.comm, rank), row->other),
			    row->other_ns, &last, &by);
	}
	return indirect_wait(im, call, own, waits,
	    by == NOBODY ? 1 : divide(waits, 1, &last, by, EARLY_WAIT));
}

/* ---- call by call ---- */

void
one_sided_count(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	struct member_part *me;

	if (call->kind->one_sided == ACCESSES && call->kind->class == CLASS_RMA)
		note_access(im, call);
	else if (call->kind->one_sided == ENDS_EPOCH)
		part_of(im, row->comm, call->location)->epochs++;
	if (call->kind->class != CLASS_ACCESS_END)
		return;
	me = part_of(im, row->comm, call->location);
	me->completed = call->first;
	me->completed_end = call->first + call->count;
	me->released = (struct released){ row->enter_ns, 0, NOBODY };
	for (uint32_t i = 0; i < call->count; i++)
		take_post(im, &me->released, &call->rows[i]);
}

bool
one_sided_is_clear(const struct imbalance *im)
{
	const struct member_part *p = NULL;

	while ((p = member_parts_next(im->parts, p)) != NULL)
		if (p->holder_count > 0 || p->all)
			return false;
	return true;
}
