/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of samples, in each form of output. */
#include "../waits/counters.h"
#include "imbalance.h"

#define LINE(member) FIELD(struct counter_line, member)
#define ACROSS(counter) LINE(across[COUNT_##counter]), .known = UNLESS_NEGATIVE, .optional = true
static const struct field rank_fields[] = {
	{ "rank", LINE(rank), .text = PLAIN, .json = PLAIN },
	SHOWN_COUNTS(struct counter_line, counts),
	{ "counted_share", LINE(share), .text = "%.4f", .json = "%.6f" },
	{ "across_task_clock_s", ACROSS(task_clock), .json = "%.9f", .scale = 1e-9 },
	{ "across_page_faults", ACROSS(page_faults), .json = PLAIN },
	{ "across_migrations", ACROSS(migrations), .json = PLAIN },
	{ "across_instructions", ACROSS(instructions), .json = PLAIN },
	{ "across_cycles", ACROSS(cycles), .json = PLAIN },
	FIELDS_END
};
static const struct field function_fields[] = {
	{ "rank", LINE(rank), .text = PLAIN, .json = PLAIN },
	{ "function", LINE(function), .json = PLAIN }, { "file", LINE(file), .json = PLAIN },
	SHOWN_COUNTS(struct counter_line, counts),
	{ "counted between two samples in", LINE(function), .text = PLAIN }, FIELDS_END
};

#define PRODUCT(member) FIELD(struct product, member)
#define RATIO(name, member) { name "_ratio", PRODUCT(member), .json = "%.6f", .optional = true }
static const struct field product_fields[] = {
	{ "rank", PRODUCT(rank), .json = PLAIN },
	RATIO("compute", compute), RATIO("on_core", on_core), RATIO("instructions", instructions),
	RATIO("cycles_per_instruction", cycles_per_instruction), RATIO("clock", clock),
	{ "blocked_more_s", PRODUCT(blocked_ns), .json = "%.9f", .scale = 1e-9 },
	{ "preempted_more_s", PRODUCT(preempted_ns), .json = "%.9f", .scale = 1e-9 },
	{ "unknown_more_s", PRODUCT(unknown_ns), .json = "%.9f", .scale = 1e-9 },
	FIELDS_END
};

static void
lines_text(struct text *out, const struct field *fields, const struct counter_line *lines,
    size_t count, size_t most)
{
	text_char(out, '\n');
	table_rows(out, fields, lines, count < most ? count : most, sizeof *lines);
}

void
counters_text(struct text *out, const struct imbalance *im, const struct by_function *by, bool all)
{
	struct counters found;
	struct product p;
	char line[512];

	if (!counters_find(im, by, &found))
		return;
	lines_text(out, rank_fields, found.ranks, (size_t)found.rank_count, all ? SIZE_MAX : 16);
	counters_say(&found, line, sizeof line);
	text_line(out, "%s", line);
	if (counters_product(by, &found, &p)) {
		product_say(&found, &p, line, sizeof line);
		text_line(out, "%s", line);
	}
	lines_text(out, function_fields, found.functions, found.function_count,
	    all ? SIZE_MAX : 10);
	counters_free(&found);
}

void
counters_json(struct json *out, const struct imbalance *im, const struct by_function *by)
{
	struct counters found;
	struct product p;

	if (!counters_find(im, by, &found))
		return;
	json_break(out);
	json_begin_object(out, "counters");
	json_begin_array(out, "none_of");
	for (int c = 0; c < COUNTERS; c++)
		if (!found.known[c])
			json_text(out, NULL, counter_names[c]);
	json_end_array(out);
	json_rows(out, "by_rank", rank_fields, found.ranks, (size_t)found.rank_count,
	    sizeof *found.ranks);
	if (counters_product(by, &found, &p))
		json_row(out, "slowest", product_fields, &p);
	json_rows(out, "by_function", function_fields, found.functions, found.function_count,
	    sizeof *found.functions);
	json_end_object(out);
	counters_free(&found);
}
