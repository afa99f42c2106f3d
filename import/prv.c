/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paraver traces, as Extrae writes them: MPI calls are pairs of events, messages records of their
 * own, which lie in calls by their logical times. What a request was is not told: a receive that is
 * posted completes in the waiting call that its data falls into; the wait for a send says nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "../stream/paraver.h"
#include "import.h"

struct call {
	int64_t enter_ns, leave_ns;
	uint64_t sent, received;	/* of a collective */
	uint32_t comm;			/* as in the file; 0: not told */
	uint16_t call;
	bool root;
};

enum { INSTRUCTIONS, CYCLES, COUNTERS };

struct task {
	struct call *calls;
	size_t count, capacity;
	bool in_call;
	int64_t end_ns;			/* of the last record */
	int64_t running_ns;		/* in state 1 */
	int64_t counted[COUNTERS];	/* in state 1 */
	struct pending { int64_t begin_ns; unsigned at_begin, before; } pending[COUNTERS];
};

struct transfer {
	int64_t sent_ns, posted_ns, arrived_ns;
	uint64_t bytes;
	uint32_t source, target;
	int32_t tag;
	uint64_t send_seq, post_seq, receive_seq;
};

/* A message in a call; several in one become its row and parts, in the order of the file. */
enum kind { ITEM_SEND, ITEM_POST, ITEM_RECEIVE };
struct item {
	uint32_t task;
	size_t call, message;
	enum kind kind;
};

struct prv {
	struct text text;
	struct build build;
	struct task *tasks;
	struct transfer *messages;
	size_t message_count, message_capacity;
	struct item *items;
	size_t item_count, item_capacity;
	struct comm { uint32_t number; int32_t size; } *comms;	/* by id */
	size_t comm_capacity;
	struct member { uint32_t comm, task; uint64_t index, seq; bool root; } *members;
	size_t member_count, member_capacity;
	uint16_t by_value[6][256];
	uint64_t other_threads;		/* records of further threads, which are not read */
};

enum { RUNNING = 1, INSTRUCTIONS_TYPE = 42000050, CYCLES_TYPE = 42000059 };

static uint16_t
call_of(const char *name)
{
	int number = call_number(name);

	if (number < 0)
		die("too many functions");
	return (uint16_t)number;
}

static uint16_t
call_of_event(struct prv *p, int64_t type, int64_t value)
{
	char name[48];

	if (value < 256 && p->by_value[type - PARAVER_TYPE][value] != 0)
		return p->by_value[type - PARAVER_TYPE][value];
	snprintf(name, sizeof name, "MPI event %d:%d", (int)type, (int)value);
	return call_of(name);
}

/* CPU:APPL:TASK:THREAD: the task, or NULL where it is another thread's. */
static struct task *
take_object(struct prv *p, char **at, uint32_t *number)
{
	int64_t task;

	text_integer(&p->text, at, 0, INT32_MAX);
	if (text_integer(&p->text, at, 1, INT32_MAX) != 1)
		die_text(&p->text, "a second application, which is not read");
	task = text_integer(&p->text, at, 1, p->build.ranks);
	*number = (uint32_t)task - 1;
	if (text_integer(&p->text, at, 1, INT32_MAX) == 1)
		return &p->tasks[task - 1];
	p->other_threads++;
	return NULL;
}

/* What began before now waits for a counter; what begins now does not yet. */
static void
settle_pending(struct pending *pending, int64_t now_ns)
{
	if (pending->begin_ns < now_ns) {
		pending->before += pending->at_begin;
		pending->at_begin = 0;
	}
}

static void
take_state(struct prv *p, char *at)
{
	uint32_t number;
	struct task *task = take_object(p, &at, &number);
	int64_t begin_ns = text_integer(&p->text, &at, 0, INT64_MAX);
	int64_t end_ns = text_integer(&p->text, &at, begin_ns, INT64_MAX);
	int state = (int)text_integer(&p->text, &at, 0, INT32_MAX);

	if (task == NULL)
		return;
	if (state != RUNNING)
		return;
	task->running_ns += end_ns - begin_ns;
	for (int c = 0; c < COUNTERS; c++) {
		settle_pending(&task->pending[c], begin_ns);
		task->pending[c].begin_ns = begin_ns;
		task->pending[c].at_begin++;
	}
	if (end_ns > task->end_ns)
		task->end_ns = end_ns;
}

/* As Paraver has it, a time in state Running counts what the first counter behind its begin says. */
static void
count_useful(struct task *task, int64_t at_ns, int64_t type, int64_t value)
{
	int c = type == INSTRUCTIONS_TYPE ? INSTRUCTIONS : CYCLES;
	struct pending *pending = &task->pending[c];

	if (type != INSTRUCTIONS_TYPE && type != CYCLES_TYPE)
		return;
	settle_pending(pending, at_ns);
	task->counted[c] += value * pending->before;
	pending->before = 0;
}

