/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/run/verdict.h"
#include "../base/tool/csv.h"
#include "../base/tool/fields.h"
#include "../base/tool/whole_file.h"
#include "report.h"

/* ---- CSV -------------------------------------------------------------------------------- */

static void
print_analytic(struct text *text, const struct imbalance *im)
{
	const struct table *calls = &im->tables[BY_CALL];
	struct totals_line line = { "program", "", totals_of_all(im) };
	struct csv csv;
	char rank[16];

	csv_head(&csv, text, totals_fields);
	csv_row(&csv, totals_fields, &line);
	for (int32_t r = 0; r < im->graph.known.ranks; r++) {
		snprintf(rank, sizeof rank, "%d", (int)r);
		line = (struct totals_line){ "process", rank, totals_of(im, BY_RANK, (size_t)r) };
		csv_row(&csv, totals_fields, &line);
	}
	for (size_t i = 0; i < calls->count; i++)
		if (calls->cells[i].calls > 0) {
			line = (struct totals_line){ "call", call_name((unsigned)i),
			    totals_of(im, BY_CALL, i) };
			csv_row(&csv, totals_fields, &line);
		}
}

/* Prints one line for each state of each rank, site, ... that has any. */
static void
print_by(struct text *text, const struct imbalance *im, enum dimension by)
{
	struct csv csv;
	char name[1024];
	size_t count;
	struct line *lines = sorted_cells(im, by, &count);
	const struct table *table = &im->tables[by];

	snprintf(name, sizeof name, "%s,wait_state,wait_s", dimension_names[by]);
	csv_begin(&csv, text, name);
	for (size_t i = 0; i < count; i++)
		for (int s = 0; s < STATES; s++)
			if (state_ns(table, lines[i].index, s) > 0) {
				csv_text(&csv,
				    index_text(im, by, lines[i].index, name, sizeof name));
				csv_text(&csv, state_names[s]);
				csv_fixed(&csv, seconds(state_ns(table, lines[i].index, s)), 9);
				csv_end_row(&csv);
			}
	free(lines);
}

static void
print_csv(struct text *text, const struct imbalance *im, const struct view *view)
{
	if (view->by == BY_FUNCTION)
		functions_rows(text, im);
	else if (view->by >= 0)
		print_by(text, im, (enum dimension)view->by);
	else
		print_analytic(text, im);
}

/* ---- the same numbers as messages ------------------------------------------------------- */

static void
write_stream(const struct imbalance *im, int argc, char **argv)
{
	int64_t *ranks = zalloc((size_t)im->graph.known.ranks, sizeof *ranks);
	struct shares *shares = shares_by_rank(im);
	struct writer out;

	need_output(writer_open(&out, STDOUT_FILENO, "imbalance", im->graph.in, argc, argv));
	for (int s = 0; s < STATES; s++) {
		for (int32_t r = 0; r < im->graph.known.ranks; r++)
			ranks[r] = state_ns(&im->tables[BY_RANK], (size_t)r, s);
		message_begin(&out, "wait_state", 5);
		put_string(&out, "name", state_names[s]);
		put_int(&out, "wait_ns", im->states[s].wait_ns);
		put_uint(&out, "waits", im->states[s].count);
		put_int(&out, "count", im->graph.known.ranks);
		put_column(&out, "rank_ns", ranks, (size_t)im->graph.known.ranks);
		end_message(&out);
	}
	for (int32_t r = 0; r < im->graph.known.ranks; r++)
		put_row(&out, "shares", share_fields, &shares[r]);
	free(ranks);
	free(shares);
	need_output(writer_end(&out));
}

/* ---- each form ---- */

void
report(const struct imbalance *im, enum form form, const char *name, const struct view *view,
    int argc, char **argv)
{
	static struct text text;	/* large for a stack */
	struct whole_file whole = whole_file_begin(name);

	text_begin(&text, whole.file, name);
	switch (form) {
	case TEXT: print_table(&text, im, view); break;
	case JSON: print_json(&text, im, view); break;
	case CSV: print_csv(&text, im, view); break;
	case STREAM: write_stream(im, argc, argv); break;
	}
	text_flush(&text);
	whole_file_end(&whole);
}

