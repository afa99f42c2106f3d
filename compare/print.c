/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison as text, JSON, CSV and a stream. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

/* Sites, largest change on the path first. */
static size_t *
sorted_units(const struct comparison *c, const struct verdict *v)
{
	size_t *units = zalloc(c->unit_count + 1, sizeof *units);

	for (size_t u = 0; u < c->unit_count; u++) {
		size_t at = u;

		for (; at > 0 && llabs(v->paths[units[at - 1]].change_ns) < llabs(v->paths[u].change_ns); at--)
			units[at] = units[at - 1];
		units[at] = u;
	}
	return units;
}

static double
mean_of(const struct comparison *c, int side, size_t offset)
{
	double sum = 0;

	for (size_t r = 0; r < c->count[side]; r++)
		sum += *(const double *)(const void *)((const char *)&c->runs[side][r] + offset);
	return sum / (double)c->count[side];
}

static const struct { const char *name; size_t offset; } efficiencies[] = {
	{ "parallel", offsetof(struct summary, parallel) },
	{ "load_balance", offsetof(struct summary, load_balance) },
	{ "communication", offsetof(struct summary, communication) },
};
enum { EFFICIENCIES = sizeof efficiencies / sizeof efficiencies[0] };

static int64_t
state_wait(const struct summary *run, size_t state)
{
	return run->wait_ns[state];
}

static int64_t
unit_wait(const struct summary *run, size_t unit)
{
	return run->by_unit[unit] != NULL ? run->by_unit[unit]->wait_ns : 0;
}

static int64_t
unit_delay(const struct summary *run, size_t unit)
{
	return run->by_unit[unit] != NULL ? run->by_unit[unit]->delay_ns : 0;
}

