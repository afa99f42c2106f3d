/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paraver traces, as written by Extrae. MPI calls are pairs of events. Messages are separate
 * records, and their logical times place them in calls. Requests are not recorded: a posted receive
 * completes in the waiting call during which its data arrives, and the wait for a send is not
 * known.
 */
#include <stdlib.h>
#include <string.h>

#include "prv.h"

enum { BYTES_OF_TASK = 640 };	/* of memory, for a task without records */
enum { RUNNING = 1, INSTRUCTIONS_TYPE = 42000050, CYCLES_TYPE = 42000059 };

/* CPU:APPL:TASK:THREAD: the task, or NULL for another thread. */
static struct task *
take_object(struct prv *p, char **at, uint32_t *number)
{
	int64_t task;

	text_integer(&p->text, at, 0, INT32_MAX);
	if (text_integer(&p->text, at, 1, INT32_MAX) != 1)
		die_text(&p->text, "a second application: only one is read");
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

	text_end(&p->text, at);
	p->last_ns = larger(p->last_ns, end_ns);
	if (task == NULL || state != RUNNING)
		return;
	if (__builtin_add_overflow(task->running_ns, end_ns - begin_ns, &task->running_ns))
		die_text(&p->text, "the times of a task are out of range");
	for (int c = 0; c < COUNTERS; c++) {
		settle_pending(&task->pending[c], begin_ns);
		task->pending[c].begin_ns = begin_ns;
		task->pending[c].at_begin++;
	}
	task->end_ns = larger(task->end_ns, end_ns);
}

/* As in Paraver, a period in state Running counts the first counter value after its begin. */
static void
count_useful(const struct prv *p, struct task *task, int64_t at_ns, int64_t type, int64_t value)
{
	int c = type == INSTRUCTIONS_TYPE ? INSTRUCTIONS : CYCLES;
	struct pending *pending = &task->pending[c];

	if (type != INSTRUCTIONS_TYPE && type != CYCLES_TYPE)
		return;
	settle_pending(pending, at_ns);
	if (__builtin_mul_overflow(value, pending->before, &value) ||
	    __builtin_add_overflow(task->counted[c], value, &task->counted[c]))
		die_text(&p->text, "the counters of a task are out of range");
	pending->before = 0;
}

static void
take_events(struct prv *p, char *at)
{
	static struct levels levels;
	uint32_t number;
	struct task *task = take_object(p, &at, &number);
	int64_t at_ns = text_integer(&p->text, &at, 0, INT64_MAX);

	p->last_ns = larger(p->last_ns, at_ns);
	if (task == NULL)
		return;
	task->end_ns = larger(task->end_ns, at_ns);
	levels.count = 0;
	while (*at != '\0') {
		int64_t type = text_integer(&p->text, &at, 0, INT64_MAX);
		int64_t value = text_integer(&p->text, &at, INT64_MIN + 1, INT64_MAX);
		struct call *call = task->in_call ? &task->call : NULL;

		if (type > PARAVER_TYPE && type <= PARAVER_TYPE + 5) {
			if (task->any && at_ns < task->call.leave_ns)
				die_text(&p->text,
				    "the records of a task are not in order of time");
			if (call != NULL)
				call->leave_ns = at_ns;
			task->in_call = false;
			if (value <= 0)
				continue;
			prv_put_call(p, number);
			task->call = (struct call){ .enter_ns = at_ns, .leave_ns = at_ns,
			    .call = build_event(&p->build, type, value) };
			task->any = task->in_call = true;
		} else if (value < 0 &&
		    (type == PARAVER_SEND_BYTES || type == PARAVER_RECEIVE_BYTES))
			die_text(&p->text, "the size of a collective is negative");
		else if (call != NULL && type == PARAVER_SEND_BYTES)
			call->sent = (uint64_t)value;
		else if (call != NULL && type == PARAVER_RECEIVE_BYTES)
			call->received = (uint64_t)value;
		else if (call != NULL && type == PARAVER_ROOT)
			call->root = value != 0;
		else if (call != NULL && type == PARAVER_COMM)
			call->comm = value > 0 && value < (1 << 24) ? (uint32_t)value : 0;
		else if (is_level(type, CALLER) || is_level(type, CALLER_LINE))
			callers_take(&levels, type, value);
		else
			count_useful(p, task, at_ns, type, value);
	}
	if (levels.count > 0 && task->in_call)
		task->call.site = callers_site(p, &levels);
}

