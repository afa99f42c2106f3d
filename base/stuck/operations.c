/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the messages and collectives that open calls wait for, and those that match. */
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "waits.h"

void
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
find_requests(const struct look *look, struct thread *thread, struct thread *threads,
    size_t thread_count)
{
	const struct open_call *open = &thread->open;
	const char *name = call_name(thread->call);
	struct row op;

	thread->either = strcmp(name, "MPI_Waitany") == 0 || strcmp(name, "MPI_Waitsome") == 0;
	thread->unknown = open->kept == OPEN_REQUESTS;
	for (uint32_t i = 0; i < open->kept; i++) {
		const uint64_t location = open->rows[i] >> OPEN_ROW_BITS,
		    seq = open_row(0, open->rows[i]);

		if (open->rows[i] == OPEN_UNKNOWN || location >= thread_count ||
		    !row_read(look, &threads[location], seq, &op)) {
			thread->unknown = true;
			continue;
		}
		if (is_collective_start(op.class) && !starts_persistent(op.call))
			op.collective = rows_collectives(look, &threads[location], op.comm, seq);
		op.may = is_buffered(&op) && open->kept > 1;
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
	if (class == CLASS_FINALIZE)
		add_op(thread, (struct row){ class, thread->call, 1, NO_PEER, NO_TAG,
		    FINALIZE, false, 0 });
	else if (class == CLASS_COMPLETE)
		find_requests(look, thread, rank->threads, rank->thread_count);
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
waits_outside(unsigned call)
{
	return call_meets(call) || call_class(call) == CLASS_COMM_CREATE_GROUP ||
	    call_class(call) == CLASS_RMA || strcmp(call_name(call), "MPI_Session_finalize") == 0;
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
