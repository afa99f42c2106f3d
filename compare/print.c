/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison as text, CSV and a stream. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

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

/* How far runs of a side lie apart, and what could have been seen through that. */
static void
print_spread(struct text *text, const struct comparison *c, const struct verdict *v)
{
	struct sample sites = { zalloc(c->unit_count + 1, sizeof *sites.at), 0 };
	char spread[SIDES][40];

	for (int side = A; side < SIDES; side++)
		if (isfinite(v->run_spread[side]))
			snprintf(spread[side], sizeof spread[side], "%.2f %%", share_of(v, v->run_spread[side]));
		else
			snprintf(spread[side], sizeof spread[side], "not known");
	if (isfinite(v->run_spread[A]) || isfinite(v->run_spread[B]))
		text_line(text, "from run to run of A: %s of the run time; of B: %s", spread[A], spread[B]);
	for (size_t u = 0; u < c->unit_count; u++)
		if (isfinite(v->detectable[u]))
			sites.at[sites.count++] = v->detectable[u];
	if (isfinite(v->run_detectable))
		text_line(text, "4 times in 5 so many runs would show a change of the run time by %.2f %%%s",
		    share_of(v, v->run_detectable), sites.count > 0 ? "" : ", and none of a site");
	if (sites.count > 0)
		text_line(text, "and of a site's time on the path by %.2f %% of the run (median of %zu sites)",
		    share_of(v, median(sites)), sites.count);
	free(sites.at);
}

static void
comparison_text(struct text *text, const struct comparison *c, const struct verdict *v, bool all)
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
	print_spread(text, c, v);
	for (size_t i = 0; i < v->fact_count && i < shown; i++)
		text_line(text, "exact: %s", v->facts[i].text);
	if (v->fact_count > shown)
		text_line(text, "(%zu more; --all shows them)", v->fact_count - shown);
	text_char(text, '\n');
	print_sites(text, c, v, shown);
	print_functions(text, v, shown);
	for (size_t s = 0, any = 0; s < STATES; s++)
		if (difference(c, state_wait, s) != 0) {
			if (any++ == 0)
				text_char(text, '\n');
			text_line(text, "waits: %s %.6f s, then %.6f s", state_names[s],
			    1e-9 * (double)mean_ns(c, A, state_wait, s), 1e-9 * (double)mean_ns(c, B, state_wait, s));
		}
}

void
csv_place(struct csv *out, const struct unit *unit)
{
	const struct site_sums *p = unit->first;

	csv_text(out, p->function != NULL ? p->function : "");
	csv_text(out, p->file != NULL ? p->file : "");
	csv_int(out, p->line);
	csv_text(out, p->call != NULL ? p->call : "");
}

static void
comparison_csv(struct text *text, const struct comparison *c, const struct verdict *v)
{
	struct csv csv, *out = &csv;

	csv_begin(out, text, "function,file,line,call,path_change_s,low_s,high_s,p_adjusted,named,compute_s,"
	    "mpi_s,transfer_s,start_s,wait_change_s,delay_change_s");
	for (size_t u = 0; u < c->unit_count; u++) {
		const struct change *path = &v->paths[u];

		csv_place(out, &c->units[u]);
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
		const struct site_sums *p = c->units[u].first;
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
		print_comparison_json(&text, c, v);
	else if (form == CSV)
		comparison_csv(&text, c, v);
	else
		comparison_text(&text, c, v, all);
	text_flush(&text);
}