static void
begin_call(struct task *task, int64_t at_ns, uint16_t call)
{
	task->calls = grow(task->calls, &task->capacity, task->count + 1, sizeof *task->calls);
	task->calls[task->count++] = (struct call){ .enter_ns = at_ns, .leave_ns = at_ns, .call = call };
	task->in_call = true;
}

static void
take_events(struct prv *p, char *at)
{
	uint32_t number;
	struct task *task = take_object(p, &at, &number);
	int64_t at_ns = text_integer(&p->text, &at, 0, INT64_MAX);

	if (task == NULL)
		return;
	if (at_ns > task->end_ns)
		task->end_ns = at_ns;
	while (*at != '\0') {
		int64_t type = text_integer(&p->text, &at, 0, INT64_MAX);
		int64_t value = text_integer(&p->text, &at, INT64_MIN + 1, INT64_MAX);
		struct call *call = task->in_call ? &task->calls[task->count - 1] : NULL;

		if (type > PARAVER_TYPE && type <= PARAVER_TYPE + 5) {
			if (call != NULL)
				call->leave_ns = at_ns;
			task->in_call = false;
			if (value > 0)
				begin_call(task, at_ns, call_of_event(p, type, value));
		} else if (call != NULL && type == PARAVER_SEND_BYTES)
			call->sent = (uint64_t)value;
		else if (call != NULL && type == PARAVER_RECEIVE_BYTES)
			call->received = (uint64_t)value;
		else if (call != NULL && type == PARAVER_ROOT)
			call->root = value != 0;
		else if (call != NULL && type == PARAVER_COMM)
			call->comm = value > 0 && value < (1 << 24) ? (uint32_t)value : 0;
		else
			count_useful(task, at_ns, type, value);
	}
}

static void
take_message(struct prv *p, char *at)
{
	const struct text *t = &p->text;
	struct transfer m = { 0 };
	const struct task *from = take_object(p, &at, &m.source), *to;

	m.sent_ns = text_integer(t, &at, 0, INT64_MAX);
	text_integer(t, &at, 0, INT64_MAX);
	to = take_object(p, &at, &m.target);
	m.posted_ns = text_integer(t, &at, 0, INT64_MAX);
	m.arrived_ns = text_integer(t, &at, 0, INT64_MAX);
	m.bytes = (uint64_t)text_integer(t, &at, 0, INT64_MAX);
	m.tag = (int32_t)text_integer(t, &at, INT32_MIN + 1, INT32_MAX);
	if (from == NULL || to == NULL)
		return;
	p->messages = grow(p->messages, &p->message_capacity, p->message_count + 1,
	    sizeof *p->messages);
	p->messages[p->message_count++] = m;
}

/* c:APPL:COMMID:NPROC:task:task... */
static void
take_communicator(struct prv *p, char *at)
{
	size_t known = p->comm_capacity;
	int64_t id;
	int32_t size, *members;

	text_integer(&p->text, &at, 1, 1);
	id = text_integer(&p->text, &at, 1, 1 << 24);
	size = (int32_t)text_integer(&p->text, &at, 1, p->build.ranks);
	members = zalloc((size_t)size, sizeof *members);
	for (int32_t i = 0; i < size; i++)
		members[i] = (int32_t)text_integer(&p->text, &at, 1, p->build.ranks) - 1;
	p->comms = grow(p->comms, &p->comm_capacity, (size_t)id + 1, sizeof *p->comms);
	memset(p->comms + known, 0, (p->comm_capacity - known) * sizeof *p->comms);
	p->comms[id] = (struct comm){ build_comm(&p->build, members, size), size };
}

