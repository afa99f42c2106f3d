/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison as JSON. */
#include <math.h>
#include <stdlib.h>

#include "compare.h"

static void
put_interval(struct json *out, const struct change *change)
{
	json_fixed(out, "low_s", change->judged ? 1e-9 * change->low : NAN, 9);
	json_fixed(out, "high_s", change->judged ? 1e-9 * change->high : NAN, 9);
}

void
put_place(struct json *out, const struct unit *unit)
{
	const struct site_sums *p = unit->first;

	if (p->function != NULL)
		json_text(out, "function", p->function);
	else
		json_null(out, "function");
	if (p->file != NULL)
		json_text(out, "file", p->file);
	else
		json_null(out, "file");
	if (p->line > 0)
		json_int(out, "line", p->line);
	else
		json_null(out, "line");
	if (p->call != NULL)
		json_text(out, "call", p->call);
	else
		json_null(out, "call");
}

static void
put_site(struct json *out, const struct comparison *c, const struct verdict *v, size_t u)
{
	const struct change *path = &v->paths[u];
	const int32_t rank = rank_of_change(c, v, u);
	const struct site_sums *const *at = c->units[u].on;

	json_break(out);
	json_begin_object(out, NULL);
	put_place(out, &c->units[u]);
	json_seconds(out, "path_change_s", path->change_ns);
	put_interval(out, path);
	json_fixed(out, "p_adjusted", path->judged ? path->p_adjusted : NAN, 9);
	json_fixed(out, "detectable_s", 1e-9 * v->detectable[u], 9);
	json_bool(out, "named", v->named[u]);
	if (rank >= 0)
		json_int(out, "rank", rank);
	else
		json_null(out, "rank");
	json_text(out, "on", at[A] != NULL && at[B] != NULL ? "both" : at[A] != NULL ? "a" : "b");
	if (at[A] != NULL && at[B] != NULL && at[A]->line != at[B]->line && at[B]->line > 0)
		json_int(out, "line_b", at[B]->line);
	json_begin_object(out, "kinds");
	for (size_t k = 0; k < PATH_KINDS_COUNT; k++)
		json_seconds(out, path_kind_names[k], v->kinds_ns[u][k]);
	json_end_object(out);
	json_fixed(out, "path_a_s", 1e-9 * path->a, 9);
	json_fixed(out, "path_b_s", 1e-9 * path->b, 9);
	json_seconds(out, "total_change_s", v->totals[u].change_ns);
	json_fixed(out, "total_p", v->totals[u].judged ? v->totals[u].p : NAN, 9);
	json_seconds(out, "wait_change_s", difference(c, unit_wait, u));
	json_seconds(out, "delay_change_s", difference(c, unit_delay, u));
	json_end_object(out);
}

static void
put_facts(struct json *out, const struct comparison *c, const struct verdict *v)
{
	json_break(out);
	json_begin_array(out, "facts");
	for (size_t i = 0; i < v->fact_count; i++) {
		const struct fact *f = &v->facts[i];

		json_break(out);
		json_begin_object(out, NULL);
		json_text(out, "what", f->what);
		if (f->unit != NOBODY)
			put_place(out, &c->units[f->unit]);
		if (f->name != NULL)
			json_text(out, "name", f->name);
		json_double(out, "a", f->a);
		json_double(out, "b", f->b);
		json_text(out, "text", f->text);
		json_end_object(out);
	}
	json_end_array(out);
}

static void
put_rest(struct json *out, const struct comparison *c, const struct verdict *v)
{
	json_break(out);
	json_begin_object(out, "kinds");
	for (size_t k = 0; k < PATH_KINDS_COUNT; k++)
		json_seconds(out, path_kind_names[k], v->all_kinds_ns[k]);
	json_end_object(out);
	json_begin_array(out, "ranks");
	for (size_t r = 0; r < v->ranks; r++)
		json_seconds(out, NULL, v->ranks_ns[r]);
	json_end_array(out);
	json_begin_array(out, "phases");
	for (size_t u = 0; u <= c->unit_count; u++) {
		if (v->phases_ns[u] == 0)
			continue;
		json_break(out);
		json_begin_object(out, NULL);
		if (u < c->unit_count)
			put_place(out, &c->units[u]);
		json_seconds(out, "path_change_s", v->phases_ns[u]);
		json_end_object(out);
	}
	json_end_array(out);
	json_break(out);
	json_begin_array(out, "waits");
	for (size_t s = 0; s < STATES; s++) {
		if (mean_ns(c, A, state_wait, s) == 0 && mean_ns(c, B, state_wait, s) == 0)
			continue;
		json_break(out);
		json_begin_object(out, NULL);
		json_text(out, "name", state_names[s]);
		json_seconds(out, "a_s", mean_ns(c, A, state_wait, s));
		json_seconds(out, "b_s", mean_ns(c, B, state_wait, s));
		json_seconds(out, "change_s", difference(c, state_wait, s));
		json_end_object(out);
	}
	json_end_array(out);
	json_break(out);
	json_begin_object(out, "efficiencies");
	for (size_t e = 0; e < EFFICIENCIES; e++) {
		json_begin_object(out, efficiencies[e].name);
		json_fixed(out, "a", mean_of(c, A, efficiencies[e].offset), 9);
		json_fixed(out, "b", mean_of(c, B, efficiencies[e].offset), 9);
		json_end_object(out);
	}
	json_end_object(out);
}

void
print_comparison_json(struct text *text, const struct comparison *c, const struct verdict *v)
{
	struct json json, *out = &json;
	size_t *units = sorted_units(c, v);

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_text(out, "verdict", v->text);
	json_break(out);
	json_begin_object(out, "run_time");
	json_fixed(out, "a_s", 1e-9 * v->run_time.a, 9);
	json_fixed(out, "b_s", 1e-9 * v->run_time.b, 9);
	json_seconds(out, "change_s", v->run_time.change_ns);
	put_interval(out, &v->run_time);
	json_fixed(out, "p", v->run_time.judged ? v->run_time.p : NAN, 9);
	json_fixed(out, "spread_a_s", 1e-9 * v->run_spread[A], 9);
	json_fixed(out, "spread_b_s", 1e-9 * v->run_spread[B], 9);
	json_fixed(out, "detectable_s", 1e-9 * v->run_detectable, 9);
	json_end_object(out);
	json_break(out);
	json_begin_array(out, "sites");
	for (size_t i = 0; i < c->unit_count; i++)
		put_site(out, c, v, units[i]);
	json_end_array(out);
	put_functions(out, v);
	put_facts(out, c, v);
	put_limits(out, v);
	put_rest(out, c, v);
	json_begin_object(out, "runs");
	json_uint(out, "a", c->count[A]);
	json_uint(out, "b", c->count[B]);
	json_end_object(out);
	json_end_object(out);
	json_end_line(out);
	free(units);
}
