/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assigns messages of a Paraver trace to calls, and makes rows of calls, task by task, with calls
 * and sides of messages in order of time. Memory holds those of one call, and the open posted
 * receives of one task.
 */
#include <stdlib.h>

#include "prv.h"
#include "../../base/tool/heap.h"

/* Sides of messages in a call become its row and parts, in this order. */
enum kind { ITEM_SEND, ITEM_POST, ITEM_RECEIVE };

struct part {
	enum kind kind;
	struct item item;
	uint64_t post;		/* ITEM_RECEIVE: row of the post, or UINT64_MAX */
};

/* A posted receive completes in the first waiting call after it during which its data arrives. */
#define OPEN_BEFORE(a, b) ((a)->item.arrived_ns != (b)->item.arrived_ns ? \
	(a)->item.arrived_ns < (b)->item.arrived_ns : (a)->item.message < (b)->item.message)
HEAP(opens, struct part, OPEN_BEFORE)

struct rows {			/* of a task, under construction */
	struct prv *p;
	uint32_t task;
	struct part *parts;	/* of the call */
	size_t count, capacity;
	struct part *open;
	size_t open_count, open_capacity;
};

ORDER(by_item, struct item, BY(task) BY(at_ns) BY(message) BY(is_send))

void
prv_begin(struct prv *p)
{
	p->tasks = zalloc(p->build.ranks, sizeof *p->tasks);
	spill_begin(&p->calls, p->build.ranks);
	sorter_begin(&p->items, sizeof(struct item), by_item);
}

void
prv_put_call(struct prv *p, uint32_t number)
{
	struct task *task = &p->tasks[number];

	if (task->any)
		spill_put_record(&p->calls, number, &task->put, &task->call, sizeof task->call);
}

static bool
take_call(struct prv *p, uint32_t number, struct call *call)
{
	struct task *task = &p->tasks[number];

	if (!spill_any(&p->calls, number))
		return false;
	spill_take_record(&p->calls, number, &task->put, sizeof task->put);
	*call = task->put;
	return true;
}

/* The row of one side of a message, or NOWHERE. */
static void
place(struct prv *p, const struct item *item, uint64_t seq)
{
	sorter_add(&p->build.sides, &(struct build_call){ .channel = { item->message },
	    .member = item->is_send ? SEND_SIDE : RECEIVE_SIDE, .location = item->task,
	    .seq = seq });
}

/* Assigns the task's next side of a message before NEXT_NS to this call, or to none. */
static void
take_item(struct rows *r, const struct call *call)
{
	const struct item *item = sorter_peek(&r->p->items);
	enum call_class class = call != NULL ? call_class(call->call) : CLASS_LOCAL;

	if (!text_allows(&r->p->text, r->count + r->open_count, 4 * sizeof *r->open))
		die_text(&r->p->text, "too many messages at a time");
	if (call == NULL || item->at_ns < call->enter_ns || item->at_ns > call->leave_ns)
		place(r->p, item, NOWHERE);
	else
		*APPEND(r->parts, r->count, r->capacity) = (struct part){ item->is_send ?
		    ITEM_SEND : class == CLASS_RECV_START || class == CLASS_START ? ITEM_POST :
		    ITEM_RECEIVE, *item, UINT64_MAX };
	sorter_drop(&r->p->items);
}

/* Whether the next side of a message belongs to this task, before its next call; NULL: no call. */
static bool
item_before(struct rows *r, const struct call *next)
{
	const struct item *item = sorter_peek(&r->p->items);

	return item != NULL && item->task == r->task &&
	    (next == NULL || item->at_ns < next->enter_ns);
}

/* The send of MPI_Sendrecv is its row. */
ORDER(by_part, struct part, BY(kind) BY(item.message))