/* #Paraver (date at time):END_ns:NODES(cpus,...):APPLICATIONS:TASKS(...),COMMUNICATORS */
static void
take_header(struct prv *p)
{
	char *at;

	if (!text_next(&p->text) || strncmp(p->text.line, "#Paraver (", 10) != 0 ||
	    (at = strstr(p->text.line, "):")) == NULL)
		die_text(&p->text, "no Paraver trace: its first line begins with #Paraver");
	at += 2;
	text_integer(&p->text, &at, 0, INT64_MAX);
	if (strncmp(at, "_ns:", 4) != 0)
		die_text(&p->text, "times are not in nanoseconds");
	at += 4;
	text_integer(&p->text, &at, 0, INT32_MAX);
	if (*at == '(')
		at = strchr(at, ')');
	at = at != NULL ? strchr(at, ':') : NULL;
	if (at == NULL)
		die_text(&p->text, "the header is cut short");
	at++;
	if (text_integer(&p->text, &at, 1, INT32_MAX) != 1)
		die_text(&p->text, "several applications, which are not read");
	build_begin(&p->build, (uint32_t)text_integer(&p->text, &at, 1, 1 << 24));
	p->tasks = zalloc(p->build.ranks, sizeof *p->tasks);
}

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
	return call < task->count ? call_info(task->calls[call].call)->class : CLASS_LOCAL;
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
	enum call_class class = call_info(call->call)->class;
	uint32_t comm = class == CLASS_INIT ? 1 : call->comm;

	if (class >= CLASS_SEND && class <= CLASS_START)
		row.peer = NULL_PEER;
	if (is_collective(class) && comm > 0 && comm < p->comm_capacity && p->comms[comm].size > 0) {
		row.comm = p->comms[comm].number;
		row.bytes_sent = call->sent;
		row.bytes_received = call->received;
		p->members = grow(p->members, &p->member_capacity, p->member_count + 1,
		    sizeof *p->members);
		p->members[p->member_count++] = (struct member){ comm, task, 0,
		    p->build.rows[task].count, call->root };
	}
	build_row(&p->build, task, &row);
}

static void
put_rows(struct prv *p)
{
	size_t next = 0;

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
			if (first == next || (call_info(call->call)->class == CLASS_SENDRECV &&
			    p->items[first].kind != ITEM_SEND)) {
				put_plain(p, t, call, row);
				row.call = 0;
			}
			for (size_t i = first; i < next; i++, row.call = 0)
				put_item(p, &p->items[i], row);
		}
}

static int
by_instance(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return a->task < b->task ? -1 : a->task > b->task;
}

/* The k-th collectives of the members of a communicator are one instance. */
static void
match_collectives(struct prv *p)
{
	struct build *b = &p->build;
	uint64_t *calls = zalloc(p->comm_capacity + 1, sizeof *calls);

	/* They are in order of task and time. */
	for (size_t i = 0; i < p->member_count; i++) {
		if (i > 0 && p->members[i].task != p->members[i - 1].task)
			memset(calls, 0, p->comm_capacity * sizeof *calls);
		p->members[i].index = calls[p->members[i].comm]++;
	}
	free(calls);
	qsort(p->members, p->member_count, sizeof *p->members, by_instance);
	for (size_t i = 0, next; i < p->member_count; i = next) {
		int32_t root = NO_PEER;

		for (next = i; next < p->member_count && p->members[next].comm == p->members[i].comm &&
		    p->members[next].index == p->members[i].index; next++)
			if (p->members[next].root)
				root = (int32_t)(next - i);	/* its rank, for members are in order of task */
		if (next - i < (size_t)p->comms[p->members[i].comm].size) {
			b->unmatched_collectives++;
			continue;
		}
		build_instance(b);
		for (size_t k = i; k < next; k++) {
			b->rows[p->members[k].task].peer[p->members[k].seq] = root;
			build_member(b, p->members[k].task, p->members[k].seq);
		}
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
		row.call = call_of("exit");
		row.enter_ns = row.leave_ns = task->end_ns;
		build_row(&p->build, t, &row);
	}
}

static void
put_useful(struct prv *p)
{
	p->build.useful = zalloc(p->build.ranks, sizeof *p->build.useful);
	for (uint32_t t = 0; t < p->build.ranks; t++)
		p->build.useful[t] = (struct build_useful){ p->tasks[t].running_ns,
		    p->tasks[t].counted[INSTRUCTIONS], p->tasks[t].counted[CYCLES] };
}

void
import_prv(char **files, int argc, char **argv)
{
	const char *file = files[0];
	static struct prv p;

	text_open(&p.text, file);
	take_header(&p);
#define PARAVER_CALL(type, value, name) p.by_value[type][value] = call_of(name);
	PARAVER_CALLS
#undef PARAVER_CALL
	while (text_next(&p.text)) {
		char *line = p.text.line;

		if (line[0] == 'c' && line[1] == ':')
			take_communicator(&p, line + 2);
		else if (line[0] == '\0' || line[0] == '#' || line[1] != ':')
			continue;
		else if (line[0] == '1')
			take_state(&p, line + 2);
		else if (line[0] == '2')
			take_events(&p, line + 2);
		else if (line[0] == '3')
			take_message(&p, line + 2);
	}
	if (p.other_threads > 0)
		note("%llu records of further threads are left out", (unsigned long long)p.other_threads);
	for (size_t i = 0; i < p.message_count; i++)
		place_message(&p, i);
	put_rows(&p);
	put_ends(&p);
	match_collectives(&p);
	match_messages(&p);
	put_useful(&p);
	build_write(&p.build, argc, argv);
}
