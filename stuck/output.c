/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict as a sentence, a table and stacks, or as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "../base/tool/text.h"
#include "../base/tool/tool.h"
#include "stuck.h"

/* ---- stacks of processes of this host, by elfutils' libdwfl ---- */

enum { MOST_FRAMES = 64, MOST_STACKS = 8 };

static char *debug_path;
static const Dwfl_Callbacks running = {
	.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debug_path,
};

struct frames {
	char **lines;
	size_t count;
};

static int
add_frame(Dwfl_Frame *frame, void *to)
{
	struct frames *frames = to;
	Dwarf_Addr pc;
	bool is_call;
	Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(frame));
	struct site place = { 0 };
	Dwfl_Module *module;
	char *text;

	if (frames->count == MOST_FRAMES || !dwfl_frame_pc(frame, &pc, &is_call))
		return DWARF_CB_ABORT;
	pc -= is_call;
	if ((module = dwfl_addrmodule(dwfl, pc)) != NULL)
		module_find(module, pc, &place);
	text = place_text(&place);
	frames->lines[frames->count++] = text != NULL ? text : need(strdup("?"));
	site_forget(&place);
	return DWARF_CB_OK;
}

/*
 * Lines "function file:line", innermost first, NULL at the end; NULL: not available. Stops the
 * process for a moment.
 */
static char **
stack_of(const struct rank *rank, uint32_t thread)
{
	struct frames frames = { zalloc(MOST_FRAMES + 1, sizeof *frames.lines), 0 };
	Dwfl *dwfl = rank->life == ALIVE && rank->state != 'T' ? dwfl_begin(&running) : NULL;

	if (dwfl != NULL && dwfl_linux_proc_report(dwfl, (pid_t)rank->pid) == 0 &&
	    dwfl_report_end(dwfl, NULL, NULL) == 0 &&
	    dwfl_linux_proc_attach(dwfl, (pid_t)rank->pid, false) == 0)
		dwfl_getthread_frames(dwfl, (pid_t)thread, add_frame, &frames);
	dwfl_end(dwfl);
	if (frames.count > 0)
		return frames.lines;
	free(frames.lines);
	return NULL;
}

/* ---- output ---- */

static const char *const states[] = { "ended", "moving", "stuck", "ended" };

static double
since_s(const struct look *look, const struct thread *thread)
{
	return thread->since_ns == INT64_MIN ? NAN :
	    (double)(look->now_ns - thread->since_ns) / 1e9;
}

static bool
has_peer(const struct thread *thread)
{
	return thread->call != 0 && !call_polls(thread->call) && thread->open.peer != NO_PEER;
}

static void
put_text_or_null(struct json *out, const char *key, const char *text)
{
	if (text != NULL)
		json_text(out, key, text);
	else
		json_null(out, key);
}

static void
put_int_or_null(struct json *out, const char *key, bool known, int64_t value)
{
	if (known)
		json_int(out, key, value);
	else
		json_null(out, key);
}

static void
put_stack(struct json *out, const struct rank *rank, const struct thread *thread)
{
	char **lines = rank->blamed ? stack_of(rank, thread->open.thread) : NULL;

	json_begin_array(out, "stack");
	for (size_t i = 0; lines != NULL && lines[i] != NULL; i++) {
		json_text(out, NULL, lines[i]);
		free(lines[i]);
	}
	json_end_array(out);
	free(lines);
}

static void
put_call(struct json *out, const struct look *look, const struct thread *thread)
{
	const struct rank *rank = &look->ranks[thread->rank];
	const struct open_call *open = &thread->open;
	const struct site place = look_place(look, rank, open->address);
	uint32_t site = 0;
	const bool in_call = thread->call != 0, plain = in_call && !call_polls(thread->call);

	for (size_t i = 0; i < rank->site_count && site == 0; i++)
		if (rank->sites[i].address == open->address)
			site = rank->sites[i].site;
	json_break(out);
	json_begin_object(out, NULL);
	json_int(out, "rank", thread->rank);
	json_uint(out, "thread", thread->location);
	put_text_or_null(out, "call", in_call ? call_name(thread->call) : NULL);
	json_fixed(out, "since_s", since_s(look, thread), 6);
	put_int_or_null(out, "site", site > 0, site);
	put_text_or_null(out, "function", place.function);
	put_text_or_null(out, "file", place.file != NULL ? file_name(place.file) : NULL);
	put_int_or_null(out, "line", place.line > 0, place.line);
	put_int_or_null(out, "comm", plain && open->comm > 0, open->comm);
	put_int_or_null(out, "collective", plain && open->collective > 0,
	    (int64_t)open->collective - 1);
	put_int_or_null(out, "peer", has_peer(thread), open->peer);
	put_int_or_null(out, "tag", plain && open->tag != NO_TAG, open->tag);
	put_int_or_null(out, "requests", plain && call_class(thread->call) == CLASS_COMPLETE,
	    open->requests);
	if (rank->state != 0)
		json_bool(out, "on_core", rank->state == 'R');
	else
		json_null(out, "on_core");
	put_stack(out, rank, thread);
	json_end_object(out);
}

