/* SPDX-License-Identifier: BSD-3-Clause */
/* Sides beside each other: the paper's tables with guidelines as rows, before and after with their spread. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/csv.h"
#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "sides.h"

static double
us(double ns)
{
	return 1e-3 * ns;
}

static const char *
verdict_of(const struct verdict *v)
{
	return v->violations > 0 ? "violated" : v->undecided > 0 ? "not decidable" : "held";
}

/* Of a kind, or of a function and kind where FUNCTION is given: guidelines that are violated, and all. */
static void
count_rows(const struct sides *s, const struct side *side, enum kind kind, size_t *violated, size_t *all)
{
	*violated = *all = 0;
	for (size_t r = 0; r < s->row_count; r++) {
		bool any = false, broken = false;

		for (size_t k = 0; k < side->v.count && s->rows[r].kind == kind; k++)
			if (strcmp(side->v.at[k].guideline, s->rows[r].guideline) == 0) {
				any = true;
				broken |= side->v.at[k].violated;
			}
		*all += any;
		*violated += broken;
	}
}

static void
print_heads(struct text *out, const struct sides *s)
{
	struct table_writer table;

	table_begin(&table, out, "side\tranks\tmpiruns\tconfirming\tmonotony\tsplit\tpattern\tviolated\tundecided\t"
	    "tests\tverdict\tcontrol\tname");
	for (size_t i = 0; i < s->count; i++) {
		const struct side *side = &s->at[i];

		table_format(&table, "%c", (char)('A' + i % 26));
		table_int(&table, side->c.setting.ranks);
		table_uint(&table, side->c.mpiruns);
		table_uint(&table, side->c.confirm != NULL ? side->c.confirm->mpiruns : 0);
		for (enum kind kind = MONOTONY; kind < KINDS; kind++) {
			size_t violated, all;

			count_rows(s, side, kind, &violated, &all);
			table_format(&table, "%zu/%zu", violated, all);
		}
		table_uint(&table, side->v.violations);
		table_uint(&table, side->v.undecided);
		table_uint(&table, side->v.count);
		table_text(&table, verdict_of(&side->v));
		table_text(&table, !side->v.has_control ? "none" : side->v.control_failed ? "FAILED" : "passed");
		table_text(&table, side->name);
		table_end_line(&table);
	}
	table_end(&table);
}

/* Sizes at which the side finds it violated; with "?" those at which nothing can be decided. */
static void
put_cell(struct table_writer *table, const struct side *side, const char *guideline, const uint64_t *sizes,
    size_t count)
{
	char cell[400] = "";
	size_t used = 0;
	bool any = false;

	for (size_t i = 0; i < count && used < sizeof cell - 30; i++) {
		const struct judgement *j = find_judgement(side, guideline, sizes[i]);

		any |= j != NULL;
		if (j != NULL && (j->violated || j->undecided))
			used += (size_t)snprintf(cell + used, sizeof cell - used, "%s%" PRIu64 "%s",
			    used > 0 ? "," : "", sizes[i], j->violated ? "" : "?");
	}
	table_text(table, !any ? "not measured" : used > 0 ? cell : "held");
}

/* The paper's tables, a guideline a row: those that some side does not hold, or with ALL every one. */
static void
print_rows(struct text *out, const struct sides *s, bool all)
{
	struct table_writer table;

	table_begin(&table, out, NULL);
	table_text(&table, "guideline");
	for (size_t i = 0; i < s->count; i++)
		table_format(&table, "%c_bytes", (char)('A' + i % 26));
	table_end_line(&table);
	for (size_t r = 0; r < s->row_count; r++) {
		size_t count;
		uint64_t *sizes = row_sizes(s, &s->rows[r], &count);
		bool news = all;

		for (size_t k = 0; k < count; k++)
			news |= is_news(s, &s->rows[r], sizes[k]);
		if (news) {
			table_text(&table, s->rows[r].guideline);
			for (size_t i = 0; i < s->count; i++)
				put_cell(&table, &s->at[i], s->rows[r].guideline, sizes, count);
			table_end_line(&table);
		}
		free(sizes);
	}
	table_end(&table);
}

static const char *
outcome(const struct judgement *a, const struct judgement *b)
{
	static const char *const words[3][3] = {
		{ "held in both", "undecided, held before", "violated, held before" },
		{ "held, undecided before", "undecided in both", "violated, undecided before" },
		{ "held, violated before", "undecided, violated before", "violated in both" },
	};

	if (a == NULL || b == NULL)
		return "measured in one";
	return words[a->violated ? 2 : a->undecided][b->violated ? 2 : b->undecided];
}

/* What is violated at some side, at one size: the first side and another, and how sure the change is. */
struct news {
	const struct row *row;
	uint64_t bytes;
	size_t side;
	const struct judgement *a, *b;	/* NULL where not measured */
	struct change change;
};

static void
for_news(const struct sides *s, const struct rules_of_judging *rules,
    void (*take)(void *out, const struct news *news), void *out)
{
	for (size_t r = 0; r < s->row_count; r++) {
		size_t count;
		uint64_t *sizes = row_sizes(s, &s->rows[r], &count);

		for (size_t k = 0; k < count; k++)
			for (size_t i = 1; i < s->count && is_news(s, &s->rows[r], sizes[k]); i++) {
				struct news n = { &s->rows[r], sizes[k], i,
					find_judgement(&s->at[0], s->rows[r].guideline, sizes[k]),
					find_judgement(&s->at[i], s->rows[r].guideline, sizes[k]), { NAN, NAN, NAN } };

				if (n.a != NULL && n.b != NULL)
					n.change = change_of(s, i, n.b, rules);
				take(out, &n);
			}
		free(sizes);
	}
}

