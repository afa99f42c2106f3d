/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs to compare with: nothing but how long ranks computed. Memory: ranks. */
#include <stdlib.h>

#include "../base/tool/csv.h"
#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "times.h"

static void
add_block(const struct definitions *known, const struct calls *calls, struct span *spans)
{
	if (calls->location >= (uint32_t)known->ranks)
		return;		/* a further thread */
	for (size_t i = 0; i < calls->count; i++)
		if (calls->call[i] != 0)
			span_call(&spans[calls->location], calls->call[i], calls->enter_ns[i],
			    calls->leave_ns[i]);
}

struct times
read_times(const char *file, bool whole)
{
	struct times t = { .file = file };
	struct definitions known = { 0 };
	struct calls calls = { 0 };
	struct reader *in;
	struct message message;
	struct span *spans = NULL;
	int got;

	if (reader_open(&in, file, READ_STREAM) < 0)
		die_input(in);
	while ((got = reader_next(in, &message)) > 0) {
		if (definitions_take(&known, in, &message) < 0)
			die_input(in);
		if (is_kind(&message, "run"))
			spans = zalloc((size_t)known.ranks, sizeof *spans);
		else if (is_kind(&message, "calls")) {
			if (calls_read(&calls, in, &message) < 0)
				die_input(in);
			add_block(&known, &calls, spans);
		}
	}
	if (got < 0)
		die_input(in);
	t.ranks = known.ranks;
	t.run_ns = known.run_ns;
	t.of = efficiency_of_spans(spans, known.ranks, 0, known.run_ns, whole);
	if (t.ranks == 0 || t.of.useful_max_ns == 0 || t.of.span_ns == 0)
		die("%s: no rank computes", file);
	free(spans);
	calls_free(&calls);
	reader_close(in);
	return t;
}

int
by_ranks(const void *left, const void *right)
{
	const struct times *a = left, *b = right;

	if (a->ranks != b->ranks)
		return a->ranks < b->ranks ? -1 : 1;
	return a->run_ns < b->run_ns ? -1 : a->run_ns > b->run_ns;
}

struct scaling
scaling_of(const struct times *run, const struct times *least, bool weak)
{
	const double size = weak ? (double)run->ranks / least->ranks : 1;
	struct scaling s = {
		.load_balance = run->of.load_balance,
		.communication = run->of.communication,
		.parallel = run->of.parallel,
		.computation_scaling = size * (double)least->of.useful_total_ns /
		    (double)run->of.useful_total_ns,
		.speedup = size * (double)least->of.span_ns / (double)run->of.span_ns,
	};

	s.global = s.parallel * s.computation_scaling;
	return s;
}

static void
scaling_json(struct text *text, const struct times *runs, size_t count, bool weak, bool whole)
{
	struct json json, *out = &json;

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_text(out, "scaling", weak ? "weak" : "strong");
	json_bool(out, "whole", whole);
	json_begin_array(out, "runs");
	for (size_t i = 0; i < count; i++) {
		const struct scaling s = scaling_of(&runs[i], &runs[0], weak);

		json_break(out);
		json_begin_object(out, NULL);
		json_text(out, "file", runs[i].file);
		json_int(out, "ranks", runs[i].ranks);
		json_seconds(out, "run_time_s", runs[i].run_ns);
		json_fixed(out, "speedup", s.speedup, 9);
		json_fixed(out, "parallel", s.parallel, 9);
		json_fixed(out, "load_balance", s.load_balance, 9);
		json_fixed(out, "communication", s.communication, 9);
		json_fixed(out, "computation_scaling", s.computation_scaling, 9);
		json_fixed(out, "global", s.global, 9);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
	json_end_line(out);
}

static void
scaling_csv(struct text *text, const struct times *runs, size_t count, bool weak, bool whole)
{
	struct csv csv, *out = &csv;

	(void)whole;
	csv_begin(out, text, "file,ranks,run_time_s,speedup,parallel,load_balance,communication,"
	    "computation_scaling,global");
	for (size_t i = 0; i < count; i++) {
		const struct scaling s = scaling_of(&runs[i], &runs[0], weak);
		const double values[] = { seconds(runs[i].run_ns), s.speedup, s.parallel, s.load_balance,
			s.communication, s.computation_scaling, s.global };

		csv_text(out, runs[i].file);
		csv_int(out, runs[i].ranks);
		for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
			csv_fixed(out, values[v], 9);
		csv_end_row(out);
	}
}

static void
scaling_text(struct text *text, const struct times *runs, size_t count, bool weak, bool whole)
{
	struct table_writer table, *out = &table;

	text_line(text, "%s scaling, against the smallest run; efficiencies as POP defines them, %s",
	    weak ? "weak" : "strong", span_rule(whole));
	table_begin(out, text,
	    "ranks\trun_time_s\tspeedup\tparallel\tload_bal\tcommunic\tcomp_scal\tglobal\tfile");
	for (size_t i = 0; i < count; i++) {
		const struct scaling s = scaling_of(&runs[i], &runs[0], weak);

		table_int(out, runs[i].ranks);
		table_seconds(out, runs[i].run_ns);
		table_fixed(out, s.speedup, 3);
		table_fixed(out, s.parallel, 4);
		table_fixed(out, s.load_balance, 4);
		table_fixed(out, s.communication, 4);
		table_fixed(out, s.computation_scaling, 4);
		table_fixed(out, s.global, 4);
		table_text(out, runs[i].file);
		table_end_line(out);
	}
	table_end(out);
}

void
print_scaling(char **files, size_t count, bool weak, bool whole, enum form form)
{
	static struct text text;	/* large for a stack */
	struct times *runs = zalloc(count, sizeof *runs);

	for (size_t i = 0; i < count; i++)
		runs[i] = read_times(files[i], whole);
	qsort(runs, count, sizeof *runs, by_ranks);
	text_begin(&text, stdout, NULL);
	(form == JSON ? scaling_json : form == CSV ? scaling_csv : scaling_text)(&text, runs, count, weak, whole);
	text_flush(&text);
	free(runs);
}
