/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of the tests for people: on a screen, and as the paper's tables. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guidelines.h"

#define TEST(member) FIELD(struct judgement, member)
static const struct field violation_fields[] = {
	{ "kind", TEST(kind), .json = PLAIN, .names = kind_names },
	{ "guideline", TEST(guideline), .json = PLAIN },
	{ "bytes", TEST(bytes), .json = PLAIN },
	{ "p_value", TEST(p), .json = "%.6g" },
	{ "p_adjusted", TEST(p_adjusted), .json = "%.6g" },
	{ "ratio", TEST(ratio), .json = "%.6g", .text = "%.3f" },
	{ "m_bytes", TEST(bytes), .text = PLAIN },
	{ "n_bytes", TEST(volume), .text = PLAIN },
	{ "slow_us", TEST(function_ns), .text = "%.3f", .scale = 1e-3 },
	{ "fast_us", TEST(other_ns), .text = "%.3f", .scale = 1e-3 },
	{ "shift_us", TEST(shift.shift), .text = "%.3f", .scale = 1e-3 },
	{ "low", TEST(shift.low), .text = "%.3f", .scale = 1e-3 },
	{ "high", TEST(shift.high), .text = "%.3f", .scale = 1e-3 },
	{ "p", TEST(p), .text = "%.2g" },
	{ "p_normal", TEST(p_normal), .text = "%.3g" },
	{ "p_adj", TEST(p_adjusted), .text = "%.2g" },
	{ "sure", TEST(sure), .text = PLAIN },
	{ "violated", TEST(text), .text = PLAIN },
	FIELDS_END
}, undecided_fields[] = {
	{ "kind", TEST(kind), .json = PLAIN, .names = kind_names },
	{ "guideline", TEST(guideline), .json = PLAIN },
	{ "bytes", TEST(bytes), .json = PLAIN, .text = PLAIN, .head = "m_bytes" },
	{ "fast_us", TEST(other_ns), .text = "%.3f", .scale = 1e-3 },
	{ "margin_us", TEST(margin_ns), .json = "%.6g", .scale = 1e-3 },
	{ "margin_us", TEST(seen_ns), .text = "%.3f", .scale = 1e-3 },
	{ "not decidable", TEST(text), .text = PLAIN },
	FIELDS_END
};

enum { SHOWN = 15 };	/* violations in the table, to fit on a screen */

const char *
stars(double p)
{
	return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : "";
}

const char *
verdict_word(const struct verdict *v)
{
	return v->violations > 0 ? "violated" : v->undecided > 0 ? "not decidable" : "held";
}

ORDER(by_ratio, struct judgement *const, COMPARED((*b)->ratio, (*a)->ratio) COMPARED(*a, *b))

/* A guideline is counted at its first judgement. */
static bool
is_first(const struct verdict *v, size_t i)
{
	return i == 0 || strcmp(v->at[i - 1].guideline, v->at[i].guideline) != 0;
}

/* Whether any judgement of the guideline that begins at I is VIOLATED, or else not held. */
static bool
any_is(const struct verdict *v, size_t i, bool violated)
{
	const char *guideline = v->at[i].guideline;
	bool any = false;

	for (; i < v->count && strcmp(v->at[i].guideline, guideline) == 0; i++)
		any |= v->at[i].violated || (!violated && v->at[i].undecided);
	return any;
}

static void
print_control(struct text *out, const struct verdict *v)
{
	if (!v->has_control)
		text_line(out,
		    "A/A control: none was measured, so nobody knows how far this can be trusted");
	else
		text_line(out, "A/A control, %s under two names: p %.3g at %" PRIu64 " bytes%s",
		    v->control->function, v->control_p, v->control->bytes, v->control_failed ?
		    ": FAILED, the verdict is worth nothing" : ": passed");
}

ORDER(by_seen, struct judgement *const,
    COMPARED((*b)->seen_ns / (*b)->other_ns, (*a)->seen_ns / (*a)->other_ns) COMPARED(*a, *b))

/* Judgements that are VIOLATED, or else undecided. */
static void
print_found(struct text *out, const struct verdict *v, bool violated, size_t shown)
{
	const struct field *fields = violated ? violation_fields : undecided_fields;
	const struct judgement **found = zalloc(v->count, sizeof *found);
	struct table_writer table;
	size_t count = 0;

	for (size_t i = 0; i < v->count; i++)
		if (violated ? v->at[i].violated : v->at[i].undecided)
			found[count++] = &v->at[i];
	qsort(found, count, sizeof *found, violated ? by_ratio : by_seen);
	text_char(out, '\n');
	table_begin(&table, out, NULL);
	table_head(&table, fields);
	for (size_t i = 0; i < count && i < shown; i++)
		table_row(&table, fields, found[i]);
	table_end(&table);
	if (count > shown)
		text_line(out, "(%zu more; --all shows them)", count - shown);
	free(found);
}