static void
output_json(const struct verdict *verdict, struct text *text)
{
	const struct look *look = verdict->look;
	struct json out;

	json_begin(&out, text);
	json_begin_object(&out, NULL);
	json_text(&out, "state", states[verdict->state]);
	json_text(&out, "kind", kind_names[verdict->kind]);
	json_begin_array(&out, "ranks");
	for (int32_t r = 0; r < look->rank_count; r++)
		if (verdict->kind != NO_KIND && look->ranks[r].blamed)
			json_int(&out, NULL, r);
	json_end_array(&out);
	json_text(&out, "sentence", verdict->sentence);
	json_begin_array(&out, "calls");
	for (const struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; )
		put_call(&out, look, thread);
	json_end_array(&out);
	json_end_object(&out);
	json_end_line(&out);
}

/* Threads that share a line of the table: in the same call at the same place. */
static bool
same_line(const struct look *look, const struct thread *a, const struct thread *b)
{
	const bool computes = a->call == 0;

	return a->call == b->call && look->ranks[a->rank].blamed == look->ranks[b->rank].blamed &&
	    look->ranks[a->rank].life == look->ranks[b->rank].life &&
	    (!look->ranks[a->rank].blamed || is_collective(call_class(a->call))) && (computes ||
	    (a->open.collective == b->open.collective && a->open.comm == b->open.comm &&
	    a->open.peer == b->open.peer && a->open.tag == b->open.tag));
}

static void
put_known(struct table_writer *table, bool known, int64_t value)
{
	if (known)
		table_int(table, value);
	else
		table_text(table, "-");
}

static void
put_line(struct table_writer *table, const struct look *look, const struct thread *thread,
    size_t others)
{
	static const char *const lives[] = { "absent", "", "", "dead", "ended" };
	const struct rank *rank = &look->ranks[thread->rank];
	const struct site place = look_place(look, rank, thread->open.address);
	const bool plain = thread->call != 0 && !call_polls(thread->call);
	char *where = place_text(&place);
	char state[2] = { rank->state, '\0' };

	if (others > 0)
		table_format(table, "%d and %zu more", thread->rank, others);
	else
		table_int(table, thread->rank);
	table_text(table,
	    rank->life == ENDED ? "-" : thread->call == 0 ? "computing" : call_name(thread->call));
	table_fixed(table, since_s(look, thread), 3);
	put_known(table, plain && thread->open.comm > 0, thread->open.comm);
	put_known(table, plain && thread->open.collective > 0,
	    (int64_t)thread->open.collective - 1);
	put_known(table, has_peer(thread), thread->open.peer);
	put_known(table, plain && thread->open.tag != NO_TAG, thread->open.tag);
	table_text(table, lives[rank->life][0] != '\0' ? lives[rank->life] :
	    rank->state != 0 ? state : "-");
	table_text(table, where != NULL ? where : "-");
	free(where);
	table_end_line(table);
}

static void
put_lines(struct table_writer *table, const struct look *look, bool blamed)
{
	static struct { const struct thread *first; size_t others; } *lines;
	static size_t capacity;
	size_t count = 0, i;

	for (const struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; ) {
		if (look->ranks[thread->rank].blamed != blamed)
			continue;
		for (i = 0; i < count && !same_line(look, thread, lines[i].first); i++)
			;
		if (i < count)
			lines[i].others++;
		else
			APPEND(lines, count, capacity)->first = thread;
	}
	for (i = 0; i < count; i++)
		put_line(table, look, lines[i].first, lines[i].others);
}

static void
put_stacks(struct text *text, const struct look *look)
{
	int told = 0;

	for (const struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; ) {
		const struct rank *rank = &look->ranks[thread->rank];
		char **lines = rank->blamed && told < MOST_STACKS ?
		    stack_of(rank, thread->open.thread) : NULL;

		told += lines != NULL;
		for (size_t i = 0; lines != NULL && lines[i] != NULL; i++) {
			if (i == 0)
				text_line(text, "stack of rank %d: %s", thread->rank, lines[i]);
			else
				text_line(text, "       %s", lines[i]);
			free(lines[i]);
		}
		free(lines);
	}
}

void
output(const struct verdict *verdict, const struct options *opt)
{
	const struct look *look = verdict->look;
	static struct text text;
	struct table_writer table;

	text_begin(&text, stdout, NULL);
	if (opt->json)
		output_json(verdict, &text);
	else {
		text_visible(&text, verdict->sentence);
		text_char(&text, '\n');
		if (verdict->state != ENDED_WELL) {
			table_begin(&table, &text,
			    "rank\tcall\tsince_s\tcomm\tcollective\tpeer\ttag\tstate\tplace");
			put_lines(&table, look, true);
			put_lines(&table, look, false);
			table_end(&table);
		}
		if (verdict->kind == WAITING)
			put_stacks(&text, look);
	}
	text_flush(&text);
}
