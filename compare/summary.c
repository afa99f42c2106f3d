/* SPDX-License-Identifier: BSD-3-Clause */
/* Summaries as streams: a process per run writes one, the comparing process reads them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/tool/process.h"
#include "compare.h"

const char *const section_kinds[] = { "step", "region", NULL };

static void
write_place(struct writer *out, const struct site_sums *p, bool switched)
{
	message_begin(out, "place", 18u + switched + (p->visits > 0 ? 4 : 0));
	put_string(out, "function", p->function != NULL ? p->function : "");
	put_string(out, "file", p->file != NULL ? p->file : "");
	put_string(out, "call", p->call != NULL ? p->call : "");
	put_int(out, "line", p->line);
	put_uint(out, "order", p->order);
	put_column(out, "path_ns", p->path_ns, KINDS);
	if (switched)
		put_column(out, "core_ns", p->core_ns, CORE_PARTS);
	put_uint(out, "ranks", p->rank_count);
	put_column(out, "rank", p->rank, p->rank_count);
	put_column(out, "rank_path_ns", p->rank_ns, p->rank_count);
	put_int(out, "total_ns", p->total_ns);
	put_int(out, "wait_ns", p->wait_ns);
	put_int(out, "delay_ns", p->delay_ns);
	put_uint(out, "calls", p->calls);
	put_uint(out, "bytes_sent", p->sent_bytes);
	put_uint(out, "bytes_received", p->received_bytes);
	put_uint(out, "comm", p->comm);
	put_int(out, "comm_size", p->comm_size);
	put_int(out, "polls", p->polls);
	if (p->visits > 0) {
		put_uint(out, "visits", p->visits);
		put_uint(out, "position_visits", p->position_visits);
		put_column(out, "computing_ns", p->position_ns[COMPUTING], positions_of(p));
		put_column(out, "communication_ns", p->position_ns[COMMUNICATION], positions_of(p));
	}
	end_message(out);
}

void
summary_write(const struct summary *s, struct reader *in, int by, int argc, char **argv)
{
	struct writer out;

	need_output(writer_open(&out, STDOUT_FILENO, "summary", in, argc, argv));
	message_begin(&out, "summary", (isfinite(s->of.parallel) ? 17u : 14u) + (s->load != NULL) +
	    isfinite(s->preempted) + (s->rank_core_ns != NULL));
	put_string(&out, "program", s->program != NULL ? s->program : "");
	put_int(&out, "ranks", s->ranks);
	put_int(&out, "run_ns", s->run_ns);
	put_int(&out, "date_s", s->date_s);
	put_string(&out, "hosts", s->hosts != NULL ? s->hosts : "");
	if (s->load != NULL)
		put_string(&out, "load", s->load);
	if (isfinite(s->preempted))
		put_double(&out, "preempted", s->preempted);
	put_int(&out, "span_ns", s->of.span_ns);
	put_int(&out, "useful_ns", s->of.useful_total_ns);
	put_uint(&out, "messages", s->messages);
	put_uint(&out, "collectives", s->collectives);
	put_uint(&out, "communicators", s->communicators);
	put_uint(&out, "places", s->count);
	put_column(&out, "wait_ns", s->wait_ns, STATES);
	put_column(&out, "rank_ns", s->rank_ns, (size_t)s->ranks);
	if (s->rank_core_ns != NULL)
		put_column(&out, "rank_core_ns", s->rank_core_ns, (size_t)s->ranks * CORE_PARTS);
	put_column(&out, "phase_ns", s->phase_ns, s->count + 1);
	if (isfinite(s->of.parallel)) {
		put_double(&out, "parallel", s->of.parallel);
		put_double(&out, "load_balance", s->of.load_balance);
		put_double(&out, "communication", s->of.communication);
	}
	end_message(&out);
	for (size_t i = 0; i < s->variable_count; i++)
		need_output(variable_write(&out, &s->environment[i]));
	for (size_t i = 0; i < s->count; i++)
		write_place(&out, &s->places[i], s->rank_core_ns != NULL);
	for (size_t i = 0; i < s->lists[FUNCTIONS].times.count; i++) {
		const struct function_time *f = &s->lists[FUNCTIONS].times.at[i];

		message_begin(&out, "function", 4);
		put_string(&out, "function", f->name);
		put_string(&out, "file", f->file != NULL ? f->file : "");
		put_int(&out, "path_ns", f->path_ns);
		put_int(&out, "all_ns", f->all_ns);
		end_message(&out);
	}
	for (size_t i = 0; i < s->lists[SECTIONS].times.count; i++) {
		message_begin(&out, section_kinds[by], 2);
		put_string(&out, "name", s->lists[SECTIONS].times.at[i].name);
		put_int(&out, "path_ns", s->lists[SECTIONS].times.at[i].path_ns);
		end_message(&out);
	}
	need_output(writer_end(&out));
}

/* ---- reading ---------------------------------------------------------------------------- */

static char *
text_of(const struct message *message, const char *key)
{
	char *text = body_string(message, key);

	if (text != NULL && text[0] == '\0') {
		free(text);
		return NULL;
	}
	return text;
}