static void
put_part(struct rows *r, const struct part *part, struct call_row row)
{
	const struct item *item = &part->item;
	uint64_t seq = r->p->build.of[r->task].rows;

	row.comm = 1;
	row.peer = (int32_t)item->peer;
	row.tag = item->tag;
	*(item->is_send ? &row.bytes_sent : &row.bytes_received) = item->bytes;
	if (part->post != UINT64_MAX)
		row.request = (uint32_t)(seq - part->post);
	if (part->kind != ITEM_POST)
		place(r->p, item, seq);
	else {
		GROW(r->open, r->open_capacity, r->open_count + 1);
		opens_push(r->open, &r->open_count, (struct part){ ITEM_RECEIVE, *item, seq });
	}
	build_row(&r->p->build, r->task, &row);
}

/* A call without messages: a collective, or one without partners. */
static void
put_plain(struct prv *p, uint32_t task, const struct call *call, struct call_row row)
{
	enum call_class class = call_class(call->call);
	uint32_t comm = class == CLASS_INIT ? 1 : call->comm;

	if (class >= CLASS_SEND && class <= CLASS_START)
		row.peer = NULL_PEER;
	if (is_collective(class) && comm > 0 && comm < p->build.id_capacity &&
	    p->build.ids[comm] != 0) {
		row.comm = p->build.ids[comm];
		row.bytes_sent = call->sent;
		row.bytes_received = call->received;
		sorter_add(&p->build.calls, &(struct build_call){ .channel = { comm },
		    .size = (uint32_t)p->build.comms[row.comm].size, .member = task,
		    .location = task, .seq = p->build.of[task].rows, .root = call->root });
	}
	build_row(&p->build, task, &row);
}

static void
put_call(struct rows *r, const struct call *call)
{
	struct call_row row = CALL_ROW;

	row.enter_ns = call->enter_ns;
	row.leave_ns = call->leave_ns;
	row.call = call->call;
	row.site = call->site;
	SORT(r->parts, r->count, by_part);
	/* MPI_Sendrecv that only receives: its send went to MPI_PROC_NULL. */
	if (r->count == 0 ||
	    (call_class(call->call) == CLASS_SENDRECV && r->parts[0].kind != ITEM_SEND)) {
		put_plain(r->p, r->task, call, row);
		row.call = 0;
	}
	for (size_t i = 0; i < r->count; i++, row.call = 0)
		put_part(r, &r->parts[i], row);
	r->count = 0;
}

static void
put_task(struct rows *r)
{
	const struct task *task = &r->p->tasks[r->task];
	struct call_row end = CALL_ROW;
	struct call call, next;
	bool more = take_call(r->p, r->task, &next);

	while (item_before(r, more ? &next : NULL))
		take_item(r, NULL);
	while (more) {
		call = next;
		more = take_call(r->p, r->task, &next);
		/* Of calls entered at one time, the last one gets the messages. */
		while (item_before(r, more ? &next : NULL))
			take_item(r, &call);
		/* receives posted before this call whose data arrived by its end */
		while (call_class(call.call) == CLASS_COMPLETE && r->open_count > 0 &&
		    r->open[0].item.arrived_ns <= call.leave_ns)
			*APPEND(r->parts, r->count, r->capacity) = opens_pop(r->open,
			    &r->open_count);
		put_call(r, &call);
	}
	for (; r->open_count > 0; r->open_count--)
		place(r->p, &r->open[r->open_count - 1].item, NOWHERE);
	/* A rank that continues after its last call gets a row at its end. */
	if (!task->any || task->call.leave_ns < task->end_ns) {
		end.call = build_call("exit");
		end.enter_ns = end.leave_ns = task->end_ns;
		build_row(&r->p->build, r->task, &end);
	}
}

void
prv_rows(struct prv *p)
{
	struct rows rows = { .p = p };

	for (uint32_t t = 0; t < p->build.ranks; t++) {
		prv_put_call(p, t);
		p->tasks[t].put = (struct call){ 0 };
	}
	spill_read(&p->calls);
	sorter_sort(&p->items);
	for (; rows.task < p->build.ranks; rows.task++)
		put_task(&rows);
	sorter_free(&p->items);
	spill_free(&p->calls);
	free(rows.parts);
	free(rows.open);
	build_match(&p->build, &p->build.calls, true);
	build_match(&p->build, &p->build.sides, false);
}
