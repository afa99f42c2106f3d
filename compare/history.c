/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs in order of date: run time, efficiencies, and the sites with most of the path. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare.h"

enum { MOST_SITES = 12 };	/* in text and JSON, unless all are asked for */

ORDER(by_date, struct summary, BY(date_s) BY_TEXT(file))

static struct weighed *
weigh(const struct comparison *c)
{
	struct weighed *all = zalloc(c->unit_count, sizeof *all);

	for (size_t u = 0; u < c->unit_count; u++) {
		all[u].unit = u;
		for (size_t r = 0; r < c->count[A]; r++)
			all[u].weight += (double)unit_path(&c->runs[A][r], u);
	}
	qsort(all, c->unit_count, sizeof *all, by_weight);
	return all;
}

static void
find_date(struct summary *run)
{
	const time_t date_s = (time_t)run->date_s;
	struct tm utc;

	if (run->date_s <= 0 || gmtime_r(&date_s, &utc) == NULL ||
	    strftime(run->date, sizeof run->date, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		strcpy(run->date, "-");
}

#define RUN(member) FIELD(struct summary, member)
static const struct field run_fields[] = {
	{ "file", RUN(file), .json = PLAIN },
	{ "date", RUN(date), IN_ALL },
	{ "file", RUN(file), .csv = PLAIN },
	{ "date_s", RUN(date_s), .json = PLAIN },
	{ "ranks", RUN(ranks), IN_ALL },
	{ "run_time_s", RUN(run_ns), IN_SECONDS },
	{ "parallel", RUN(of.parallel), IN_FIXED(4, 9) },
	{ "load_balance", RUN(of.load_balance), IN_FIXED(4, 9), .head = "load_bal" },
	{ "communication", RUN(of.communication), IN_FIXED(4, 9), .head = "communic" },
	{ "file", RUN(file), .text = PLAIN },
	FIELDS_END
};

static void
history_as_json(struct text *text, const struct comparison *c,
    const struct weighed *sites, size_t shown)
{
	struct json json, *out = &json;

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_rows(out, "runs", run_fields, c->runs[A], c->count[A], sizeof *c->runs[A]);
	json_break(out);
	json_begin_array(out, "sites");
	for (size_t i = 0; i < c->unit_count && i < shown; i++) {
		json_break(out);
		json_begin_object(out, NULL);
		json_members(out, place_fields, &c->units[sites[i].unit]);
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
history_as_text(struct text *text, const struct comparison *c,
    const struct weighed *sites, size_t shown)
{
	struct table_writer table, *out = &table;

	table_rows(text, run_fields, c->runs[A], c->count[A], sizeof *c->runs[A]);
	text_char(text, '\n');
	text_line(text, "critical path by site, first run and last");
	table_begin(out, text, "first_s\tlast_s\tup to and in");
	for (size_t i = 0; i < c->unit_count && i < shown; i++) {
		table_seconds(out, unit_path(&c->runs[A][0], sites[i].unit));
		table_seconds(out, unit_path(&c->runs[A][c->count[A] - 1], sites[i].unit));
		table_text(out, c->units[sites[i].unit].place.text);
		table_end_line(out);
	}
	table_end(out);
}

void
print_history(struct comparison *c, enum form form, bool all)
{
	static struct text text;	/* too large for the stack */
	struct weighed *sites;

	qsort(c->runs[A], c->count[A], sizeof *c->runs[A], by_date);
	for (size_t r = 0; r < c->count[A]; r++)
		find_date(&c->runs[A][r]);
	align(c);
	sites = weigh(c);
	text_begin(&text, stdout, NULL);
	if (form == JSON)
		history_as_json(&text, c, sites, all ? SIZE_MAX : MOST_SITES);
	else if (form == CSV)
		csv_rows(&text, run_fields, c->runs[A], c->count[A], sizeof *c->runs[A]);
	else
		history_as_text(&text, c, sites, all ? SIZE_MAX : MOST_SITES);
	text_flush(&text);
	free(sites);
}
