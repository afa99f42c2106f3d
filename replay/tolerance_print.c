/* SPDX-License-Identifier: BSD-3-Clause */
/* The curves as text, JSON, CSV and in the stream. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/stream/stream.h"
#include "../base/tool/csv.h"
#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "../base/tool/tool.h"
#include "replay.h"
#include "tolerance.h"

enum { MOST_SHOWN = 12 };	/* pieces of a curve in text: those around the machine's own value */

static bool
has_sites(const struct tolerance *t)
{
	return t->sites && t->sampled == NULL;
}

/* With the digits that it has, whole where it is large; null where it is without bound. */
static void
put_number(struct json *json, const char *key, double value)
{
	if (fabs(value) < 1e15)
		json_significant(json, key, value, 13);
	else
		json_fixed(json, key, value, 0);
}

static void
put_pieces(struct json *json, const struct tolerance *t, int p)
{
	json_break(json);
	json_begin_array(json, parameter_names[p]);
	for (size_t i = 0; i < t->piece_count[p]; i++) {
		const struct piece *piece = &t->pieces[p][i];

		if (i > 0)
			json_break(json);
		json_begin_object(json, NULL);
		put_number(json, "from_ns", piece->from);
		put_number(json, "to_ns", piece->to);
		put_number(json, "run_time_ns", piece->run_ns);
		put_number(json, "slope", piece->slope);
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_percents(struct json *json, struct tolerance *t)
{
	char key[32];

	json_break(json);
	json_begin_array(json, "tolerance");
	for (size_t i = 0; i < t->percent_count; i++) {
		if (i > 0)
			json_break(json);
		json_begin_object(json, NULL);
		put_number(json, "percent", t->percents[i]);
		for (int p = 0; p < PARAMETERS; p++)
			if (t->wanted[p]) {
				snprintf(key, sizeof key, "%s_ns", parameter_names[p]);
				put_number(json, key, tolerance_at(t, (enum parameter)p, t->percents[i]));
			}
		json_end_object(json);
	}
	json_end_array(json);
}

void
tolerance_json(struct tolerance *t)
{
	static struct text text;	/* large for a stack */
	struct json json;
	char key[32];

	text_begin(&text, stdout, NULL);
	json_begin(&json, &text);
	json_begin_object(&json, NULL);
	put_number(&json, "run_time_ns", t->run_ns);
	for (int p = 0; p < PARAMETERS; p++) {
		snprintf(key, sizeof key, "base_%s_ns", parameter_names[p]);
		put_number(&json, key, t->base[p]);
	}
	json_bool(&json, "exact", t->sampled == NULL);
	if (t->sampled != NULL)
		json_text(&json, "sampled_because", t->sampled);
	for (int p = 0; p < PARAMETERS; p++)
		if (t->wanted[p])
			put_pieces(&json, t, p);
	put_percents(&json, t);
	if (has_sites(t)) {
		struct shares shares = paths_find(&t->paths, &t->marks);

		shares_json(&json, &shares, t->known);
	}
	json_end_object(&json);
	json_end_line(&json);
	text_flush(&text);
}

static void
csv_number(struct csv *csv, double value)
{
	if (fabs(value) < 1e15)
		csv_significant(csv, value, 13);
	else
		csv_fixed(csv, isfinite(value) ? value : (double)NAN, 0);
}

void
tolerance_csv(const struct tolerance *t)
{
	static struct text text;	/* large for a stack */
	struct csv csv;

	text_begin(&text, stdout, NULL);
	csv_begin(&csv, &text, "parameter,from_ns,to_ns,run_time_ns,slope,exact");
	for (int p = 0; p < PARAMETERS; p++)
		for (size_t i = 0; i < t->piece_count[p]; i++) {
			const struct piece *piece = &t->pieces[p][i];

			csv_text(&csv, parameter_names[p]);
			csv_number(&csv, piece->from);
			csv_number(&csv, piece->to);
			csv_number(&csv, piece->run_ns);
			csv_number(&csv, piece->slope);
			csv_uint(&csv, t->sampled == NULL);
			csv_end_row(&csv);
		}
	text_flush(&text);
}

/* BOUNDLESS is for what any value does for. */
static void
table_number(struct table_writer *table, double value, const char *boundless)
{
	if (isinf(value))
		table_text(table, boundless);
	else if (fabs(value) < 1e15 || isnan(value))
		table_significant(table, value, 13);
	else
		table_fixed(table, value, 0);
}

static void
print_curve(struct text *text, const struct tolerance *t, int p)
{
	size_t n = t->piece_count[p], here = 0, first;
	struct table_writer table;
	char head[64];

	while (here + 1 < n && t->pieces[p][here].to <= t->base[p])
		here++;
	first = here > MOST_SHOWN / 2 ? here - MOST_SHOWN / 2 : 0;
	snprintf(head, sizeof head, "%s_from_ns\tto_ns\trun_time_s\tslope", parameter_names[p]);
	text_char(text, '\n');
	table_begin(&table, text, head);
	for (size_t i = first; i < n && i < first + MOST_SHOWN; i++) {
		const struct piece *piece = &t->pieces[p][i];

		table_number(&table, piece->from, "null");
		table_number(&table, piece->to, "null");
		table_fixed(&table, piece->run_ns / 1e9, 9);
		table_number(&table, piece->slope, "null");
		if (i == here)
			table_text(&table, "the machine's");
		table_end_line(&table);
	}
	table_end(&table);
	if (n > MOST_SHOWN)
		text_print(text, "%zu pieces in all\n", n);
}

static void
print_percents(struct text *text, struct tolerance *t)
{
	struct table_writer table;

	table_begin(&table, text, "longer_%\tlatency_ns\tgap_ns\toverhead_ns");
	table_text(&table, "machine");
	for (int p = 0; p < PARAMETERS; p++)
		table_number(&table, t->base[p], "null");
	table_end_line(&table);
	for (size_t i = 0; i < t->percent_count; i++) {
		table_number(&table, t->percents[i], "null");
		for (int p = 0; p < PARAMETERS; p++)
			table_number(&table, tolerance_at(t, (enum parameter)p, t->percents[i]), "any");
		table_end_line(&table);
	}
	table_end(&table);
}

void
tolerance_table(struct tolerance *t)
{
	static struct text text;	/* large for a stack */

	text_begin(&text, stdout, NULL);
	put_headline(&text, &t->known->headline, t->run_ns, 0);
	text_print(&text, "run time\t%.9f s\n", t->run_ns / 1e9);
	if (t->sampled != NULL)
		text_print(&text, "curves\tpoints, for %s\n", t->sampled);
	text_char(&text, '\n');
	print_percents(&text, t);
	for (int p = 0; p < PARAMETERS; p++)
		if (t->wanted[p])
			print_curve(&text, t, p);
	if (has_sites(t)) {
		struct shares shares = paths_find(&t->paths, &t->marks);

		shares_table(&text, &shares, t->known);
	}
	text_flush(&text);
}

static void
put_numbers(struct writer *out, const char *key, const struct piece *pieces, size_t n, size_t offset)
{
	double *numbers = zalloc(n + 1, sizeof *numbers);

	for (size_t i = 0; i < n; i++)
		memcpy(&numbers[i], (const char *)&pieces[i] + offset, sizeof *numbers);
	put_bytes(out, key, numbers, n * sizeof *numbers);
	free(numbers);
}

void
tolerance_write(const struct tolerance *t, struct writer *out)
{
	for (int p = 0; p < PARAMETERS; p++) {
		if (!t->wanted[p])
			continue;
		message_begin(out, "curve", 6);
		put_string(out, "parameter", parameter_names[p]);
		put_double(out, "base", t->base[p]);
		put_uint(out, "exact", t->sampled == NULL);
		put_numbers(out, "from", t->pieces[p], t->piece_count[p], offsetof(struct piece, from));
		put_numbers(out, "run", t->pieces[p], t->piece_count[p], offsetof(struct piece, run_ns));
		put_numbers(out, "slope", t->pieces[p], t->piece_count[p], offsetof(struct piece, slope));
		if (message_end(out) < 0)
			die_output();
	}
}
