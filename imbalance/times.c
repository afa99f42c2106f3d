/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs to compare with: nothing but how long ranks computed. Memory: ranks. */
#include <stdlib.h>

#include "../base/tool/csv.h"
#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "times.h"

static void
add_block(const struct definitions *known, const struct calls *calls, int64_t *last_ns,
    int64_t *useful_ns)
{
	const uint32_t l = calls->location;

	for (size_t i = 0; i < calls->count; i++) {
		if (calls->call[i] == 0)
			continue;
		if (last_ns[l] != INT64_MIN)
			useful_ns[known->location_rank[l]] += calls->enter_ns[i] - last_ns[l];
		last_ns[l] = calls->leave_ns[i];
	}
}

struct times
read_times(const char *file)
{
	struct times t = { .file = file };
	struct definitions known = { 0 };
	struct calls calls = { 0 };
	struct reader in;
	struct message message;
	int64_t *last_ns = NULL, *useful_ns = NULL;
	int got;

	if (reader_open(&in, file) < 0)
		die_input(&in);
	while ((got = reader_next(&in, &message)) > 0) {
		if (definitions_take(&known, &in, &message) < 0)
			die_input(&in);
		if (is_kind(&message, "run")) {
			last_ns = zalloc(known.location_count, sizeof *last_ns);
			useful_ns = zalloc((size_t)known.ranks, sizeof *useful_ns);
			for (uint32_t l = 0; l < known.location_count; l++)
				last_ns[l] = INT64_MIN;
		} else if (is_kind(&message, "calls")) {
			if (calls_read(&calls, &in, &message) < 0)
				die_input(&in);
			add_block(&known, &calls, last_ns, useful_ns);
		}
	}
	if (got < 0)
		die_input(&in);
	t.ranks = known.ranks;
	t.run_ns = known.run_ns;
	for (int32_t r = 0; r < known.ranks; r++) {
		t.useful_ns += useful_ns[r];
		t.useful_max_ns = useful_ns[r] > t.useful_max_ns ? useful_ns[r] : t.useful_max_ns;
	}
	if (t.ranks == 0 || t.useful_max_ns == 0 || t.run_ns == 0)
		die("%s: no rank computes", file);
	free(last_ns);
	free(useful_ns);
	calls_free(&calls);
	reader_close(&in);
	return t;
}

static int
by_ranks(const void *left, const void *right)
{
	const struct times *a = left, *b = right;

	if (a->ranks != b->ranks)
		return a->ranks < b->ranks ? -1 : 1;
	return a->run_ns < b->run_ns ? -1 : a->run_ns > b->run_ns;
}

static struct scaling
scaling_of(const struct times *run, const struct times *least, bool weak)
{
	const double size = weak ? (double)run->ranks / least->ranks : 1;
	struct scaling s = {
		.load_balance = (double)run->useful_ns / run->ranks / (double)run->useful_max_ns,
		.communication = (double)run->useful_max_ns / (double)run->run_ns,
		.computation_scaling = size * (double)least->useful_ns / (double)run->useful_ns,
		.speedup = size * (double)least->run_ns / (double)run->run_ns,
	};

	s.parallel = s.load_balance * s.communication;
	s.global = s.parallel * s.computation_scaling;
	return s;
}

static void
scaling_json(struct text *text, const struct times *runs, size_t count, bool weak)
{
	struct json json, *out = &json;

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_text(out, "scaling", weak ? "weak" : "strong");
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
scaling_csv(struct text *text, const struct times *runs, size_t count, bool weak)
{
	struct csv csv, *out = &csv;

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
scaling_text(struct text *text, const struct times *runs, size_t count, bool weak)
{
	struct table_writer table, *out = &table;

	text_line(text, "%s scaling, against the smallest run; efficiencies as POP defines them",
	    weak ? "weak" : "strong");
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
		table_end_row(out);
	}
	table_end(out);
}

void
print_scaling(char **files, size_t count, bool weak, enum form form)
{
	static struct text text;	/* large for a stack */
	struct times *runs = zalloc(count, sizeof *runs);

	for (size_t i = 0; i < count; i++)
		runs[i] = read_times(files[i]);
	qsort(runs, count, sizeof *runs, by_ranks);
	text_begin(&text, stdout, NULL);
	(form == JSON ? scaling_json : form == CSV ? scaling_csv : scaling_text)(&text, runs, count, weak);
	text_flush(&text);
	free(runs);
}
