/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "../base/tool/csv.h"
#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "report.h"

static double
more_of(const struct excess *e)
{
	return (double)e->slow_ns - e->others_ns;
}

/* ---- text ---- */

/* What is more on the slowest rank than on the others. */
static void
print_excess(struct text *out, const struct imbalance *im, const struct by_function *by, size_t sites,
    size_t functions)
{
	struct table_writer table;
	char where[1024];

	text_char(out, '\n');
	table_begin(&table, out, "more_s\terror_s\tslow_s\tothers_s\trank\t"
	    "function that takes longer there than on the other ranks");
	for (size_t i = 0; i < by->site_count && i < sites; i++) {
		const struct uneven *u = &by->sites[i];

		for (size_t k = 0; k < u->count && k < functions && more_of(&u->functions[k]) > 0; k++) {
			const struct excess *e = &u->functions[k];

			table_fixed(&table, 1e-9 * more_of(e), 6);
			table_fixed(&table, 1e-9 * e->error_ns, 6);
			table_seconds(&table, e->slow_ns);
			table_fixed(&table, 1e-9 * e->others_ns, 6);
			table_int(&table, u->rank);
			table_format(&table, "%s, in compute up to %s", by->names[e->function].name,
			    index_text(im, BY_SITE, u->site, where, sizeof where));
			table_end_line(&table);
		}
	}
	table_end(&table);
}

static void
print_costs(struct text *out, const struct by_function *by, size_t shown)
{
	struct table_writer table;

	text_char(out, '\n');
	table_begin(&table, out, "cost_s\terror_s\tfunction whose delays others spent waiting for");
	for (size_t i = 0; i < by->cost_count && i < shown; i++) {
		table_fixed(&table, 1e-9 * by->costs[i].cost_ns, 6);
		table_fixed(&table, 1e-9 * by->costs[i].error_ns, 6);
		table_text(&table, by->names[by->costs[i].function].name);
		table_end_line(&table);
	}
	table_end(&table);
}

void
functions_table(struct text *out, const struct imbalance *im, bool all)
{
	const struct by_function *by = functions_by(im);

	if (by == NULL)
		return;
	text_char(out, '\n');
	text_line(out, "%llu samples: of the ranks' computation, %.6f s, %.2f %% was seen on a core",
	    (unsigned long long)by->samples, 1e-9 * (double)by->compute_ns,
	    by->compute_ns > 0 ? 100 * (double)by->on_core_ns / (double)by->compute_ns : 0);
	print_costs(out, by, all ? SIZE_MAX : 6);
	print_excess(out, im, by, all ? SIZE_MAX : 4, all ? SIZE_MAX : 4);
}

/* ---- JSON ---- */

static void
put_function(struct json *out, const struct by_function *by, uint32_t function)
{
	json_text(out, "function", by->names[function].name);
	if (by->names[function].file != NULL)
		json_text(out, "file", by->names[function].file);
	else
		json_null(out, "file");
}

static void
put_uneven(struct json *out, const struct imbalance *im, const struct by_function *by, const struct uneven *u)
{
	char where[1024];

	json_break(out);
	json_begin_object(out, NULL);
	json_uint(out, "site", u->site);
	json_text(out, "where", index_text(im, BY_SITE, u->site, where, sizeof where));
	json_int(out, "rank", u->rank);
	json_seconds(out, "slow_s", u->slow_ns);
	json_fixed(out, "others_s", 1e-9 * u->others_ns, 9);
	json_begin_array(out, "functions");
	for (size_t k = 0; k < u->count; k++) {
		const struct excess *e = &u->functions[k];

		json_begin_object(out, NULL);
		put_function(out, by, e->function);
		json_seconds(out, "slow_s", e->slow_ns);
		json_fixed(out, "others_s", 1e-9 * e->others_ns, 9);
		json_fixed(out, "more_s", 1e-9 * more_of(e), 9);
		json_fixed(out, "standard_error_s", 1e-9 * e->error_ns, 9);
		json_uint(out, "samples", e->samples);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
}

void
functions_members(struct json *out, const struct imbalance *im)
{
	const struct by_function *by = functions_by(im);

	if (by == NULL)
		return;
	json_break(out);
	json_begin_object(out, "computation");
	json_seconds(out, "ranks_s", by->compute_ns);
	json_seconds(out, "on_core_s", by->on_core_ns);
	json_uint(out, "samples", by->samples);
	json_end_object(out);
	json_break(out);
	json_begin_array(out, "delays_by_function");
	for (size_t i = 0; i < by->cost_count; i++) {
		json_break(out);
		json_begin_object(out, NULL);
		put_function(out, by, by->costs[i].function);
		json_fixed(out, "cost_s", 1e-9 * by->costs[i].cost_ns, 9);
		json_fixed(out, "standard_error_s", 1e-9 * by->costs[i].error_ns, 9);
		json_end_object(out);
	}
	json_end_array(out);
	json_break(out);
	json_begin_array(out, "compute_by_function");
	for (size_t i = 0; i < by->site_count; i++)
		put_uneven(out, im, by, &by->sites[i]);
	json_end_array(out);
}

/* ---- CSV ---- */

static void
put_row(struct csv *out, const struct by_function *by, const char *what, uint32_t function)
{
	csv_text(out, what);
	csv_text(out, by->names[function].name);
	csv_text(out, by->names[function].file != NULL ? by->names[function].file : "");
}

void
functions_rows(struct text *text, const struct imbalance *im)
{
	const struct by_function *by = functions_by(im);
	struct csv csv;
	char where[1024];

	csv_begin(&csv, text, "what,function,file,cost_s,standard_error_s,where,rank,slow_s,others_s,more_s,samples");
	for (size_t i = 0; by != NULL && i < by->cost_count; i++) {
		put_row(&csv, by, "delay", by->costs[i].function);
		csv_fixed(&csv, 1e-9 * by->costs[i].cost_ns, 9);
		csv_fixed(&csv, 1e-9 * by->costs[i].error_ns, 9);
		for (int empty = 0; empty < 6; empty++)
			csv_text(&csv, "");
		csv_end_row(&csv);
	}
	for (size_t i = 0; by != NULL && i < by->site_count; i++)
		for (size_t k = 0; k < by->sites[i].count; k++) {
			const struct excess *e = &by->sites[i].functions[k];

			put_row(&csv, by, "compute", e->function);
			csv_text(&csv, "");
			csv_fixed(&csv, 1e-9 * e->error_ns, 9);
			csv_text(&csv, index_text(im, BY_SITE, by->sites[i].site, where, sizeof where));
			csv_int(&csv, by->sites[i].rank);
			csv_fixed(&csv, 1e-9 * (double)e->slow_ns, 9);
			csv_fixed(&csv, 1e-9 * e->others_ns, 9);
			csv_fixed(&csv, 1e-9 * more_of(e), 9);
			csv_uint(&csv, e->samples);
			csv_end_row(&csv);
		}
}