/* ---- limits ----------------------------------------------------------------------------- */

/* A value by name; false: there is no such name. */
static bool
value_of(const struct imbalance *im, const char *name, bool whole, double *value)
{
	const struct efficiency e = efficiency_of(im, whole);
	const int64_t all_ns = explained_of(im).wait_ns;
	const struct {
		const char *name;
		double value;
	} values[] = {
		{ "wait_s", seconds(all_ns) },
		{ "wait_share", all_time_ns(im) <= 0 ? 0 :
		    (double)all_ns / (double)all_time_ns(im) },
		{ "imbalance", totals_of_all(im).imbalance },
		{ "run_time_s", seconds(counted_run_ns(im)) },
		{ "load_imbalance", 1 - e.load_balance },
		{ "communication_loss", 1 - e.communication },
		{ "parallel_loss", 1 - e.parallel },
	};

	for (int s = 0; s < STATES; s++) {
		const size_t size = strlen(state_names[s]);

		*value = seconds(im->states[s].wait_ns);
		if (strncmp(name, state_names[s], size) == 0 && strcmp(name + size, "_s") == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		*value = values[i].value;
		if (strcmp(name, values[i].name) == 0)
			return true;
	}
	return false;
}

bool
check_limits(const struct imbalance *im, const char **limits, size_t count, bool whole)
{
	bool exceeded = false;

	for (size_t i = 0; i < count; i++) {
		const char *equals = strchr(limits[i], '=');
		char *name = need(strndup(limits[i],
		    equals != NULL ? (size_t)(equals - limits[i]) : 0));
		double limit, value;

		if (equals == NULL)
			die("--limit: %s is not NAME=VALUE", limits[i]);
		limit = parse_number("--limit", equals + 1, -1e300, 1e300);
		if (!value_of(im, name, whole, &value))
			die("--limit: there is no value %s; those of the report are NAME_s of a "
			    "wait state, wait_s, wait_share, imbalance, run_time_s, load_imbalance, "
			    "communication_loss, parallel_loss", name);
		if (!(value <= limit)) {
			note("%s is %.9g, the limit is %.9g", name, value, limit);
			exceeded = true;
		}
		free(name);
	}
	return exceeded;
}

/* ---- several runs side by side ---- */

static const struct field run_fields[] = {
	{ "file", FIELD(struct times, file), IN_DATA },
	{ "ranks", FIELD(struct times, ranks), IN_ALL },
	SCALING_FIELDS(struct times, ),
	{ "file", FIELD(struct times, file), .text = PLAIN },
	FIELDS_END
};

void
print_scaling(char **files, size_t count, bool weak, bool whole, enum form form)
{
	static struct text text;	/* large for a stack */
	struct times *runs = zalloc(count, sizeof *runs);
	struct json json;

	for (size_t i = 0; i < count; i++)
		runs[i] = read_times(files[i], whole);
	sort_and_scale(runs, count, weak);
	text_begin(&text, stdout, NULL);
	if (form == JSON) {
		json_begin(&json, &text);
		json_begin_object(&json, NULL);
		json_text(&json, "scaling", weak ? "weak" : "strong");
		json_bool(&json, "whole", whole);
		json_rows(&json, "runs", run_fields, runs, count, sizeof *runs);
		json_end_object(&json);
		json_end_line(&json);
	} else if (form == CSV)
		csv_rows(&text, run_fields, runs, count, sizeof *runs);
	else {
		text_line(&text, "%s scaling, against the smallest run; efficiencies as POP "
		    "defines them, %s", weak ? "weak" : "strong", span_rule(whole));
		table_rows(&text, run_fields, runs, count, sizeof *runs);
	}
	text_flush(&text);
	free(runs);
}
