/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a Paraver trace find their calls, and calls become rows. */
#include <stdlib.h>
#include <string.h>

#include "prv.h"
#include "../../base/mpi/call_class.h"

/* The call of a task that was entered last by then; or the number of calls where there is none. */
static size_t
call_at(const struct task *task, int64_t at_ns)
{
	size_t low = 0, high = task->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (task->calls[middle].enter_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && task->calls[low - 1].leave_ns >= at_ns ? low - 1 : task->count;
}

static enum call_class
class_at(const struct task *task, size_t call)
{
	return call < task->count ? call_class(task->calls[call].call) : CLASS_LOCAL;
}

static void
add_item(struct prv *p, uint32_t task, size_t call, size_t message, enum kind kind)
{
	if (call >= p->tasks[task].count)
		return;
	p->items = grow(p->items, &p->item_capacity, p->item_count + 1, sizeof *p->items);
	p->items[p->item_count++] = (struct item){ task, call, message, kind };
}

/* The waiting call that the data of a posted receive falls into, or the next one behind it. */
static size_t
completion_at(const struct task *task, size_t post, int64_t at_ns)
{
	size_t call = post + 1;

	while (call < task->count && (class_at(task, call) != CLASS_COMPLETE ||
	    task->calls[call].leave_ns < at_ns))
		call++;
	return call;
}

static void
place_message(struct prv *p, size_t message)
{
	struct transfer *m = &p->messages[message];
	const struct task *to = &p->tasks[m->target];
	size_t post = call_at(to, m->posted_ns);
	enum call_class class = class_at(to, post);

	m->send_seq = m->post_seq = m->receive_seq = UINT64_MAX;
	add_item(p, m->source, call_at(&p->tasks[m->source], m->sent_ns), message, ITEM_SEND);
	if (class == CLASS_RECV_START || class == CLASS_START) {
		add_item(p, m->target, post, message, ITEM_POST);
		post = completion_at(to, post, m->arrived_ns);
	}
	add_item(p, m->target, post, message, ITEM_RECEIVE);
}

static int
by_call(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	if (a->kind != b->kind)	/* the send of MPI_Sendrecv is its row */
		return a->kind < b->kind ? -1 : 1;
	return a->message < b->message ? -1 : a->message > b->message;
}

static void
put_item(struct prv *p, const struct item *item, struct build_row row)
{
	struct transfer *m = &p->messages[item->message];
	uint64_t seq = p->build.rows[item->task].count;

	row.comm = 1;
	row.peer = (int32_t)(item->kind == ITEM_SEND ? m->target : m->source);
	row.tag = m->tag;
	*(item->kind == ITEM_SEND ? &row.bytes_sent : &row.bytes_received) = m->bytes;
	if (item->kind == ITEM_SEND)
		m->send_seq = seq;
	else if (item->kind == ITEM_POST)
		m->post_seq = seq;
	else {
		m->receive_seq = seq;
		if (m->post_seq != UINT64_MAX)
			row.request = (uint32_t)(seq - m->post_seq);
	}
	build_row(&p->build, item->task, &row);
}

/* A call without a message: a collective, or nothing that anybody waits for. */
static void
put_plain(struct prv *p, uint32_t task, const struct call *call, struct build_row row)
{
	enum call_class class = call_class(call->call);
	uint32_t comm = class == CLASS_INIT ? 1 : call->comm;

	if (class >= CLASS_SEND && class <= CLASS_START)
		row.peer = NULL_PEER;
	if (is_collective(class) && comm > 0 && comm < p->comm_capacity && p->comms[comm].size > 0) {
		row.comm = p->comms[comm].number;
		row.bytes_sent = call->sent;
		row.bytes_received = call->received;
		build_called(&p->build, &(struct build_call){ .comm = comm, .size = p->comms[comm].size,
		    .rank = task, .location = task, .seq = p->build.rows[task].count, .root = call->root });
	}
	build_row(&p->build, task, &row);
}

static void
put_rows(struct prv *p)
{
	size_t next = 0;

	if (p->item_count > 0)
		qsort(p->items, p->item_count, sizeof *p->items, by_call);
	for (uint32_t t = 0; t < p->build.ranks; t++)
		for (size_t c = 0; c < p->tasks[t].count; c++) {
			const struct call *call = &p->tasks[t].calls[c];
			struct build_row row = BUILD_ROW;
			size_t first = next;

			row.enter_ns = call->enter_ns;
			row.leave_ns = call->leave_ns;
			row.call = call->call;
			while (next < p->item_count && p->items[next].task == t && p->items[next].call == c)
				next++;
			/* MPI_Sendrecv that only receives: its send went to nobody. */
			if (first == next || (call_class(call->call) == CLASS_SENDRECV &&
			    p->items[first].kind != ITEM_SEND)) {
				put_plain(p, t, call, row);
				row.call = 0;
			}
			for (size_t i = first; i < next; i++, row.call = 0)
				put_item(p, &p->items[i], row);
		}
}

static void
match_messages(struct prv *p)
{
	for (size_t i = 0; i < p->message_count; i++) {
		const struct transfer *m = &p->messages[i];

		if (m->send_seq == UINT64_MAX)
			p->build.unmatched_receives++;
		else if (m->receive_seq == UINT64_MAX)
			p->build.unmatched_sends++;
		else
			build_message(&p->build, m->source, m->send_seq, m->target, m->receive_seq);
	}
}

/* A rank that goes on behind its last call gets a row at its end. */
static void
put_ends(struct prv *p)
{
	for (uint32_t t = 0; t < p->build.ranks; t++) {
		const struct task *task = &p->tasks[t];
		struct build_row row = BUILD_ROW;

		if (task->count > 0 && task->calls[task->count - 1].leave_ns >= task->end_ns)
			continue;
		row.call = build_call("exit");
		row.enter_ns = row.leave_ns = task->end_ns;
		build_row(&p->build, t, &row);
	}
}

void
prv_rows(struct prv *p)
{
	for (size_t i = 0; i < p->message_count; i++)
		place_message(p, i);
	put_rows(p);
	put_ends(p);
	build_match(&p->build);
	match_messages(p);
}
