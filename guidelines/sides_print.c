/* SPDX-License-Identifier: BSD-3-Clause */
/* Sides beside each other: the paper's tables by guideline; before and after with spread. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "guidelines.h"

#define SIDE(member) FIELD(struct side, member)
static const struct field side_fields[] = {
	{ "side", SIDE(letter), .text = PLAIN },
	{ "name", SIDE(name), .json = PLAIN },
	{ "library", SIDE(c.setting.text[LIBRARY]), .json = PLAIN },
	{ "hosts", SIDE(c.setting.text[HOSTS]), .json = PLAIN },
	{ "ranks", SIDE(c.setting.ranks), IN_ALL },
	{ "mended", SIDE(mended), .json = PLAIN },
	{ "mpiruns", SIDE(c.mpiruns), IN_ALL },
	{ "confirming_mpiruns", SIDE(confirming), IN_ALL, .head = "confirming" },
	{ "monotony", SIDE(violated[MONOTONY]), .text = PLAIN },
	{ "split", SIDE(violated[SPLIT_ROBUSTNESS]), .text = PLAIN },
	{ "pattern", SIDE(violated[PATTERN]), .text = PLAIN },
	{ "violations", SIDE(v.violations), IN_ALL, .head = "violated" },
	{ "undecided", SIDE(v.undecided), IN_ALL },
	{ "tests", SIDE(v.count), IN_ALL },
	{ "verdict", SIDE(verdict), IN_ALL },
	{ "control_failed", SIDE(v.control_failed), .json = PLAIN },
	{ "control", SIDE(control), .text = PLAIN },
	{ "name", SIDE(name), .text = PLAIN },
	FIELDS_END
};

/* A violation at one size on some side: the first side, another, and how sure the change is. */
struct news {
	const char *letter;
	size_t side;
	enum kind kind;
	const char *guideline, *outcome;
	char *text;			/* both */
	uint64_t bytes;
	/* NAN: not measured */
	struct news_side { double function_ns, other_ns, ratio; bool violated; } a, b;
	/* shares; NAN if a side has not measured it */
	struct change { double share, low, high; } change;
};

#define NEWS(member) FIELD(struct news, member)
#define IN_CHANGE .text = "%.1f", .csv = "%.6g", .json = "%.6g", .percent = true
static const struct field news_fields[] = {
	{ "side", NEWS(letter), .text = PLAIN },
	{ "side", NEWS(side), IN_DATA },
	{ "kind", NEWS(kind), IN_DATA, .names = kind_names },
	{ "guideline", NEWS(guideline), IN_DATA },
	{ "bytes", NEWS(bytes), IN_ALL, .head = "m_bytes" },
	{ "a_function_us", NEWS(a.function_ns), .csv = "%.6g", .scale = 1e-3 },
	{ "a_us", NEWS(a.function_ns), .text = "%.3f", .json = "%.6g", .scale = 1e-3,
	    .head = "A_us" },
	{ "a_other_us", NEWS(a.other_ns), .csv = "%.6g", .scale = 1e-3 },
	{ "a_ratio", NEWS(a.ratio), .text = "%.3f", .csv = "%.6g", .json = "%.6g",
	    .head = "A_ratio" },
	{ "a_violated", NEWS(a.violated), .csv = PLAIN },
	{ "function_us", NEWS(b.function_ns), .csv = "%.6g", .scale = 1e-3 },
	{ "us", NEWS(b.function_ns), .text = "%.3f", .json = "%.6g", .scale = 1e-3 },
	{ "other_us", NEWS(b.other_ns), .csv = "%.6g", .scale = 1e-3 },
	{ "ratio", NEWS(b.ratio), .text = "%.3f", .csv = "%.6g", .json = "%.6g" },
	{ "violated", NEWS(b.violated), .csv = PLAIN },
	{ "change", NEWS(change.share), IN_CHANGE, .head = "change_%" },
	{ "low", NEWS(change.low), IN_CHANGE, .head = "low_%" },
	{ "high", NEWS(change.high), IN_CHANGE, .head = "high_%" },
	{ "outcome", NEWS(outcome), IN_DATA },
	{ "guideline", NEWS(text), .text = PLAIN },
	FIELDS_END
};

static void
describe_sides(struct sides *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct side *side = &s->at[i];

		snprintf(side->letter, sizeof side->letter, "%c", (char)('A' + i % 26));
		side->mended = side->c.setting.text[MENDED][0] != '\0';
		side->confirming = side->c.confirm != NULL ? side->c.confirm->mpiruns : 0;
		for (enum kind kind = MONOTONY; kind < KINDS; kind++)
			side->violated[kind] = count_violated(&side->v, kind);
		side->verdict = verdict_word(&side->v);
		side->control = !side->v.has_control ? "none" :
		    side->v.control_failed ? "FAILED" : "passed";
	}
}

