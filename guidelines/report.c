/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests say: for a screen, as the paper's tables, for scripts and as a stream. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/tool/csv.h"
#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "guidelines.h"

enum { SHOWN = 15 };	/* violations of the table that fit on a screen */

const char *
stars(double p)
{
	return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : "";
}

static double
us(double ns)
{
	return 1e-3 * ns;
}

static int
by_ratio(const void *left, const void *right)
{
	const struct judgement *const *a = left, *const *b = right;

	if ((*a)->ratio > (*b)->ratio || (*a)->ratio < (*b)->ratio)
		return (*a)->ratio > (*b)->ratio ? -1 : 1;
	return *a < *b ? -1 : 1;
}

/* The first judgement of each guideline is where it is counted. */
static bool
is_first(const struct verdict *v, size_t i)
{
	return i == 0 || strcmp(v->at[i - 1].guideline, v->at[i].guideline) != 0;
}

/* Whether any of the judgements of the guideline that begins at I is violated. */
static bool
any_violated(const struct verdict *v, size_t i)
{
	const char *guideline = v->at[i].guideline;
	bool violated = false;

	for (; i < v->count && strcmp(v->at[i].guideline, guideline) == 0; i++)
		violated |= v->at[i].violated;
	return violated;
}

static void
print_control(struct text *out, const struct verdict *v)
{
	if (!v->has_control)
		text_line(out, "A/A control: none was measured, so nobody knows how far this can be trusted");
	else
		text_line(out, "A/A control, %s under two names: p %.3g at %" PRIu64 " bytes%s",
		    v->control->function, v->control_p, v->control->bytes, v->control_failed ?
		    ": FAILED, the verdict is worth nothing" : ": passed");
}

/* The other side in words where its size is not the function's. */
static void
put_other(struct table_writer *table, const struct judgement *j)
{
	if (j->kind == PATTERN)
		table_text(table, j->guideline);
	else if (j->kind == MONOTONY)
		table_format(table, "%s, to %" PRIu64 " B", j->guideline, j->other->bytes);
	else
		table_format(table, "%s, n/k = %" PRIu64 " B%s", j->guideline,
		    j->other->role == SPLIT ? j->other->part : j->other->bytes,
		    j->other->role == SPLIT ? "" : " (calculated)");
}

static void
put_violation(struct table_writer *table, const struct judgement *j)
{
	const double values[] = { us(j->function_ns), us(j->other_ns), us(j->shift.shift),
		us(j->shift.low), us(j->shift.high) };

	table_fixed(table, j->ratio, 3);
	table_uint(table, j->function->bytes);
	table_uint(table, j->function->volume);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		table_fixed(table, values[i], 3);
	table_significant(table, j->p, 2);
	table_significant(table, j->p_normal, 3);
	table_significant(table, j->p_adjusted, 2);
	table_text(table, stars(j->p_adjusted));
	put_other(table, j);
	table_end_row(table);
}

static void
print_violations(struct text *out, const struct verdict *v, size_t shown)
{
	const struct judgement **found = zalloc(v->violations, sizeof *found);
	struct table_writer table;
	size_t count = 0;

	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].violated)
			found[count++] = &v->at[i];
	qsort(found, count, sizeof *found, by_ratio);
	text_char(out, '\n');
	table_begin(&table, out, "ratio\tm_bytes\tn_bytes\tslow_us\tfast_us\tshift_us\tlow\thigh\tp\t"
	    "p_normal\tp_adj\tsure\tviolated");
	for (size_t i = 0; i < count && i < shown; i++)
		put_violation(&table, found[i]);
	table_end(&table);
	if (count > shown)
		text_line(out, "(%zu more; --all shows them)", count - shown);
	free(found);
}

/* What the held guidelines of a kind are called together: GL 1 and 2 by function. */
static void
print_held(struct text *out, const struct verdict *v, enum kind kind)
{
	static const char *const heads[] = { "A(n) <= A(n+k)", "A(n) <= k A(n/k)", "patterns" };
	size_t column = 0;

	for (size_t i = 0; i < v->count; i++) {
		const struct judgement *j = &v->at[i];
		const char *name = kind == PATTERN ? j->guideline : short_name(j->function->function);

		if (j->kind != kind || !is_first(v, i) || any_violated(v, i))
			continue;
		if (column == 0) {
			text_print(out, "held, %s: ", heads[kind]);
			column = strlen("held, : ") + strlen(heads[kind]);
		} else if (column + strlen(name) > 96) {
			text_put(out, ",\n    ");
			column = 4;
		} else {
			text_put(out, ", ");
			column += 2;
		}
		text_visible(out, name);
		column += strlen(name);
	}
	if (column > 0)
		text_char(out, '\n');
}