static int64_t
difference(const struct comparison *c, VALUE(of), size_t index)
{
	return mean_ns(c, B, of, index) - mean_ns(c, A, of, index);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void
put_interval(struct json *out, const struct change *change)
{
	json_fixed(out, "low_s", change->judged ? 1e-9 * change->low : NAN, 9);
	json_fixed(out, "high_s", change->judged ? 1e-9 * change->high : NAN, 9);
}

static void
put_place(struct json *out, const struct unit *unit)
{
	const struct place *p = unit->first;

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
	const struct place *const *at = c->units[u].on;

	json_break(out);
	json_begin_object(out, NULL);
	put_place(out, &c->units[u]);
	json_seconds(out, "path_change_s", path->change_ns);
	put_interval(out, path);
	json_fixed(out, "p_adjusted", path->judged ? path->p_adjusted : NAN, 9);
	json_bool(out, "named", v->named[u]);
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

static void
print_json(struct text *text, const struct comparison *c, const struct verdict *v)
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
	json_end_object(out);
	json_break(out);
	json_begin_array(out, "sites");
	for (size_t i = 0; i < c->unit_count; i++)
		put_site(out, c, v, units[i]);
	json_end_array(out);
	put_facts(out, c, v);
	put_rest(out, c, v);
	json_begin_object(out, "runs");
	json_uint(out, "a", c->count[A]);
	json_uint(out, "b", c->count[B]);
	json_end_object(out);
	json_end_object(out);
	json_end_line(out);
	free(units);
}

/* ---- text and CSV ----------------------------------------------------------------------- */

static void
table_change(struct table_writer *out, const struct change *change)
{
	table_seconds(out, change->change_ns);
	table_fixed(out, change->judged ? 1e-9 * change->low : NAN, 6);
	table_fixed(out, change->judged ? 1e-9 * change->high : NAN, 6);
	table_fixed(out, change->judged ? change->p_adjusted : NAN, 4);
}

static void
print_sites(struct text *text, const struct comparison *c, const struct verdict *v, size_t shown)
{
	struct table_writer table, *out = &table;
	size_t *units = sorted_units(c, v);
	char name[512];

	text_line(text, "change of the critical path by site; all sites make up the change of the run time");
	table_begin(out, text, "change_s\tlow_s\thigh_s\tp_adjusted\tcompute_s\tmpi_s\ttransfer_s\tstart_s\t"
	    "wait_s\tdelay_s\tnamed\tup to and in");
	for (size_t i = 0; i < c->unit_count && i < shown; i++) {
		const size_t u = units[i];

		table_change(out, &v->paths[u]);
		for (size_t k = 0; k < PATH_KINDS_COUNT; k++)
			table_seconds(out, v->kinds_ns[u][k]);
		table_seconds(out, difference(c, unit_wait, u));
		table_seconds(out, difference(c, unit_delay, u));
		table_text(out, v->named[u] ? "yes" : "-");
		table_text(out, unit_text(&c->units[u], name, sizeof name));
		table_end_line(out);
	}
	table_end(out);
	if (c->unit_count > shown)
		text_line(text, "(%zu more; --all shows them)", c->unit_count - shown);
	free(units);
}

static void
print_text(struct text *text, const struct comparison *c, const struct verdict *v, bool all)
{
	const size_t shown = all ? SIZE_MAX : 10;

	text_line(text, "%s", v->text);
	text_line(text, "run time %.9f s, then %.9f s; %zu and %zu runs", 1e-9 * v->run_time.a,
	    1e-9 * v->run_time.b, c->count[A], c->count[B]);
	text_line(text, "efficiencies (POP) %s: parallel %.4f, then %.4f; load balance %.4f, then %.4f; "
	    "communication %.4f, then %.4f", span_rule(false), mean_of(c, A, efficiencies[0].offset),
	    mean_of(c, B, efficiencies[0].offset), mean_of(c, A, efficiencies[1].offset),
	    mean_of(c, B, efficiencies[1].offset), mean_of(c, A, efficiencies[2].offset),
	    mean_of(c, B, efficiencies[2].offset));
	text_line(text, "of the change compute %.6f s, MPI %.6f s, transfer %.6f s, start %.6f s",
	    1e-9 * (double)v->all_kinds_ns[0], 1e-9 * (double)v->all_kinds_ns[1],
	    1e-9 * (double)v->all_kinds_ns[2], 1e-9 * (double)v->all_kinds_ns[3]);
	for (size_t i = 0; i < v->fact_count && i < shown; i++)
		text_line(text, "exact: %s", v->facts[i].text);
	if (v->fact_count > shown)
		text_line(text, "(%zu more; --all shows them)", v->fact_count - shown);
	text_char(text, '\n');
	print_sites(text, c, v, shown);
	for (size_t s = 0, any = 0; s < STATES; s++)
		if (difference(c, state_wait, s) != 0) {
			if (any++ == 0)
				text_char(text, '\n');
			text_line(text, "waits: %s %.6f s, then %.6f s", state_names[s],
			    1e-9 * (double)mean_ns(c, A, state_wait, s), 1e-9 * (double)mean_ns(c, B, state_wait, s));
		}
}

static void
print_csv(struct text *text, const struct comparison *c, const struct verdict *v)
{
	struct csv csv, *out = &csv;

	csv_begin(out, text, "function,file,line,call,path_change_s,low_s,high_s,p_adjusted,named,compute_s,"
	    "mpi_s,transfer_s,start_s,wait_change_s,delay_change_s");
	for (size_t u = 0; u < c->unit_count; u++) {
		const struct place *p = c->units[u].first;
		const struct change *path = &v->paths[u];

		csv_text(out, p->function != NULL ? p->function : "");
		csv_text(out, p->file != NULL ? p->file : "");
		csv_int(out, p->line);
		csv_text(out, p->call != NULL ? p->call : "");
		csv_fixed(out, 1e-9 * (double)path->change_ns, 9);
		csv_fixed(out, path->judged ? 1e-9 * path->low : NAN, 9);
		csv_fixed(out, path->judged ? 1e-9 * path->high : NAN, 9);
		csv_fixed(out, path->judged ? path->p_adjusted : NAN, 9);
		csv_int(out, v->named[u]);
		for (size_t k = 0; k < PATH_KINDS_COUNT; k++)
			csv_fixed(out, 1e-9 * (double)v->kinds_ns[u][k], 9);
		csv_fixed(out, 1e-9 * (double)difference(c, unit_wait, u), 9);
		csv_fixed(out, 1e-9 * (double)difference(c, unit_delay, u), 9);
		csv_end_row(out);
	}
}

/* ---- a stream --------------------------------------------------------------------------- */

static void
print_stream(const struct comparison *c, const struct verdict *v, int argc, char **argv)
{
	static const struct column_type i64 = { 8, true, true, 0 };
	struct writer out;

	if (writer_open(&out, STDOUT_FILENO, "comparison", NULL, argc, argv) < 0)
		die_output();
	message_begin(&out, "comparison", v->run_time.judged ? 6 : 4);
	put_string(&out, "verdict", v->text);
	put_double(&out, "a_ns", v->run_time.a);
	put_double(&out, "b_ns", v->run_time.b);
	put_int(&out, "change_ns", v->run_time.change_ns);
	if (v->run_time.judged) {
		put_double(&out, "low_ns", v->run_time.low);
		put_double(&out, "high_ns", v->run_time.high);
	}
	if (message_end(&out) < 0)
		die_output();
	for (size_t u = 0; u < c->unit_count; u++) {
		const struct place *p = c->units[u].first;
		const struct change *path = &v->paths[u];

		message_begin(&out, "site_change", path->judged ? 10 : 7);
		put_string(&out, "function", p->function != NULL ? p->function : "");
		put_string(&out, "file", p->file != NULL ? p->file : "");
		put_int(&out, "line", p->line);
		put_string(&out, "call", p->call != NULL ? p->call : "");
		put_int(&out, "change_ns", path->change_ns);
		put_column(&out, "kind_ns", i64, v->kinds_ns[u], PATH_KINDS_COUNT);
		put_int(&out, "named", v->named[u]);
		if (path->judged) {
			put_double(&out, "low_ns", path->low);
			put_double(&out, "high_ns", path->high);
			put_double(&out, "p_adjusted", path->p_adjusted);
		}
		if (message_end(&out) < 0)
			die_output();
	}
	if (writer_end(&out) < 0)
		die_output();
}

void
print_comparison(const struct comparison *c, const struct verdict *v, enum form form, bool all,
    int argc, char **argv)
{
	static struct text text;	/* large for a stack */

	if (form == STREAM) {
		print_stream(c, v, argc, argv);
		return;
	}
	text_begin(&text, stdout, NULL);
	if (form == JSON)
		print_json(&text, c, v);
	else if (form == CSV)
		print_csv(&text, c, v);
	else
		print_text(&text, c, v, all);
	text_flush(&text);
}
