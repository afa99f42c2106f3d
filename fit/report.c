/* SPDX-License-Identifier: BSD-3-Clause */
/* One program for people, for scripts and for other tools. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/stream/stream.h"
#include "../base/tool/csv.h"
#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "analysis.h"

/* What is said of a point, in the order of all outputs. */
enum value { N, T, T_FIT, T_LOW, T_HIGH, TAU, TAU_FIT, TAU_LOW, TAU_HIGH, SHARE, TAU_BOUND,
	TAU_ESTIMATE, EFFICIENCY, DTAU, VALUES };
static const char *const value_names[VALUES] = { "n", "t", "t_fit", "t_low", "t_high", "tau",
	"tau_fit", "tau_low", "tau_high", "share", "tau_bound", "tau_estimate", "efficiency",
	"dtau" };

static void
values_of(const struct analysis *a, const struct point *p, double values[VALUES])
{
	double t = isnan(p->t) ? p->t_fit : p->t;

	values[N] = p->n;
	values[T] = p->t;
	values[T_FIT] = p->t_fit;
	values[T_LOW] = p->t_band.low;
	values[T_HIGH] = p->t_band.high;
	values[TAU] = p->tau;
	values[TAU_FIT] = p->tau_fit;
	values[TAU_LOW] = p->tau_band.low;
	values[TAU_HIGH] = p->tau_band.high;
	values[SHARE] = p->tau_estimate / t;
	values[TAU_BOUND] = p->tau_bound;
	values[TAU_ESTIMATE] = p->tau_estimate;
	values[DTAU] = p->dtau;
	values[EFFICIENCY] = (isnan(a->t1_measured) ? a->curve.t1 : a->t1_measured) / (p->n * t);
}

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

/* ---- JSON ------------------------------------------------------------------------------- */

/* A number, or null for what is not known or endless. */
static void
put_number(struct json *out, const char *name, double value)
{
	json_significant(out, name, value, 17);
}

static void
put_band(struct json *out, const char *name, const struct band *band)
{
	char key[64];

	snprintf(key, sizeof key, "%s_low", name);
	put_number(out, key, band->low);
	snprintf(key, sizeof key, "%s_high", name);
	put_number(out, key, band->high);
}

static void
put_models(struct json *out, const struct analysis *a)
{
	json_break(out);
	json_begin_array(out, "models");
	for (int m = 0; m < MODELS; m++) {
		const struct curve *c = &a->models[m].solution.at;

		if (!a->models[m].fitted)
			continue;
		json_begin_object(out, NULL);
		json_text(out, "model", model_names[m]);
		put_number(out, "aicc", a->models[m].aicc);
		put_number(out, "f", c->f);
		put_number(out, "b", curve_b(c));
		put_number(out, "c", curve_c(c));
		put_number(out, "t1", c->t1);
		put_number(out, "best_n", curve_best_n(c));
		json_end_object(out);
	}
	json_end_array(out);
}