/* Common names of held guidelines of a kind: GL 1 and 2 by function. */
static void
print_held(struct text *out, const struct verdict *v, enum kind kind)
{
	static const char *const heads[] = { "A(n) <= A(n+k)", "A(n) <= k A(n/k)", "patterns" };
	size_t column = 0;

	for (size_t i = 0; i < v->count; i++) {
		const struct judgement *j = &v->at[i];
		const char *name = kind == PATTERN ? j->guideline :
		    short_name(j->function->function);

		if (j->kind != kind || !is_first(v, i) || any_is(v, i, false))
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
		text_line(out, "%zu candidates in %zu mpiruns more; a violation is what these "
		    "confirm as more than %.3g %% slower", v->tests, c->confirm->mpiruns,
		    100 * rules->slower);
	else
		text_line(out, "one stage: no second campaign has confirmed what is said here");
	text_line(out, "false alarms: %s; power: a difference of %.3g %% would "
	    "have been seen in %zu of %zu tests, each with probability %.2g",
	    rules->correction == HOLM ? "any at all in at most the share alpha of campaigns" :
	    "not bounded for all tests together", 100 * rules->difference, seen, v->count, POWER);
}

void
print_table(struct text *out, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules, bool all)
{
	const char *library = c->setting.text[LIBRARY];

	text_line(out, "%zu mpiruns of %" PRId64 " ranks%s%s; %zu tests; differences up to %.3f us "
	    "do not count", c->mpiruns, c->setting.ranks, library[0] != '\0' ? ", " : "", library,
	    v->count, 1e-3 * v->margin_ns);
	print_trust(out, c, v, rules);
	print_control(out, v);
	if ((c->confirm != NULL ? c->confirm : c)->mpiruns < v->needed)
		text_line(out, "%zu mpiruns cannot prove any violation in %zu tests; %zu can",
		    (c->confirm != NULL ? c->confirm : c)->mpiruns, v->tests, v->needed);
	if (v->violations > 0)
		print_found(out, v, true, all ? SIZE_MAX : SHOWN);
	if (v->undecided > 0)
		print_found(out, v, false, all ? SIZE_MAX : SHOWN);
	text_char(out, '\n');
	for (enum kind kind = MONOTONY; kind < KINDS; kind++)
		print_held(out, v, kind);
	text_line(out, "%s", v->violations > 0 ? "VIOLATED" :
	    v->undecided > 0 ? "NOT DECIDABLE" : "HELD");
}

void
add_size(uint64_t **sizes, size_t *count, size_t *capacity, uint64_t bytes)
{
	size_t at = *count;

	while (at > 0 && (*sizes)[at - 1] >= bytes)
		at--;
	if (at < *count && (*sizes)[at] == bytes)
		return;
	GROW(*sizes, *capacity, *count + 1);
	memmove(*sizes + at + 1, *sizes + at, (*count - at) * sizeof **sizes);
	(*sizes)[at] = bytes;
	++*count;
}

/* Marks m, s and p if monotony, split-robustness or a pattern is violated at the size. */
static void
put_marks(struct table_writer *table, const struct verdict *v, const char *function, uint64_t bytes)
{
	char marks[KINDS + 1] = "";

	for (enum kind kind = MONOTONY; kind < KINDS; kind++)
		for (const struct judgement *j = v->at; j < v->at + v->count; j++) {
			if (j->kind == kind && j->violated && j->function->bytes == bytes &&
			    strcmp(j->function->function, function) == 0) {
				strncat(marks, &"msp"[kind], 1);
				break;
			}
		}
	table_text(table, marks);
}

char *
count_violated(const struct verdict *v, enum kind kind)
{
	size_t all = 0, violated = 0;

	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].kind == kind && is_first(v, i)) {
			all++;
			violated += any_is(v, i, true);
		}
	return formatted("%zu/%zu", violated, all);
}

void
print_tables(struct text *out, const struct campaign *c, const struct verdict *v)
{
	struct table_writer table;
	size_t count = 0, capacity = 0;
	uint64_t *sizes = NULL;
	const char *last = "";

	for (size_t i = 0; i < v->count; i++)
		add_size(&sizes, &count, &capacity, v->at[i].bytes);
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
	for (enum kind kind = MONOTONY; kind < KINDS; kind++) {
		table_text(&table, kind_names[kind]);
		table_text(&table, count_violated(v, kind));
		table_end_line(&table);
	}
	table_end(&table);
	text_char(out, '\n');
	print_control(out, v);
	free(sizes);
}

