/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the messages, collectives and epochs that open calls wait for, and those that match; locks
 * and epochs of MPI windows by the rows of the ranks in them.
 */
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "waits.h"

static void
add_op(struct thread *thread, struct row op)
{
	thread->ops = need(realloc(thread->ops, (thread->op_count + 1) * sizeof op));
	thread->ops[thread->op_count++] = op;
}

bool
is_buffered(const struct row *op)
{
	return sends(op) && strcasestr(call_name(op->call), "ssend") == NULL;
}

static void
find_requests(const struct look *look, struct rank *rank, struct thread *thread)
{
	const struct open_call *open = &thread->open;
	const char *name = call_name(thread->call);
	struct row op;

	thread->either = strcmp(name, "MPI_Waitany") == 0 || strcmp(name, "MPI_Waitsome") == 0;
	thread->unknown = open->kept == OPEN_REQUESTS;
	for (uint32_t i = 0; i < open->kept; i++) {
		const uint64_t location = open->rows[i] >> OPEN_ROW_BITS,
		    seq = open_row(0, open->rows[i]);

		if (open->rows[i] == OPEN_UNKNOWN || location >= rank->thread_count ||
		    !row_read(look, &rank->threads[location], seq, &op)) {
			thread->unknown = true;
			continue;
		}
		if (is_collective_start(op.class) && !starts_persistent(op.call))
			op.collective = rows_collectives(look, &rank->threads[location], op.comm,
			    seq);
		op.may = is_buffered(&op) && open->kept > 1;
		add_op(thread, op);
	}
}

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

/* The ranks that the call of an epoch waits for, or MPI_Comm_create_group. */
static void
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
	else if (class == CLASS_ACCESS || class == CLASS_COMM_CREATE_GROUP)
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

void
find_ops(const struct look *look, struct rank *rank, struct thread *thread)
{
	const struct open_call *open = &thread->open;
	const enum call_class class = call_class(thread->call);
	const struct row op = { class, thread->call, open->comm, open->peer, open->tag,
		open->collective, false, 0 };

	if (thread->call == 0 || call_polls(thread->call))
		return;
	if (class == CLASS_FINALIZE || class == CLASS_INIT)
		add_op(thread, (struct row){ class, thread->call, 1, NO_PEER, NO_TAG,
		    class == CLASS_INIT ? INITIALIZE : FINALIZE, false, 0 });
	else if (class == CLASS_COMPLETE)
		find_requests(look, rank, thread);
	else if (class == CLASS_SEND || class == CLASS_RECV ||
	    class == CLASS_PROBE || is_entered_on(class))
		add_op(thread, op);
	else if (class == CLASS_SENDRECV) {
		add_op(thread, (struct row){ CLASS_SEND, thread->call, open->comm, open->peer,
		    open->tag, 0, true, 0 });
		add_op(thread, (struct row){ CLASS_RECV, thread->call, open->comm, open->source,
		    open->receive_tag, 0, false, 0 });
	} else
		find_epoch(look, rank, thread);
}

bool
sends(const struct row *op)
{
	return op->class == CLASS_SEND || op->class == CLASS_SEND_START;
}

bool
receives(const struct row *op)
{
	return op->class == CLASS_RECV || op->class == CLASS_RECV_START || op->class == CLASS_PROBE;
}

/* Whether a send of one rank and a receive of another match. */
static bool
match(const struct look *look, int32_t from, const struct row *send, int32_t to,
    const struct row *receive)
{
	const struct rank *sender = &look->ranks[from], *receiver = &look->ranks[to];

	return sends(send) && receives(receive) && group_of(sender,
	    send->comm) == group_of(receiver, receive->comm) && world_peer(look, sender, send->comm,
	    send->peer) == to && (receive->peer == ANY_PEER || world_peer(look, receiver,
	    receive->comm, receive->peer) == from) && (receive->tag == ANY_TAG ||
	    receive->tag == send->tag);
}

/* Whether the other side of a message is open, too. */
bool
is_met(const struct look *look, int32_t own, const struct row *op, int32_t other)
{
	const struct rank *rank = &look->ranks[other];

	for (size_t t = 0; t < rank->thread_count; t++)
		for (size_t i = 0; i < rank->threads[t].op_count; i++)
			if (match(look, own, op, other, &rank->threads[t].ops[i]) ||
			    match(look, other, &rank->threads[t].ops[i], own, op))
				return true;
	return false;
}

bool
has_joined(const struct look *look, int32_t own, const struct row *op, int32_t other)
{
	const struct rank *rank = &look->ranks[other];
	const uint32_t group = group_of(&look->ranks[own], op->comm);

	for (size_t t = 0; t < rank->thread_count; t++) {
		const struct thread *thread = &rank->threads[t];

		if (thread->call == op->call && thread->open.tag == op->tag &&
		    group_of(rank, thread->open.comm) == group)
			return true;
	}
	return false;
}

/* ---- epochs and locks ---- */

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
