/* SPDX-License-Identifier: BSD-3-Clause */
/* One program as JSON. */
#include "../base/tool/json.h"
#include "analysis.h"

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