/* ---- for programs: JSON, CSV and a stream ---- */

#define IN_US .csv = "%.6f", .scale = 1e-3
static const struct field test_fields[] = {
	{ "kind", TEST(kind), .csv = PLAIN, .names = kind_names, .key = "type" },
	{ "guideline", TEST(guideline), .csv = PLAIN, .key = "guideline" },
	{ "function", TEST(name), .csv = PLAIN, .key = "function" },
	{ "other", TEST(other_name), .csv = PLAIN, .key = "other" },
	{ "bytes", TEST(bytes), .csv = PLAIN, .key = "bytes" },
	{ "volume_bytes", TEST(volume), .csv = PLAIN, .key = "volume" },
	{ "other_bytes", TEST(other_bytes), .csv = PLAIN, .key = "other_bytes" },
	{ "function_us", TEST(function_ns), IN_US, .key = "function_ns" },
	{ "other_us", TEST(other_ns), IN_US, .key = "other_ns" },
	{ "ratio", TEST(ratio), .csv = "%.6f" },
	{ "shift_us", TEST(shift.shift), IN_US, .key = "shift_ns" },
	{ "low_us", TEST(shift.low), IN_US, .key = "low_ns" },
	{ "high_us", TEST(shift.high), IN_US, .key = "high_ns" },
	{ "p_value", TEST(p), .csv = "%.6g", .key = "p_value" },
	{ "p_normal", TEST(p_normal), .csv = "%.6g" },
	{ "p_adjusted", TEST(p_adjusted), .csv = "%.6g", .key = "p_adjusted" },
	{ "screen_ratio", TEST(screen_ratio), .csv = "%.6g" },
	{ "margin_us", TEST(margin_ns), .csv = "%.6g", .scale = 1e-3 },
	{ "violated", TEST(violated), .key = "violated" },
	{ "undecided", TEST(undecided), .csv = PLAIN, .key = "undecided" },
	{ "violated", TEST(violated), .csv = PLAIN },
	{ "seen", TEST(known_margin_ns), .key = "seen_ns" },
	FIELDS_END
};

/* Judgements that are VIOLATED, or else undecided. */
static void
put_found(struct json *out, const char *key, const struct verdict *v, bool violated)
{
	json_break(out);
	json_begin_array(out, key);
	for (const struct judgement *j = v->at; j < v->at + v->count; j++)
		if (violated ? j->violated : j->undecided) {
			json_break(out);
			json_row(out, NULL, violated ? violation_fields : undecided_fields, j);
		}
	json_end_array(out);
}

void
print_json(struct text *text, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules)
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
	put_found(out, "violations", v, true);
	put_found(out, "undecided", v, false);
	json_break(out);
	json_int(out, "ranks", c->setting.ranks);
	json_text(out, "library", c->setting.text[LIBRARY]);
	json_uint(out, "mpiruns", c->mpiruns);
	json_uint(out, "confirming_mpiruns", c->confirm != NULL ? c->confirm->mpiruns : 0);
	json_bool(out, "confirmed", c->confirm != NULL);
	json_uint(out, "tests", v->count);
	json_uint(out, "held", v->count - v->violations - v->undecided);
	json_significant(out, "false_alarms", rules->alpha, 6);
	json_significant(out, "power", POWER, 6);
	json_significant(out, "difference", rules->difference, 6);
	json_text(out, "verdict", verdict_word(v));
	json_end_object(out);
	json_end_line(out);
}

void
print_csv(struct text *text, const struct verdict *v)
{
	csv_rows(text, test_fields, v->at, v->count, sizeof *v->at);
}

void
write_stream(const struct campaign *c, const struct verdict *v, int argc, char **argv)
{
	struct writer out;

	need_output(writer_open(&out, STDOUT_FILENO, "verdict", NULL, argc, argv));
	message_begin(&out, "verdict", 8);
	put_int(&out, "ranks", c->setting.ranks);
	put_string(&out, "library", c->setting.text[LIBRARY]);
	put_uint(&out, "mpiruns", c->mpiruns);
	put_uint(&out, "confirming", c->confirm != NULL ? c->confirm->mpiruns : 0);
	put_uint(&out, "tests", v->count);
	put_double(&out, "margin_ns", v->margin_ns);
	put_double(&out, "control_p_value", v->has_control ? v->control_p : -1);
	put_int(&out, "control_failed", v->control_failed);
	end_message(&out);
	for (size_t i = 0; i < v->count; i++)
		put_row(&out, "test", test_fields, &v->at[i]);
	need_output(writer_end(&out));
}
