/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests say, for people: for a screen, and as the paper's tables. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Whether all of the judgements of the guideline that begins at I are held. */
static bool
all_held(const struct verdict *v, size_t i)
{
	const char *guideline = v->at[i].guideline;
	bool held = true;

	for (; i < v->count && strcmp(v->at[i].guideline, guideline) == 0; i++)
		held &= !v->at[i].violated && !v->at[i].undecided;
	return held;
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
	table_end_line(table);
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

		if (j->kind != kind || !is_first(v, i) || !all_held(v, i))
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

/* How far the verdict can be trusted: false alarms and power. */
static void
print_trust(struct text *out, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules)
{
	size_t seen = 0;

	for (size_t i = 0; i < v->count; i++)
		seen += v->at[i].seen_ns <= rules->difference * v->at[i].other_ns;
	if (v->paired && c->confirm != NULL)
		text_line(out, "%zu candidates in %zu mpiruns more; a violation is what these confirm as more "
		    "than %.3g %% slower", v->tests, c->confirm->mpiruns, 100 * rules->slower);
	else
		text_line(out, "one stage: no second campaign has confirmed what is said here");
	text_line(out, "false alarms: %s; power: a difference of %.3g %% would have been seen in %zu of "
	    "%zu tests, each with probability %.2g", rules->correction == HOLM ?
	    "any at all in at most the share alpha of campaigns" : "not bounded for all tests together",
	    100 * rules->difference, seen, v->count, POWER);
}

static int
by_seen(const void *left, const void *right)
{
	const struct judgement *const *a = left, *const *b = right;
	double x = (*a)->seen_ns / (*a)->other_ns, y = (*b)->seen_ns / (*b)->other_ns;

	return x > y ? -1 : x < y ? 1 : *a < *b ? -1 : 1;
}

static void
print_undecided(struct text *out, const struct verdict *v, size_t shown)
{
	const struct judgement **found = zalloc(v->undecided + 1, sizeof *found);
	struct table_writer table;
	size_t count = 0;

	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].undecided)
			found[count++] = &v->at[i];
	qsort(found, count, sizeof *found, by_seen);
	text_char(out, '\n');
	table_begin(&table, out, "m_bytes\tfast_us\tmargin_us\tnot decidable");
	for (size_t i = 0; i < count && i < shown; i++) {
		table_uint(&table, found[i]->function->bytes);
		table_fixed(&table, us(found[i]->other_ns), 3);
		table_fixed(&table, us(found[i]->seen_ns), 3);
		put_other(&table, found[i]);
		table_end_line(&table);
	}
	table_end(&table);
	if (count > shown)
		text_line(out, "(%zu more; --all shows them)", count - shown);
	free(found);
}

void
print_table(struct text *out, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules, bool all)
{
	text_line(out, "%zu mpiruns of %" PRId64 " ranks%s%s; %zu tests; differences up to %.3f us do not "
	    "count", c->mpiruns, c->setting.ranks, c->setting.library[0] != '\0' ? ", " : "",
	    c->setting.library, v->count, us(v->margin_ns));
	print_trust(out, c, v, rules);
	print_control(out, v);
	if ((c->confirm != NULL ? c->confirm : c)->mpiruns < v->needed)
		text_line(out, "%zu mpiruns cannot prove any violation in %zu tests; %zu can",
		    (c->confirm != NULL ? c->confirm : c)->mpiruns, v->tests, v->needed);
	if (v->violations > 0)
		print_violations(out, v, all ? SIZE_MAX : SHOWN);
	if (v->undecided > 0)
		print_undecided(out, v, all ? SIZE_MAX : SHOWN);
	text_char(out, '\n');
	for (enum kind kind = MONOTONY; kind < KINDS; kind++)
		print_held(out, v, kind);
	text_line(out, "%s", v->violations > 0 ? "VIOLATED" : v->undecided > 0 ? "NOT DECIDABLE" : "HELD");
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
	table_end_line(table);
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
	table_end_line(&table);
	for (size_t f = 0; f < c->count; f++) {
		const char *function = c->series[f].function;

		if (strcmp(function, last) == 0)
			continue;
		last = function;
		table_text(&table, function);
		for (size_t i = 0; i < count; i++)
			put_marks(&table, v, function, sizes[i]);
		table_end_line(&table);
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
