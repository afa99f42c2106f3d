/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests say, for programs: JSON, CSV and a stream. */
#include <math.h>
#include <unistd.h>

#include "../base/tool/csv.h"
#include "../base/tool/json.h"
#include "guidelines.h"

static double
us(double ns)
{
	return 1e-3 * ns;
}

/* What is the same of violations and of what could not be decided. */
static void
put_head(struct json *out, const struct judgement *j)
{
	json_break(out);
	json_begin_object(out, NULL);
	json_text(out, "kind", kind_names[j->kind]);
	json_text(out, "guideline", j->guideline);
	json_uint(out, "bytes", j->function->bytes);
}

static void
put_setting(struct json *out, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules)
{
	json_break(out);
	json_int(out, "ranks", c->setting.ranks);
	json_text(out, "library", c->setting.library);
	json_uint(out, "mpiruns", c->mpiruns);
	json_uint(out, "confirming_mpiruns", c->confirm != NULL ? c->confirm->mpiruns : 0);
	json_bool(out, "confirmed", c->confirm != NULL);
	json_uint(out, "tests", v->count);
	json_uint(out, "held", v->count - v->violations - v->undecided);
	json_significant(out, "false_alarms", rules->alpha, 6);
	json_significant(out, "power", POWER, 6);
	json_significant(out, "difference", rules->difference, 6);
	json_text(out, "verdict", v->violations > 0 ? "violated" : v->undecided > 0 ? "not decidable" :
	    "held");
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
	for (size_t i = 0; i < v->count; i++) {
		const struct judgement *j = &v->at[i];

		if (!j->violated)
			continue;
		put_head(out, j);
		json_significant(out, "p_value", j->p, 6);
		json_significant(out, "p_adjusted", j->p_adjusted, 6);
		json_significant(out, "ratio", j->ratio, 6);
		json_end_object(out);
	}
	json_end_array(out);
	json_break(out);
	json_begin_array(out, "undecided");
	for (size_t i = 0; i < v->count; i++)
		if (v->at[i].undecided) {
			put_head(out, &v->at[i]);
			json_significant(out, "margin_us", 1e-3 * v->at[i].seen_ns, 6);
			json_end_object(out);
		}
	json_end_array(out);
	put_setting(out, c, v, rules);
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
	    "other_us,ratio,shift_us,low_us,high_us,p_value,p_normal,p_adjusted,screen_ratio,margin_us,undecided,violated");
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
		csv_significant(out, j->screen_ratio, 6);
		csv_significant(out, isfinite(j->seen_ns) ? us(j->seen_ns) : NAN, 6);
		csv_int(out, j->undecided);
		csv_int(out, j->violated);
		csv_end_row(out);
	}
}

static int
put_judgement(struct writer *out, const struct judgement *j)
{
	message_begin(out, "test", 17);
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
	put_int(out, "undecided", j->undecided);
	put_double(out, "seen_ns", isfinite(j->seen_ns) ? j->seen_ns : -1);
	return message_end(out);
}

void
write_stream(const struct campaign *c, const struct verdict *v, int argc, char **argv)
{
	struct writer out;

	if (writer_open(&out, STDOUT_FILENO, "verdict", NULL, argc, argv) < 0)
		die_output();
	message_begin(&out, "verdict", 8);
	put_int(&out, "ranks", c->setting.ranks);
	put_string(&out, "library", c->setting.library);
	put_uint(&out, "mpiruns", c->mpiruns);
	put_uint(&out, "confirming", c->confirm != NULL ? c->confirm->mpiruns : 0);
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