/* Sizes at which the side finds it violated; with "?" those not decidable. */
static void
put_cell(struct table_writer *table, const struct side *side, const struct row *row)
{
	char cell[400] = "";
	size_t used = 0;
	bool any = false;

	for (size_t i = 0; i < row->count && used < sizeof cell - 30; i++) {
		const struct judgement *j = find_judgement(side, row->guideline, row->sizes[i]);

		any |= j != NULL;
		if (j != NULL && (j->violated || j->undecided))
			used += (size_t)snprintf(cell + used, sizeof cell - used, "%s%" PRIu64 "%s",
			    used > 0 ? "," : "", row->sizes[i], j->violated ? "" : "?");
	}
	table_text(table, !any ? "not measured" : used > 0 ? cell : "held");
}

/* The paper's tables, a guideline per line: those not held on some side, or with ALL every one. */
static void
print_rows(struct text *out, const struct sides *s, bool all)
{
	struct table_writer table;

	table_begin(&table, out, NULL);
	table_text(&table, "guideline");
	for (size_t i = 0; i < s->count; i++)
		table_format(&table, "%s_bytes", s->at[i].letter);
	table_end_line(&table);
	for (const struct row *row = s->rows; row < s->rows + s->row_count; row++) {
		if (!all && !row->news)
			continue;
		table_text(&table, row->guideline);
		for (size_t i = 0; i < s->count; i++)
			put_cell(&table, &s->at[i], row);
		table_end_line(&table);
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

/* Logarithms of lower quartiles by mpirun, which other load on the machine changes least. */
static struct sample
logs(const struct series *s)
{
	struct sample to = { zalloc(s->quartiles.count, sizeof *to.at), s->quartiles.count };

	for (size_t i = 0; i < to.count; i++)
		to.at[i] = log(fmax(1, s->quartiles.at[i]));
	return to;
}

/* How a function's time differs from the first side, from all pairs of mpiruns. */
static struct change
change_of(const struct sides *s, size_t side, const struct judgement *j,
    const struct rules_of_judging *rules)
{
	const char *function = j->function->function;
	const struct series *a = find_series(&s->at[0].c, function, FUNCTION,
	    j->function->bytes, 0);
	const struct series *b = find_series(&s->at[side].c, function, FUNCTION,
	    j->function->bytes, 0);
	struct sample x, y;
	struct effect effect;

	if (a == NULL || b == NULL)
		return (struct change){ NAN, NAN, NAN };
	x = logs(b);
	y = logs(a);
	effect = hodges_lehmann(x, y, 1 - rules->alpha);
	free(x.at);
	free(y.at);
	return (struct change){ expm1(effect.shift), expm1(effect.low), expm1(effect.high) };
}

static struct news_side
news_side(const struct judgement *j)
{
	return j == NULL ? (struct news_side){ NAN, NAN, NAN, false } :
	    (struct news_side){ j->function_ns, j->other_ns, j->ratio, j->violated };
}

/* For each guideline and size that any side finds violated. */
static struct news *
find_news(const struct sides *s, const struct rules_of_judging *rules, size_t *found)
{
	struct news *all = NULL;
	size_t capacity = 0;

	*found = 0;
	for (const struct row *row = s->rows; row < s->rows + s->row_count; row++)
		for (size_t k = 0; k < row->count; k++) {
			const struct judgement *a = find_judgement(&s->at[0], row->guideline,
			    row->sizes[k]), *b;
			bool violated = false;

			for (size_t i = 0; i < s->count; i++) {
				b = find_judgement(&s->at[i], row->guideline, row->sizes[k]);
				violated |= b != NULL && b->violated;
			}
			for (size_t i = 1; i < s->count && violated; i++) {
				struct news *n = APPEND(all, *found, capacity);

				b = find_judgement(&s->at[i], row->guideline, row->sizes[k]);
				*n = (struct news){ s->at[i].letter, i, row->kind, row->guideline,
				    outcome(a, b), NULL, row->sizes[k], news_side(a), news_side(b),
				    { NAN, NAN, NAN } };
				if (a != NULL && b != NULL)
					n->change = change_of(s, i, b, rules);
				n->text = formatted("%s: %s", n->guideline, n->outcome);
			}
		}
	return all;
}

void
print_sides(struct text *out, struct sides *s, const struct rules_of_judging *rules, bool all)
{
	size_t count;
	struct news *news = find_news(s, rules, &count);

	describe_sides(s);
	table_rows(out, side_fields, s->at, s->count, sizeof *s->at);
	text_char(out, '\n');
	print_rows(out, s, all);
	if (s->count > 1) {
		text_char(out, '\n');
		table_rows(out, news_fields, news, count, sizeof *news);
	}
}

void
print_sides_csv(struct text *out, const struct sides *s, const struct rules_of_judging *rules)
{
	size_t count;
	struct news *news = find_news(s, rules, &count);

	csv_rows(out, news_fields, news, count, sizeof *news);
}

void
print_sides_json(struct text *out, struct sides *s, const struct rules_of_judging *rules)
{
	struct json json;
	size_t count;
	struct news *news = find_news(s, rules, &count);

	describe_sides(s);
	json_begin(&json, out);
	json_begin_object(&json, NULL);
	json_rows(&json, "sides", side_fields, s->at, s->count, sizeof *s->at);
	json_break(&json);
	json_rows(&json, "changes", news_fields, news, count, sizeof *news);
	json_end_object(&json);
	json_end_line(&json);
}