static double
number_of(const struct message *message, const char *key)
{
	const msgpack_object *value = body_get(message, key);

	return value != NULL && (value->type == MSGPACK_OBJECT_FLOAT32 ||
	    value->type == MSGPACK_OBJECT_FLOAT64) ? value->via.f64 : NAN;
}

static void
read_head(struct summary *s, struct reader *in, const struct message *message)
{
	const int64_t most = (int64_t)message->size;	/* a column has at least a byte per row */

	/* Older summaries lack some of it; without switches there are no rank_core_ns. */
	if (body_int(in, message, "ranks", 1, most, &s->ranks) < 0 ||
	    body_int(in, message, "places", 0, most, &s->capacity) < 0 ||
	    body_int(in, message, "run_ns", 0, INT64_MAX, &s->run_ns) < 0 ||
	    body_int_if(in, message, "date_s", 0, INT64_MAX, &s->date_s) < 0 ||
	    body_int_if(in, message, "span_ns", 0, INT64_MAX, &s->of.span_ns) < 0 ||
	    body_int_if(in, message, "useful_ns", 0, INT64_MAX, &s->of.useful_total_ns) < 0 ||
	    body_uint(in, message, "messages", &s->messages) < 0 ||
	    body_uint(in, message, "collectives", &s->collectives) < 0 ||
	    body_uint(in, message, "communicators", &s->communicators) < 0)
		die_input(in);
	s->rank_ns = zalloc((size_t)s->ranks, sizeof *s->rank_ns);
	s->phase_ns = zalloc(s->capacity + 1, sizeof *s->phase_ns);
	s->places = zalloc(s->capacity, sizeof *s->places);
	s->program = text_of(message, "program");
	s->hosts = text_of(message, "hosts");
	s->load = text_of(message, "load");
	s->preempted = number_of(message, "preempted");
	s->of.parallel = number_of(message, "parallel");
	s->of.load_balance = number_of(message, "load_balance");
	s->of.communication = number_of(message, "communication");
	if (body_column(in, message, "wait_ns", STATES, s->wait_ns) < 0 ||
	    body_column(in, message, "rank_ns", (size_t)s->ranks, s->rank_ns) < 0 ||
	    body_column(in, message, "phase_ns", s->capacity + 1, s->phase_ns) < 0)
		die_input(in);
	if (body_get(message, "rank_core_ns") != NULL) {
		const size_t count = (size_t)s->ranks * CORE_PARTS;

		s->rank_core_ns = zalloc(count, sizeof *s->rank_core_ns);
		if (body_column(in, message, "rank_core_ns", count, s->rank_core_ns) < 0)
			die_input(in);
	}
}

/* Older summaries lack this, too. */
static void
read_ranks(struct site_sums *p, struct reader *in, const struct message *message)
{
	if (body_get(message, "ranks") == NULL)
		return;
	if (body_int(in, message, "ranks", 0, LISTED_RANKS, &p->rank_count) < 0)
		die_input(in);
	p->rank = zalloc(p->rank_count, sizeof *p->rank);
	p->rank_ns = zalloc(p->rank_count, sizeof *p->rank_ns);
	if (body_column(in, message, "rank", p->rank_count, p->rank) < 0 ||
	    body_column(in, message, "rank_path_ns", p->rank_count, p->rank_ns) < 0)
		die_input(in);
	for (uint32_t i = 0; i < p->rank_count; i++)
		if (p->rank[i] < 0 || p->rank_ns[i] < 0 || p->rank_ns[i] > INT64_MAX / LISTED_RANKS)
			die_message(in, message, "place: no such rank or time");
}

static void
read_positions(struct site_sums *p, struct reader *in, const struct message *message)
{
	static const char *const keys[PARTS] = { "computing_ns", "communication_ns" };

	if (body_get(message, "visits") == NULL)
		return;
	if (body_uint(in, message, "visits", &p->visits) < 0 ||
	    body_uint(in, message, "position_visits", &p->position_visits) < 0)
		die_input(in);
	if (p->visits == 0 || p->position_visits == 0 || positions_of(p) > POSITIONS ||
	    (p->position_visits & (p->position_visits - 1)) != 0)
		die_message(in, message, "place: no such number of visits");
	for (size_t part = 0; part < PARTS; part++) {
		const size_t count = positions_of(p);
		int64_t *ns = zalloc(POSITIONS, sizeof *ns);

		p->position_ns[part] = ns;
		if (body_column(in, message, keys[part], count, ns) < 0)
			die_input(in);
		for (size_t i = 0; i < count; i++)
			if (ns[i] < 0 || ns[i] > INT64_MAX / POSITIONS)
				die_message(in, message, "place: no such time");
	}
}