void
print_table(struct text *out, const struct campaign *c, const struct verdict *v, bool all)
{
	text_line(out, "%zu mpiruns of %" PRId64 " ranks%s%s; %zu tests; differences up to %.3f us do not "
	    "count", c->mpiruns, c->ranks, c->library[0] != '\0' ? ", " : "", c->library, v->count,
	    us(v->margin_ns));
	print_control(out, v);
	if (c->mpiruns < v->needed)
		text_line(out, "%zu mpiruns cannot prove any violation in %zu tests; %zu can", c->mpiruns,
		    v->count, v->needed);
	if (v->violations > 0)
		print_violations(out, v, all ? SIZE_MAX : SHOWN);
	text_char(out, '\n');
	for (enum kind kind = MONOTONY; kind < KINDS; kind++)
		print_held(out, v, kind);
	text_line(out, "%s", v->violations > 0 ? "VIOLATED" : "HELD");
}

/* The sizes of all judgements, ascending. */
static uint64_t *
sizes_of(const struct verdict *v, size_t *count)
{
	uint64_t *sizes = zalloc(v->count, sizeof *sizes);

	*count = 0;
	for (size_t i = 0; i < v->count; i++) {
		uint64_t bytes = v->at[i].function->bytes;
		size_t at = *count;

		while (at > 0 && sizes[at - 1] >= bytes)
			at--;
		if (at < *count && sizes[at] == bytes)
			continue;
		memmove(sizes + at + 1, sizes + at, (*count - at) * sizeof *sizes);
		sizes[at] = bytes;
		++*count;
	}
	return sizes;
}

/* m, s and p where monotony, split-robustness or a pattern is violated at the size. */
static void
put_marks(struct table_writer *table, const struct verdict *v, const char *function, uint64_t bytes)
{
	char marks[KINDS + 1] = "";

	for (enum kind kind = MONOTONY; kind < KINDS; kind++)
		for (size_t i = 0; i < v->count; i++) {
			const struct judgement *j = &v->at[i];

			if (j->kind == kind && j->violated && j->function->bytes == bytes &&
			    strcmp(j->function->function, function) == 0) {
				strncat(marks, &"msp"[kind], 1);
				break;
			}
		}
	table_text(table, marks);
}

/* How many guidelines of a kind are violated, of how many. */
static void
put_count(struct table_writer *table, const struct verdict *v, enum kind kind)
{
	size_t all = 0, violated = 0;

	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].kind == kind && is_first(v, i)) {
			all++;
			violated += any_violated(v, i);
		}
	table_text(table, kind_names[kind]);
	table_format(table, "%zu/%zu", violated, all);
	table_end_row(table);
}

void
print_tables(struct text *out, const struct campaign *c, const struct verdict *v)
{
	struct table_writer table;
	size_t count;
	uint64_t *sizes = sizes_of(v, &count);
	const char *last = "";

	table_begin(&table, out, NULL);
	table_text(&table, "function");
	for (size_t i = 0; i < count; i++)
		table_uint(&table, sizes[i]);
	table_end_row(&table);
	for (size_t f = 0; f < c->count; f++) {
		const char *function = c->series[f].function;

		if (strcmp(function, last) == 0)
			continue;
		last = function;
		table_text(&table, function);
		for (size_t i = 0; i < count; i++)
			put_marks(&table, v, function, sizes[i]);
		table_end_row(&table);
	}
	table_end(&table);
	text_char(out, '\n');
	table_begin(&table, out, NULL);
	for (enum kind kind = MONOTONY; kind < KINDS; kind++)
		put_count(&table, v, kind);
	table_end(&table);
	text_char(out, '\n');
	print_control(out, v);
	free(sizes);
}

