/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs in the order of their dates: run time, efficiencies, and the sites that are most on the path. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare.h"

enum { MOST_SITES = 12 };	/* in text and JSON, unless all are asked for */

static int
by_date(const void *left, const void *right)
{
	const struct summary *a = left, *b = right;

	if (a->date_s != b->date_s)
		return a->date_s < b->date_s ? -1 : 1;
	return strcmp(a->file, b->file);
}

struct weighed {
	double ns;		/* on the path of all runs */
	size_t unit;
};

static int
by_weight(const void *left, const void *right)
{
	const struct weighed *a = left, *b = right;

	if (a->ns < b->ns || a->ns > b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static struct weighed *
weigh(const struct comparison *c)
{
	struct weighed *all = zalloc(c->unit_count + 1, sizeof *all);

	for (size_t u = 0; u < c->unit_count; u++) {
		all[u].unit = u;
		for (size_t r = 0; r < c->count[A]; r++)
			all[u].ns += (double)unit_path(&c->runs[A][r], u);
	}
	qsort(all, c->unit_count, sizeof *all, by_weight);
	return all;
}

/* "-" where it is not known. */
static const char *
date_text(const struct summary *run, char *text, size_t size)
{
	const time_t date_s = (time_t)run->date_s;
	struct tm utc;

	if (run->date_s <= 0 || gmtime_r(&date_s, &utc) == NULL ||
	    strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		snprintf(text, size, "-");
	return text;
}

static void
history_as_json(struct text *text, const struct comparison *c, const struct weighed *sites, size_t shown)
{
	struct json json, *out = &json;
	char date[40];

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_begin_array(out, "runs");
	for (size_t r = 0; r < c->count[A]; r++) {
		const struct summary *run = &c->runs[A][r];

		json_break(out);
		json_begin_object(out, NULL);
		json_text(out, "file", run->file);
		json_text(out, "date", date_text(run, date, sizeof date));
		json_int(out, "date_s", run->date_s);
		json_int(out, "ranks", run->ranks);
		json_seconds(out, "run_time_s", run->run_ns);
		json_fixed(out, "parallel", run->parallel, 9);
		json_fixed(out, "load_balance", run->load_balance, 9);
		json_fixed(out, "communication", run->communication, 9);
		json_end_object(out);
	}
	json_end_array(out);
	json_break(out);
	json_begin_array(out, "sites");
	for (size_t i = 0; i < c->unit_count && i < shown; i++) {
		json_break(out);
		json_begin_object(out, NULL);
		put_place(out, &c->units[sites[i].unit]);
		json_begin_array(out, "path_s");
		for (size_t r = 0; r < c->count[A]; r++)
			json_seconds(out, NULL, unit_path(&c->runs[A][r], sites[i].unit));
		json_end_array(out);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
	json_end_line(out);
}

static void
history_as_text(struct text *text, const struct comparison *c, const struct weighed *sites, size_t shown)
{
	struct table_writer table, *out = &table;
	char name[512], date[40];

	table_begin(out, text, "date\tranks\trun_time_s\tparallel\tload_bal\tcommunic\tfile");
	for (size_t r = 0; r < c->count[A]; r++) {
		const struct summary *run = &c->runs[A][r];

		table_text(out, date_text(run, date, sizeof date));
		table_int(out, run->ranks);
		table_seconds(out, run->run_ns);
		table_fixed(out, run->parallel, 4);
		table_fixed(out, run->load_balance, 4);
		table_fixed(out, run->communication, 4);
		table_text(out, run->file);
		table_end_line(out);
	}
	table_end(out);
	text_char(text, '\n');
	text_line(text, "critical path by site, first run and last");
	table_begin(out, text, "first_s\tlast_s\tup to and in");
	for (size_t i = 0; i < c->unit_count && i < shown; i++) {
		table_seconds(out, unit_path(&c->runs[A][0], sites[i].unit));
		table_seconds(out, unit_path(&c->runs[A][c->count[A] - 1], sites[i].unit));
		table_text(out, unit_text(&c->units[sites[i].unit], name, sizeof name));
		table_end_line(out);
	}
	table_end(out);
}

static void
history_as_csv(struct text *text, const struct comparison *c)
{
	struct csv csv, *out = &csv;
	char date[40];

	csv_begin(out, text, "date,file,ranks,run_time_s,parallel,load_balance,communication");
	for (size_t r = 0; r < c->count[A]; r++) {
		const struct summary *run = &c->runs[A][r];

		csv_text(out, date_text(run, date, sizeof date));
		csv_text(out, run->file);
		csv_int(out, run->ranks);
		csv_fixed(out, 1e-9 * (double)run->run_ns, 9);
		csv_fixed(out, run->parallel, 9);
		csv_fixed(out, run->load_balance, 9);
		csv_fixed(out, run->communication, 9);
		csv_end_row(out);
	}
}

void
print_history(struct comparison *c, enum form form, bool all)
{
	static struct text text;	/* large for a stack */
	struct weighed *sites;

	qsort(c->runs[A], c->count[A], sizeof *c->runs[A], by_date);
	align(c);
	sites = weigh(c);
	text_begin(&text, stdout, NULL);
	if (form == JSON)
		history_as_json(&text, c, sites, all ? SIZE_MAX : MOST_SITES);
	else if (form == CSV)
		history_as_csv(&text, c);
	else
		history_as_text(&text, c, sites, all ? SIZE_MAX : MOST_SITES);
	text_flush(&text);
	free(sites);
}