static void
read_place(struct summary *s, struct reader *in, const struct message *message)
{
	struct site_sums *p;

	if (s->count == s->capacity)
		die_message(in, message, "place: there are more than the summary says");
	p = &s->places[s->count++];
	p->function = text_of(message, "function");
	p->file = text_of(message, "file");
	p->call = text_of(message, "call");
	if (body_int(in, message, "line", 0, INT32_MAX, &p->line) < 0 ||
	    body_uint(in, message, "order", &p->order) < 0 ||
	    body_column(in, message, "path_ns", KINDS, p->path_ns) < 0 ||
	    body_int(in, message, "total_ns", INT64_MIN, INT64_MAX, &p->total_ns) < 0 ||
	    body_int(in, message, "wait_ns", INT64_MIN, INT64_MAX, &p->wait_ns) < 0 ||
	    body_int(in, message, "delay_ns", INT64_MIN, INT64_MAX, &p->delay_ns) < 0 ||
	    body_uint(in, message, "calls", &p->calls) < 0 ||
	    body_uint(in, message, "bytes_sent", &p->sent_bytes) < 0 ||
	    body_uint(in, message, "bytes_received", &p->received_bytes) < 0 ||
	    body_int(in, message, "comm", 0, UINT32_MAX, &p->comm) < 0 ||
	    body_int(in, message, "comm_size", 0, INT32_MAX, &p->comm_size) < 0 ||
	    body_int(in, message, "polls", 0, 1, &p->polls) < 0)
		die_input(in);
	if (s->rank_core_ns != NULL &&
	    body_column(in, message, "core_ns", CORE_PARTS, p->core_ns) < 0)
		die_input(in);
	read_ranks(p, in, message);
	read_positions(p, in, message);
}

static void
read_function(struct summary *s, struct reader *in, const struct message *message)
{
	struct function_time f = { .name = text_of(message, "function"),
	    .file = text_of(message, "file") };

	if (f.name == NULL)
		die_message(in, message, "function: without a name");
	if (body_int(in, message, "path_ns", INT64_MIN / 4, INT64_MAX / 4, &f.path_ns) < 0 ||
	    body_int(in, message, "all_ns", INT64_MIN / 4, INT64_MAX / 4, &f.all_ns) < 0)
		die_input(in);
	function_times_add(&s->lists[FUNCTIONS].times, &f);
}

/* A step or a region. */
static void
read_section(struct summary *s, struct reader *in, const struct message *message)
{
	struct function_time f = { .name = text_of(message, "name") };

	if (f.name == NULL)
		die_message(in, message, "a section without a name");
	if (body_int(in, message, "path_ns", 0, INT64_MAX / 4, &f.path_ns) < 0)
		die_input(in);
	s->steps += is_kind(message, section_kinds[BY_STEPS]) && f.name[0] != '(';
	function_times_add(&s->lists[SECTIONS].times, &f);
}

/* Returns 0, or -1 with the reason in the reader. */
static int
read_stream(struct summary *s, struct reader **opened, const char *name, int by)
{
	struct message message;
	struct variable v;
	struct reader *in;
	int got;

	if (reader_open(opened, name, READ_STREAM) < 0 ||
	    reader_need_content(*opened, "summary") < 0)
		return -1;
	in = *opened;
	while ((got = reader_next(in, &message)) > 0)
		if (is_kind(&message, "summary") && s->ranks == 0)
			read_head(s, in, &message);
		else if (is_kind(&message, "environment") && variable_read(&v, &message))
			*APPEND(s->environment, s->variable_count, s->variable_capacity) = v;
		else if (is_kind(&message, "function"))
			read_function(s, in, &message);
		else if (by != NO_SECTIONS && is_kind(&message, section_kinds[by]))
			read_section(s, in, &message);
		else if (is_kind(&message, "place"))
			read_place(s, in, &message);
	if (got == 0 && (s->ranks == 0 || s->count < s->capacity))
		return reader_fail(in, 0, "no whole summary");
	if (got == 0 && by != NO_SECTIONS && s->lists[SECTIONS].times.count == 0)
		die("%s: a summary without %ss: lp-compare --summary --by %s makes one with them",
		    s->file, section_kinds[by], section_kinds[by]);
	return got;
}

/*
 * A run is analysed in a process of its own that ends afterwards. So only one run is in memory at a
 * time; of all others, only the sites are.
 */
void
summary_read(struct summary *s, const char *file, int by)
{
	char name[32], wanted[32] = "--", *path = (char *)(uintptr_t)file;
	struct reader *in;
	bool is_summary;
	pid_t child = 0;
	int from, got;

	if (reader_open(&in, file, READ_STREAM) < 0 || reader_refuse_content(in, "measurement",
	    "lp-guidelines --compare compares campaigns") < 0)
		die_input(in);
	is_summary = reader_need_content(in, "summary") == 0;
	reader_close(in);
	s->file = file;
	if (!is_summary) {
		if (by != NO_SECTIONS)
			snprintf(wanted, sizeof wanted, "--by=%s", section_kinds[by]);
		child = start_tool((char *[]){ "lp-compare", "--summary", wanted,
		    by == NO_SECTIONS ? path : "--", by == NO_SECTIONS ? NULL : path, NULL },
		    &from);
		snprintf(name, sizeof name, "/dev/fd/%d", from);
	}
	got = read_stream(s, &in, child > 0 ? name : file, by);
	if (child > 0) {
		close(from);
		if (!ended_well(child))
			_exit(TROUBLE);		/* the child has reported why */
	}
	if (got < 0)
		die_input(in);
	reader_close(in);
}