void
print_json(struct text *text, const struct verdict *v)
{
	struct json json, *out = &json;

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_begin_object(out, "control");
	json_significant(out, "p_value", v->has_control ? v->control_p : NAN, 6);
	if (v->has_control)
		json_bool(out, "failed", v->control_failed);
	else
		json_null(out, "failed");
	json_end_object(out);
	json_break(out);
	json_begin_array(out, "violations");
	for (size_t i = 0; i < v->count; i++) {
		const struct judgement *j = &v->at[i];

		if (!j->violated)
			continue;
		json_break(out);
		json_begin_object(out, NULL);
		json_text(out, "kind", kind_names[j->kind]);
		json_text(out, "guideline", j->guideline);
		json_uint(out, "bytes", j->function->bytes);
		json_significant(out, "p_value", j->p, 6);
		json_significant(out, "p_adjusted", j->p_adjusted, 6);
		json_significant(out, "ratio", j->ratio, 6);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
	json_end_line(out);
}

static uint64_t
other_bytes(const struct judgement *j)
{
	return j->other->role == SPLIT ? j->other->part : j->other->bytes;
}

static const char *
other_name(const struct judgement *j)
{
	return j->other->role == SPLIT ? "split" : j->other->name;
}

void
print_csv(struct text *text, const struct verdict *v)
{
	struct csv csv, *out = &csv;

	csv_begin(out, text, "kind,guideline,function,other,bytes,volume_bytes,other_bytes,function_us,"
	    "other_us,ratio,shift_us,low_us,high_us,p_value,p_normal,p_adjusted,violated");
	for (size_t i = 0; i < v->count; i++) {
		const struct judgement *j = &v->at[i];
		const double times[] = { us(j->function_ns), us(j->other_ns), j->ratio, us(j->shift.shift),
			us(j->shift.low), us(j->shift.high) };

		csv_text(out, kind_names[j->kind]);
		csv_text(out, j->guideline);
		csv_text(out, j->function->name);
		csv_text(out, other_name(j));
		csv_uint(out, j->function->bytes);
		csv_uint(out, j->function->volume);
		csv_uint(out, other_bytes(j));
		for (size_t k = 0; k < sizeof times / sizeof times[0]; k++)
			csv_fixed(out, times[k], 6);
		csv_significant(out, j->p, 6);
		csv_significant(out, j->p_normal, 6);
		csv_significant(out, j->p_adjusted, 6);
		csv_int(out, j->violated);
		csv_end_row(out);
	}
}

static int
put_judgement(struct writer *out, const struct judgement *j)
{
	message_begin(out, "test", 15);
	put_string(out, "type", kind_names[j->kind]);
	put_string(out, "guideline", j->guideline);
	put_string(out, "function", j->function->name);
	put_string(out, "other", other_name(j));
	put_uint(out, "bytes", j->function->bytes);
	put_uint(out, "volume", j->function->volume);
	put_uint(out, "other_bytes", other_bytes(j));
	put_double(out, "function_ns", j->function_ns);
	put_double(out, "other_ns", j->other_ns);
	put_double(out, "shift_ns", j->shift.shift);
	put_double(out, "low_ns", j->shift.low);
	put_double(out, "high_ns", j->shift.high);
	put_double(out, "p_value", j->p);
	put_double(out, "p_adjusted", j->p_adjusted);
	put_int(out, "violated", j->violated);
	return message_end(out);
}

void
write_stream(const struct campaign *c, const struct verdict *v, int argc, char **argv)
{
	struct writer out;

	if (writer_open(&out, STDOUT_FILENO, "verdict", NULL, argc, argv) < 0)
		die_output();
	message_begin(&out, "verdict", 7);
	put_int(&out, "ranks", c->ranks);
	put_string(&out, "library", c->library);
	put_uint(&out, "mpiruns", c->mpiruns);
	put_uint(&out, "tests", v->count);
	put_double(&out, "margin_ns", v->margin_ns);
	put_double(&out, "control_p_value", v->has_control ? v->control_p : -1);
	put_int(&out, "control_failed", v->control_failed);
	if (message_end(&out) < 0)
		die_output();
	for (size_t i = 0; i < v->count; i++)
		if (put_judgement(&out, &v->at[i]) < 0)
			die_output();
	if (writer_end(&out) < 0)
		die_output();
}
