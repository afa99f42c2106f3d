/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of the tests for programs: JSON, CSV and a stream. */
#include <math.h>
#include <unistd.h>

#include "guidelines.h"

#define TEST(member) FIELD(struct judgement, member)
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

static void
put_setting(struct json *out, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules)
{
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
	json_break(out);
	json_begin_array(out, "violations");
	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].violated) {
			json_break(out);
			json_row(out, NULL, violation_fields, &v->at[i]);
		}
	json_end_array(out);
	json_break(out);
	json_begin_array(out, "undecided");
	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].undecided) {
			json_break(out);
			json_row(out, NULL, undecided_fields, &v->at[i]);
		}
	json_end_array(out);
	put_setting(out, c, v, rules);
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

	if (writer_open(&out, STDOUT_FILENO, "verdict", NULL, argc, argv) < 0)
		die_output();
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
	if (writer_end(&out) < 0)
		die_output();
}