static void
put_paper(struct json *out, const struct analysis *a)
{
	const struct trial *trial = &a->paper.trial;

	json_break(out);
	if (!trial->valid) {
		json_null(out, "paper");
		return;
	}
	json_begin_object(out, "paper");
	put_number(out, "f", trial->solution.at.f);
	put_number(out, "b", curve_b(&trial->solution.at));
	put_number(out, "b_se", trial->b_se);
	put_number(out, "c", curve_c(&trial->solution.at));
	put_number(out, "c_se", trial->c_se);
	put_number(out, "gap", trial->gap);
	json_begin_array(out, "meets");
	for (size_t i = 0; i < a->paper.meets && i < MOST_CROSSINGS; i++) {
		json_begin_object(out, NULL);
		put_number(out, "f", a->paper.crossings[i].solution.at.f);
		put_number(out, "worst_se", a->paper.crossings[i].worst_se);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
}

static void
put_one(struct json *out, const struct analysis *a)
{
	json_break(out);
	if (!a->share_fitted) {
		json_null(out, "equation1");
		return;
	}
	json_begin_object(out, "equation1");
	put_number(out, "b", curve_b(&a->share.at));
	put_number(out, "b_se", a->share_b_se);
	put_number(out, "c", curve_c(&a->share.at));
	put_number(out, "c_se", a->share_c_se);
	json_end_object(out);
}

static void
put_six(struct json *out, const struct analysis *a)
{
	json_break(out);
	if (!a->six_fitted) {
		json_null(out, "equation6");
		return;
	}
	json_begin_object(out, "equation6");
	put_number(out, "f", a->six.at.f);
	put_number(out, "f_se", a->f_se);
	put_band(out, "f", &a->bands.f);
	put_number(out, "b", curve_b(&a->six.at));
	put_number(out, "b_se", a->b_se);
	put_band(out, "b", &a->bands.b);
	put_number(out, "c", curve_c(&a->six.at));
	put_number(out, "c_se", a->c_se);
	put_band(out, "c", &a->bands.c);
	put_number(out, "t1", a->six.at.t1);
	put_number(out, "t1_measured", a->t1_measured);
	json_end_object(out);
}

static void
put_partner(struct json *out, const struct analysis *a)
{
	json_break(out);
	if (!a->partner_valid) {
		json_null(out, "partner");
		return;
	}
	json_begin_object(out, "partner");
	put_number(out, "f", a->partner.f);
	put_number(out, "b", curve_b(&a->partner));
	put_number(out, "c", curve_c(&a->partner));
	json_end_object(out);
}

/* How far from measured tau: null where there are none. */
static void
put_errors(struct json *out, const struct analysis *a)
{
	const struct errors *errors[] = { &a->fit_error, &a->estimate_error, &a->bound_error };
	static const char *const names[] = { "fit", "estimate", "bound" };
	char key[32];

	json_break(out);
	json_text(out, "bands", a->given_f ? "at the given f" : "over f");
	json_uint(out, "tau_measured", a->tau_measured);
	json_uint(out, "tau_inside", a->tau_inside);
	json_break(out);
	if (a->fit_error.points == 0) {
		json_null(out, "tau_error");
		return;
	}
	json_begin_object(out, "tau_error");
	json_uint(out, "n_from", ERRORS_FROM);
	json_uint(out, "points", a->fit_error.points);
	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof key, "%s_median", names[i]);
		put_number(out, key, errors[i]->median);
		snprintf(key, sizeof key, "%s_mean", names[i]);
		put_number(out, key, errors[i]->mean);
	}
	json_end_object(out);
}

static void
put_point(struct json *out, const struct analysis *a, const struct point *p)
{
	double values[VALUES];

	values_of(a, p, values);
	json_break(out);
	json_begin_object(out, NULL);
	for (int v = 0; v < VALUES; v++)
		put_number(out, value_names[v], values[v]);
	if (a->partner_valid) {
		put_number(out, "t_partner", curve_time(&a->partner, p->n));
		put_number(out, "tau_partner", curve_tau(&a->partner, p->n));
	}
	json_bool(out, "superlinear", p->superlinear);
	json_bool(out, "falling", p->falling);
	json_bool(out, "left_out", p->left_out);
	json_end_object(out);
}

void
print_json(struct text *text, const struct analysis *a)
{
	struct json json, *out = &json;
	struct notes notes;

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_text(out, "name", a->name);
	json_break(out);
	json_text(out, "model", model_names[a->model]);
	json_text(out, "residuals", residual_names[a->residuals]);
	json_uint(out, "tau_joined", a->tau_joined);
	json_text(out, "tau_from", origin_names[a->origin]);
	put_one(out, a);
	put_six(out, a);
	put_models(out, a);
	put_paper(out, a);
	json_break(out);
	put_number(out, "best_n", curve_best_n(&a->curve));
	put_band(out, "best_n", &a->bands.best_n);
	put_partner(out, a);
	put_errors(out, a);
	json_break(out);
	json_begin_array(out, "points");
	for (size_t i = 0; i < a->count; i++)
		put_point(out, a, &a->points[i]);
	json_end_array(out);
	json_break(out);
	json_begin_array(out, "notes");
	notes_of(a, &notes);
	for (size_t i = 0; i < notes.count; i++) {
		json_break(out);
		json_text(out, NULL, notes.text[i]);
	}
	json_end_array(out);
	json_end_object(out);
	json_end_line(out);
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