static void
put_line(void *out, const struct news *n)
{
	struct table_writer *table = out;
	const double values[] = { n->a != NULL ? us(n->a->function_ns) : NAN, n->a != NULL ? n->a->ratio : NAN,
		n->b != NULL ? us(n->b->function_ns) : NAN, n->b != NULL ? n->b->ratio : NAN };

	table_format(table, "%c", (char)('A' + n->side % 26));
	table_uint(table, n->bytes);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		table_fixed(table, values[i], 3);
	table_fixed(table, 100 * n->change.share, 1);
	table_fixed(table, 100 * n->change.low, 1);
	table_fixed(table, 100 * n->change.high, 1);
	table_format(table, "%s: %s", n->row->guideline, outcome(n->a, n->b));
	table_end_line(table);
}

void
print_sides(struct text *out, const struct sides *s, const struct rules_of_judging *rules, bool all)
{
	struct table_writer table;

	print_heads(out, s);
	text_char(out, '\n');
	print_rows(out, s, all);
	if (s->count > 1) {
		text_char(out, '\n');
		table_begin(&table, out, "side\tm_bytes\tA_us\tA_ratio\tus\tratio\tchange_%\tlow_%\thigh_%\tguideline");
		for_news(s, rules, put_line, &table);
		table_end(&table);
	}
}

static void
put_row(void *out, const struct news *n)
{
	struct csv *csv = out;
	const struct judgement *both[] = { n->a, n->b };

	csv_int(csv, (int64_t)n->side);
	csv_text(csv, kind_names[n->row->kind]);
	csv_text(csv, n->row->guideline);
	csv_uint(csv, n->bytes);
	for (int i = 0; i < 2; i++) {
		csv_significant(csv, both[i] != NULL ? us(both[i]->function_ns) : NAN, 6);
		csv_significant(csv, both[i] != NULL ? us(both[i]->other_ns) : NAN, 6);
		csv_significant(csv, both[i] != NULL ? both[i]->ratio : NAN, 6);
		csv_int(csv, both[i] != NULL && both[i]->violated);
	}
	csv_significant(csv, n->change.share, 6);
	csv_significant(csv, n->change.low, 6);
	csv_significant(csv, n->change.high, 6);
	csv_text(csv, outcome(n->a, n->b));
	csv_end_row(csv);
}

void
print_sides_csv(struct text *out, const struct sides *s, const struct rules_of_judging *rules)
{
	struct csv csv;

	csv_begin(&csv, out, "side,kind,guideline,bytes,a_function_us,a_other_us,a_ratio,a_violated,function_us,other_us,"
	    "ratio,violated,change,low,high,outcome");
	for_news(s, rules, put_row, &csv);
}

static void
put_change(void *out, const struct news *n)
{
	struct json *json = out;

	json_break(json);
	json_begin_object(json, NULL);
	json_uint(json, "side", n->side);
	json_text(json, "kind", kind_names[n->row->kind]);
	json_text(json, "guideline", n->row->guideline);
	json_uint(json, "bytes", n->bytes);
	json_significant(json, "a_us", n->a != NULL ? us(n->a->function_ns) : NAN, 6);
	json_significant(json, "a_ratio", n->a != NULL ? n->a->ratio : NAN, 6);
	json_significant(json, "us", n->b != NULL ? us(n->b->function_ns) : NAN, 6);
	json_significant(json, "ratio", n->b != NULL ? n->b->ratio : NAN, 6);
	json_significant(json, "change", n->change.share, 6);
	json_significant(json, "low", n->change.low, 6);
	json_significant(json, "high", n->change.high, 6);
	json_text(json, "outcome", outcome(n->a, n->b));
	json_end_object(json);
}

static void
put_side(struct json *json, const struct side *side)
{
	json_break(json);
	json_begin_object(json, NULL);
	json_text(json, "name", side->name);
	json_text(json, "library", side->c.setting.library);
	json_text(json, "hosts", side->c.setting.hosts);
	json_int(json, "ranks", side->c.setting.ranks);
	json_bool(json, "mended", side->c.setting.mended[0] != '\0');
	json_uint(json, "mpiruns", side->c.mpiruns);
	json_uint(json, "confirming_mpiruns", side->c.confirm != NULL ? side->c.confirm->mpiruns : 0);
	json_uint(json, "violations", side->v.violations);
	json_uint(json, "undecided", side->v.undecided);
	json_uint(json, "tests", side->v.count);
	json_text(json, "verdict", verdict_of(&side->v));
	json_bool(json, "control_failed", side->v.control_failed);
	json_end_object(json);
}

void
print_sides_json(struct text *out, const struct sides *s, const struct rules_of_judging *rules)
{
	struct json json;

	json_begin(&json, out);
	json_begin_object(&json, NULL);
	json_begin_array(&json, "sides");
	for (size_t i = 0; i < s->count; i++)
		put_side(&json, &s->at[i]);
	json_end_array(&json);
	json_break(&json);
	json_begin_array(&json, "changes");
	for_news(s, rules, put_change, &json);
	json_end_array(&json);
	json_end_object(&json);
	json_end_line(&json);
}
