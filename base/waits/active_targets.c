/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of epochs of active targets: which operations on the own memory ended when. */
#include <string.h>

#include "../tool/search.h"
#include "core.h"

#define BEFORE(at, sought) ((at)->origin < (sought))
SEARCH(access_at, struct accesses, uint32_t, BEFORE)
#undef BEFORE

static struct accesses *
accesses_of(struct target *target, uint32_t origin)
{
	const size_t low = access_at(target->accesses, target->access_count, origin);

	if (low < target->access_count && target->accesses[low].origin == origin)
		return &target->accesses[low];
	target->accesses = grow_little(target->accesses, &target->access_capacity, target->access_count + 1,
	    sizeof *target->accesses);
	memmove(target->accesses + low + 1, target->accesses + low,
	    (target->access_count++ - low) * sizeof *target->accesses);
	target->accesses[low] = (struct accesses){ origin, 0, { INT64_MIN, 0 }, { INT64_MIN, 0 } };
	return &target->accesses[low];
}

void
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

/* The later of LAST and what ORIGIN did before it ended its epoch, not after LIMIT_NS. */
static void
last_access(const struct accesses *a, int64_t limit_ns, struct access *last, uint32_t *by)
{
	const struct access *access = a->last.leave_ns <= limit_ns ? &a->last : &a->before;

	if (access->leave_ns <= limit_ns && access->leave_ns > last->leave_ns) {
		*last = *access;
		*by = a->origin;
	}
}

/* Of the first wait that what lies before AT_NS is of state BEFORE; the rest is what it was. */
static int
divide(struct wait waits[MOST_WAITS], int count, const struct access *at, uint32_t by, enum state before)
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
 * Early Fence: the part of a fence until the last operation on own memory returned that others had before
 * their fence.
 */
int
fence_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS], int count)
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
	if (!waiting) {		/* not all of them overlap, but this one ended behind the operation */
		waits[0].from_ns = waits[0].to_ns = row->row.enter_ns;
		waits[0].state = STATES;
	}
	return divide(waits, waiting ? count : 0, &last, by, EARLY_FENCE);
}

/*
 * Early Wait lasts to the last operation of the epoch; from there, or from the own enter, until the last
 * origin entered MPI_Win_complete it is Late Complete.
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
	for (uint32_t i = 0; i < call->count; i++) {
		const struct wait_row *row = &call->rows[i];

		if (row->has_other && !row->is_send)
			last_access(accesses_of(target_of(im, row->row.comm, rank), row->other), row->other_ns,
			    &last, &by);
	}
	return by == NOBODY ? 1 : divide(waits, 1, &last, by, EARLY_WAIT);
}