static void
take_message(struct prv *p, char *at)
{
	const struct source *t = &p->text;
	struct item sent = { .is_send = true }, received = { 0 };
	const struct task *from = take_object(p, &at, &sent.task), *to;

	sent.at_ns = text_integer(t, &at, 0, INT64_MAX);
	text_integer(t, &at, 0, INT64_MAX);
	to = take_object(p, &at, &received.task);
	received.at_ns = text_integer(t, &at, 0, INT64_MAX);
	received.arrived_ns = text_integer(t, &at, 0, INT64_MAX);
	sent.bytes = received.bytes = (uint64_t)text_integer(t, &at, 0, INT64_MAX);
	sent.tag = received.tag = (int32_t)text_integer(t, &at, INT32_MIN + 1, INT32_MAX);
	text_end(t, at);
	p->last_ns = larger(p->last_ns, larger(received.arrived_ns, sent.at_ns));
	if (from == NULL || to == NULL)
		return;
	sent.peer = received.task;
	received.peer = sent.task;
	sent.message = received.message = p->message_count++;
	sorter_add(&p->items, &sent);
	sorter_add(&p->items, &received);
}

FILE *
open_beside(const char *file, const char *suffix)
{
	const char *end = file != NULL ? strstr(file, ".prv") : NULL;
	char *path;
	FILE *in;

	for (const char *next = end; next != NULL; next = strstr(next + 1, ".prv"))
		end = next;
	if (end == NULL)
		return NULL;
	path = formatted("%.*s%s", (int)(end - file), file, suffix);
	in = fopen(path, "r");
	free(path);
	return in;
}

/* The names of the applications, from the .row beside the trace. */
static _Noreturn void
refuse_applications(const struct prv *p, const char *file, int64_t count)
{
	char *line = NULL, names[256] = "", what[400];
	size_t capacity = 0, used = 0;
	long left = 0;
	FILE *in = open_beside(file, ".row");

	while (in != NULL && getline(&line, &capacity, in) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (sscanf(line, "LEVEL APPL SIZE %ld", &left) == 1)
			continue;
		if (left > 0 && used + 2 < sizeof names) {
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%.100s",
			    used > 0 ? ", " : ": ", line);
			left--;
		}
	}
	snprintf(what, sizeof what, "%lld applications, which are not read%s",
	    (long long)count, names);
	die_text(&p->text, what);
}

/* #Paraver (date at time):END_ns:NODES(cpus,...):APPLICATIONS:TASKS(...),COMMUNICATORS */
static void
take_header(struct prv *p, const char *file)
{
	int64_t ranks, applications;
	char *at;

	if (!text_next(&p->text) || strncmp(p->text.line, "#Paraver (", 10) != 0 ||
	    (at = strstr(p->text.line, "):")) == NULL)
		die_text(&p->text, "not a Paraver trace: its first line lacks #Paraver");
	at += 2;
	p->end_ns = text_integer(&p->text, &at, 0, INT64_MAX);
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
	if ((applications = text_integer(&p->text, &at, 1, INT32_MAX)) != 1)
		refuse_applications(p, file, applications);
	ranks = text_integer(&p->text, &at, 1, 1 << 24);
	if ((uint64_t)ranks > p->text.next ||	/* the header lists their threads and nodes */
	    !text_allows(&p->text, (uint64_t)ranks, BYTES_OF_TASK))
		die_text(&p->text, "there are more tasks than the line lists");
	build_begin(&p->build, (uint32_t)ranks, NULL, 0);
	prv_begin(p);
}

void
import_prv(const char *file, int argc, char **argv)
{
	static struct prv p;

	text_open(&p.text, file);
	p.callers = callers_new();
	take_header(&p, file);
	while (text_next(&p.text)) {
		char *line = p.text.line;

		if (line[0] == 'c' && line[1] == ':') {
			line += 2;
			text_integer(&p.text, &line, 1, 1);
			build_comm(&p.build, &p.text, line, 1);
		} else if (line[0] == '\0' || line[0] == '#')
			continue;
		else if (line[1] != ':')
			die_text(&p.text, "a record of a kind that is not known");
		else if (line[0] == '1')
			take_state(&p, line + 2);
		else if (line[0] == '2')
			take_events(&p, line + 2);
		else if (line[0] == '3')
			take_message(&p, line + 2);
		else
			die_text(&p.text, "a record of a kind that is not known");
	}
	if (p.last_ns < p.end_ns) {
		char what[160];

		snprintf(what, sizeof what, "the last record is of %lld ns and the first line says "
		    "%lld ns: the trace is cut", (long long)p.last_ns, (long long)p.end_ns);
		die_text(&p.text, what);
	}
	if (p.other_threads > 0)
		note("%llu records of further threads are left out",
		    (unsigned long long)p.other_threads);
	prv_rows(&p);
	p.build.useful = zalloc(p.build.ranks, sizeof *p.build.useful);
	for (uint32_t t = 0; t < p.build.ranks; t++)
		p.build.useful[t] = (struct build_useful){ p.tasks[t].running_ns,
		    p.tasks[t].counted[INSTRUCTIONS], p.tasks[t].counted[CYCLES] };
	callers_names(&p, file);
	p.build.define = callers_write;
	p.build.context = p.callers;
	build_write(&p.build, argc, argv);
}
