/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs and locks of MPI windows, by the rows of the ranks in them. */
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "waits.h"

/* Calls of one class on a window, as one rank made them. */
struct epochs {
	uint64_t calls;
	uint64_t to;		/* of them those that have the peer in their group */
	bool last_to;		/* the last one has */
	const struct calls *of;	/* where the last one is: its first row, and how many it has */
	size_t at, rows;
};

/* False: there are too many rows to look. */
static bool
count_epochs(const struct look *look, struct rank *rank, uint32_t comm, enum call_class class,
    int32_t peer, struct epochs *found)
{
	*found = (struct epochs){ 0 };
	for (size_t t = 0; t < rank->thread_count; t++) {
		const struct calls *calls = &rank->threads[t].calls;
		bool inside = false;

		if (!rows_load(&rank->threads[t]))
			return false;
		for (size_t i = 0; i < calls->count; i++) {
			const bool part = calls->call[i] == 0;

			inside = part ? inside : calls->comm[i] == comm &&
			    call_class(look->names[calls->call[i]]) == class;
			if (!inside)
				continue;
			if (!part) {
				found->calls++;
				found->last_to = false;
				found->of = calls;
				found->at = i;
				found->rows = 0;
			}
			found->rows++;
			found->to += calls->peer[i] == peer;
			found->last_to |= calls->peer[i] == peer;
		}
	}
	return true;
}

bool
is_of_window(const struct row *op)
{
	return op->class == CLASS_ACCESS || op->class == CLASS_ACCESS_END ||
	    op->class == CLASS_EXPOSE_END || op->class == CLASS_RMA;
}

void
find_epoch(const struct look *look, struct rank *rank, struct thread *thread)
{
	const struct open_call *open = &thread->open;
	const enum call_class class = call_class(thread->call);
	/* MPI_Win_wait alone has to wait; the others leave it to the implementation. */
	struct row op = { class, thread->call, open->comm, open->peer, open->tag, 0,
		class != CLASS_EXPOSE_END, 0 };
	struct epochs last;

	if (class == CLASS_RMA)
		add_op(thread, op);
	else if (class == CLASS_ACCESS)
		for (uint32_t i = 0; i < open->kept; i++) {
			op.peer = (int32_t)open->rows[i];
			add_op(thread, op);
		}
	else if ((class == CLASS_ACCESS_END || class == CLASS_EXPOSE_END) &&
	    count_epochs(look, rank, open->comm,
	    class == CLASS_ACCESS_END ? CLASS_ACCESS : CLASS_POST, NO_PEER, &last))
		for (size_t i = 0; i < last.rows; i++) {
			op.peer = last.of->peer[last.at + i];
			add_op(thread, op);
		}
}

bool
epoch_is_met(const struct look *look, int32_t own, const struct row *op, int32_t other)
{
	struct rank *me = &look->ranks[own], *peer = &look->ranks[other];
	const uint32_t theirs = comm_of(peer, group_of(me, op->comm));
	const int32_t as = me->members[op->comm].rank;
	struct epochs mine, started, ended, posted;

	if (theirs == 0)
		return false;
	if (op->class != CLASS_EXPOSE_END)
		/* The rows of an open MPI_Win_start are still to come. */
		return !count_epochs(look, me, op->comm, CLASS_ACCESS, op->peer, &mine) ||
		    !count_epochs(look, peer, theirs, CLASS_POST, as, &posted) ||
		    posted.to >= mine.to + (op->class == CLASS_ACCESS);
	if (!count_epochs(look, me, op->comm, CLASS_POST, op->peer, &mine) ||
	    !count_epochs(look, peer, theirs, CLASS_ACCESS, as, &started) ||
	    !count_epochs(look, peer, theirs, CLASS_ACCESS_END, as, &ended))
		return true;
	return started.to - (started.calls > ended.calls && started.last_to) >= mine.to;
}

struct lock { int held; bool shared; int64_t since_ns; };

/* The rank's locks of a target's part; of any where that is not a rank. */
static struct lock
lock_of(const struct look *look, struct rank *rank, uint32_t group, int32_t target)
{
	const uint32_t comm = comm_of(rank, group);
	struct lock lock = { 0, false, INT64_MIN };

	for (size_t t = 0; t < rank->thread_count && comm > 0; t++) {
		const struct calls *calls = &rank->threads[t].calls;

		if (!rows_load(&rank->threads[t]))
			break;
		for (size_t i = 0; i < calls->count; i++) {
			const char *name = call_name(look->names[calls->call[i]]);
			const bool one = calls->peer[i] == target || target < 0;
			bool all;

			if (calls->comm[i] != comm)
				continue;
			all = strcmp(name, "MPI_Win_lock_all") == 0;
			if (all || (one && strcmp(name, "MPI_Win_lock") == 0)) {
				lock.held++;
				lock.shared = all || calls->tag[i] == 2;
				lock.since_ns = calls->leave_ns[i];
			} else
				lock.held -= strcmp(name, "MPI_Win_unlock_all") == 0 ||
				    (one && strcmp(name, "MPI_Win_unlock") == 0);
		}
	}
	return lock;
}

/* Whether what the rank waits for is a shared lock, which others may hold, too. */
static bool
asks_shared(const struct look *look, struct rank *rank, uint32_t group, int32_t target)
{
	for (size_t t = 0; t < rank->thread_count; t++) {
		const struct thread *thread = &rank->threads[t];
		const char *name = call_name(thread->call);

		if (group_of(rank, thread->open.comm) == group &&
		    strncmp(name, "MPI_Win_lock", 12) == 0)
			return name[12] != '\0' || thread->open.tag == 2;
	}
	return lock_of(look, rank, group, target).shared;
}

int64_t
locked_since(const struct look *look, struct rank *rank, uint32_t group, int32_t target, bool any)
{
	const struct lock lock = lock_of(look, rank, group, target);

	return lock.held > 0 && (any || !lock.shared) ? lock.since_ns : INT64_MIN;
}

size_t
lock_holders(const struct look *look, int32_t own, uint32_t group, int32_t target,
    int32_t **holders)
{
	const int32_t size = side_size(look, group, 0);
	const bool any = !asks_shared(look, &look->ranks[own], group, target);
	size_t count = 0;

	*holders = zalloc((size_t)size + 1, sizeof **holders);
	for (int32_t i = 0; i < size; i++) {
		const int32_t world = member_at(look, group, 0, i);

		if (world >= 0 && world != own &&
		    locked_since(look, &look->ranks[world], group, target, any) != INT64_MIN)
			(*holders)[count++] = world;
	}
	return count;
}
