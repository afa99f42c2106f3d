/* SPDX-License-Identifier: BSD-3-Clause */
/* One program for people, for spreadsheets and for other tools; JSON is in json.c. */
#include <math.h>
#include <string.h>

#include "../base/stream/stream.h"
#include "../base/tool/csv.h"
#include "../base/tool/table.h"
#include "analysis.h"

/* "hofinger -12.30, amdahl not fitted" */
static void
aicc_text(const struct analysis *a, char *text, size_t size)
{
	size_t used = 0;

	for (int m = 0; m < MODELS && used < size; m++)
		if (a->models[m].fitted)
			used += (size_t)snprintf(text + used, size - used, "%s%s %.2f", m > 0 ? ", " : "",
			    model_names[m], a->models[m].aicc);
		else
			used += (size_t)snprintf(text + used, size - used, "%s%s not fitted", m > 0 ? ", " : "",
			    model_names[m]);
}

static void
print_parameter(struct table_writer *table, const char *name, double value, double se,
    const struct band *band)
{
	table_format(table, "  %s", name);
	if (isfinite(se))
		table_format(table, "%.5g +- %.4g", value, se);
	else
		table_format(table, "%.5g", value);
	if (band != NULL)
		table_format(table, "[%.4g, %.4g]", band->low, band->high);
	table_end_line(table);
}

static void
print_parameters(struct text *out, const struct analysis *a)
{
	struct table_writer table;

	if (a->share_fitted) {
		text_char(out, '\n');
		text_line(out, "equation 1 on tau/t, +- standard error");
		table_begin(&table, out, NULL);
		print_parameter(&table, "b", curve_b(&a->share.at), a->share_b_se, NULL);
		print_parameter(&table, "c", curve_c(&a->share.at), a->share_c_se, NULL);
		table_end(&table);
	}
	text_char(out, '\n');
	text_line(out, "%s on t, +- standard error, [95 %% band%s]", a->six_name,
	    a->given_f ? " at this f" : " over f");
	table_begin(&table, out, NULL);
	print_parameter(&table, "f", a->six.at.f, a->f_se, &a->bands.f);
	print_parameter(&table, "b", curve_b(&a->six.at), a->b_se, &a->bands.b);
	print_parameter(&table, "c", curve_c(&a->six.at), a->c_se, &a->bands.c);
	table_text(&table, "  t_1");
	table_format(&table, "%.6g s", a->six.at.t1);
	if (!isnan(a->t1_measured))
		table_format(&table, "measured %.6g s", a->t1_measured);
	table_end_line(&table);
	table_end(&table);
}

static void
print_points(struct text *out, const struct analysis *a)
{
	static const enum value shown[] = { N, T, T_FIT, TAU, TAU_FIT, TAU_LOW, TAU_HIGH, TAU_BOUND,
		TAU_ESTIMATE, SHARE, EFFICIENCY };
	struct table_writer table;

	text_char(out, '\n');
	table_begin(&table, out,
	    "n\tt\tt_fit\ttau\ttau_fit\ttau_low\ttau_high\tbound\testimate\tshare\tefficiency");
	for (size_t i = 0; i < a->count; i++) {
		double values[VALUES];

		values_of(a, &a->points[i], values);
		for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++)
			if (shown[k] == SHARE || shown[k] == EFFICIENCY)
				table_fixed(&table, values[shown[k]], 4);
			else
				table_significant(&table, values[shown[k]], 6);
		table_end_line(&table);
	}
	table_end(&table);
}

void
print_table(struct text *out, const struct analysis *a)
{
	char aicc[256];
	struct notes notes;

	text_line(out, "%s: %zu runs on %g to %g cores", a->name, a->runs, a->points[0].n, a->n_max);
	if (a->by_paper && a->six_fitted)
		text_line(out, "model: equation 6 by the paper's procedure, %s residuals",
		    residual_names[a->residuals]);
	else {
		aicc_text(a, aicc, sizeof aicc);
		text_line(out, "model: %s, %s residuals; AICc: %s", model_names[a->model],
		    residual_names[a->residuals], aicc);
	}
	print_parameters(out, a);
	print_points(out, a);
	text_char(out, '\n');
	notes_of(a, &notes);
	for (size_t i = 0; i < notes.count; i++)
		text_line(out, "- %s", notes.text[i]);
	text_char(out, '\n');
}

/* ---- CSV and messages -------------------------------------------------------------------- */

void
print_csv(struct text *text, const struct analysis *a, bool first)
{
	struct csv csv = { .text = text };

	if (first) {
		csv_text(&csv, "name");
		for (int v = 0; v < VALUES; v++)
			csv_text(&csv, value_names[v]);
		csv_end_row(&csv);
	}
	for (size_t i = 0; i < a->count; i++) {
		double values[VALUES];

		values_of(a, &a->points[i], values);
		csv_text(&csv, a->name);
		for (int v = 0; v < VALUES; v++)
			csv_significant(&csv, values[v], 10);
		csv_end_row(&csv);
	}
}

/* Values that are not known have no key. */
static void
put_known(struct writer *out, const char *kind, const char *name, const char *const *keys,
    const double *values, size_t count)
{
	unsigned known = 0;

	for (size_t i = 0; i < count; i++)
		known += isnan(values[i]) ? 0u : 1u;
	message_begin(out, kind, known + 1);
	put_string(out, "name", name);
	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			put_double(out, keys[i], values[i]);
	if (message_end(out) < 0)
		die_output();
}

void
write_messages(struct writer *out, const struct analysis *a)
{
	static const char *const keys[] = { "f", "f_se", "b", "b_se", "c", "c_se", "t1", "best_n" };
	static const char *const share_keys[] = { "b", "b_se", "c", "c_se" };
	const double six[] = { a->six.at.f, a->f_se, curve_b(&a->six.at), a->b_se, curve_c(&a->six.at),
		a->c_se, a->six.at.t1, curve_best_n(&a->curve) };
	const double share[] = { curve_b(&a->share.at), a->share_b_se, curve_c(&a->share.at),
		a->share_c_se };
	struct notes notes;

	message_begin(out, "fit", 3);
	put_string(out, "name", a->name);
	put_string(out, "model", model_names[a->model]);
	put_string(out, "tau_from", origin_names[a->origin]);
	if (message_end(out) < 0)
		die_output();
	if (a->share_fitted)
		put_known(out, "fit_equation1", a->name, share_keys, share, 4);
	put_known(out, "fit_equation6", a->name, keys, six, 8);
	for (size_t i = 0; i < a->count; i++) {
		double values[VALUES];

		values_of(a, &a->points[i], values);
		put_known(out, "fit_point", a->name, value_names, values, VALUES);
	}
	notes_of(a, &notes);
	for (size_t i = 0; i < notes.count; i++) {
		message_begin(out, "fit_note", 2);
		put_string(out, "name", a->name);
		put_string(out, "text", notes.text[i]);
		if (message_end(out) < 0)
			die_output();
	}
}
