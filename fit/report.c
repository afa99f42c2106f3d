/* SPDX-License-Identifier: BSD-3-Clause */
/* One program for people, for scripts and for other tools. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/stream/stream.h"
#include "analysis.h"

/* What is said of a point, in the order of all outputs. */
enum value { N, T, T_FIT, T_LOW, T_HIGH, TAU, TAU_FIT, TAU_LOW, TAU_HIGH, SHARE, TAU_BOUND,
	TAU_ESTIMATE, EFFICIENCY, VALUES };
static const char *const value_names[VALUES] = { "n", "t", "t_fit", "t_low", "t_high", "tau",
	"tau_fit", "tau_low", "tau_high", "share", "tau_bound", "tau_estimate", "efficiency" };

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
	values[EFFICIENCY] = (isnan(a->t1_measured) ? a->curve.t1 : a->t1_measured) / (p->n * t);
}

static void
print_aicc(const struct analysis *a)
{
	const char *before = "";

	for (int m = 0; m < MODELS; m++) {
		if (a->models[m].fitted)
			printf("%s%s %.2f", before, model_names[m], a->models[m].aicc);
		else
			printf("%s%s not fitted", before, model_names[m]);
		before = ", ";
	}
}

static void
print_parameter(const char *name, double value, double se, const struct band *band)
{
	printf("  %s\t%.5g", name, value);
	if (isfinite(se))
		printf(" +- %.4g", se);
	if (band != NULL)
		printf("\t[%.4g, %.4g]", band->low, band->high);
	printf("\n");
}

void
print_table(const struct analysis *a)
{
	struct notes notes;

	printf("%s: %zu runs on %g to %g cores\n", a->name, a->runs, a->points[0].n, a->n_max);
	if (a->by_paper && a->six_fitted)
		printf("model: equation 6 by the paper's procedure, %s residuals\n",
		    residual_names[a->residuals]);
	else {
		printf("model: %s, %s residuals; AICc: ", model_names[a->model],
		    residual_names[a->residuals]);
		print_aicc(a);
		printf("\n");
	}
	if (a->share_fitted) {
		printf("\nequation 1 on tau/t, +- standard error\n");
		print_parameter("b", curve_b(&a->share.at), a->share_b_se, NULL);
		print_parameter("c", curve_c(&a->share.at), a->share_c_se, NULL);
	}
	printf("\n%s on t, +- standard error, [95 %% band]\n", a->six_name);
	print_parameter("f", a->six.at.f, a->f_se, &a->bands.f);
	print_parameter("b", curve_b(&a->six.at), a->b_se, &a->bands.b);
	print_parameter("c", curve_c(&a->six.at), a->c_se, &a->bands.c);
	printf("  t_1\t%.6g s", a->six.at.t1);
	if (!isnan(a->t1_measured))
		printf("\tmeasured %.6g s", a->t1_measured);
	printf("\n");
	printf("\nn\tt\tt_fit\ttau\ttau_fit\ttau_low\ttau_high\tbound\testimate\tshare\tefficiency\n");
	for (size_t i = 0; i < a->count; i++) {
		static const enum value shown[] = { N, T, T_FIT, TAU, TAU_FIT, TAU_LOW, TAU_HIGH, TAU_BOUND,
			TAU_ESTIMATE, SHARE, EFFICIENCY };
		double values[VALUES];

		values_of(a, &a->points[i], values);
		for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++)
			if (isnan(values[shown[k]]))
				printf("%s-", k > 0 ? "\t" : "");
			else
				printf(shown[k] >= SHARE && shown[k] != TAU_BOUND && shown[k] != TAU_ESTIMATE ?
				    "%s%.4f" : "%s%.6g", k > 0 ? "\t" : "", values[shown[k]]);
		printf("\n");
	}
	printf("\n");
	notes_of(a, &notes);
	for (size_t i = 0; i < notes.count; i++)
		printf("- %s\n", notes.text[i]);
	printf("\n");
}

/* A number, or null for what is not known or endless. */
static void
json_number(const char *before, const char *name, double value)
{
	printf("%s\"%s\":", before, name);
	if (isfinite(value))
		printf("%.17g", value);
	else
		printf("null");
}

static void
json_band(const char *before, const char *name, const struct band *band)
{
	char key[64];

	snprintf(key, sizeof key, "%s_low", name);
	json_number(before, key, band->low);
	snprintf(key, sizeof key, "%s_high", name);
	json_number(",", key, band->high);
}

static void
json_models(const struct analysis *a)
{
	const char *before = "";

	printf(",\n\"models\":[");
	for (int m = 0; m < MODELS; m++) {
		const struct curve *c = &a->models[m].solution.at;

		if (!a->models[m].fitted)
			continue;
		printf("%s{\"model\":\"%s\"", before, model_names[m]);
		json_number(",", "aicc", a->models[m].aicc);
		json_number(",", "f", c->f);
		json_number(",", "b", curve_b(c));
		json_number(",", "c", curve_c(c));
		json_number(",", "t1", c->t1);
		json_number(",", "best_n", curve_best_n(c));
		printf("}");
		before = ",";
	}
	printf("]");
}

static void
json_paper(const struct analysis *a)
{
	const struct trial *trial = &a->paper.trial;

	printf(",\n\"paper\":");
	if (!trial->valid) {
		printf("null");
		return;
	}
	json_number("{", "f", trial->solution.at.f);
	json_number(",", "b", curve_b(&trial->solution.at));
	json_number(",", "b_se", trial->b_se);
	json_number(",", "c", curve_c(&trial->solution.at));
	json_number(",", "c_se", trial->c_se);
	json_number(",", "gap", trial->gap);
	printf(",\"meets\":[");
	for (size_t i = 0; i < a->paper.meets && i < MOST_CROSSINGS; i++) {
		json_number(i > 0 ? ",{" : "{", "f", a->paper.crossings[i].solution.at.f);
		json_number(",", "worst_se", a->paper.crossings[i].worst_se);
		printf("}");
	}
	printf("]}");
}

static void
json_six(const struct analysis *a)
{
	printf(",\n\"equation6\":");
	if (!a->six_fitted) {
		printf("null");
		return;
	}
	json_number("{", "f", a->six.at.f);
	json_number(",", "f_se", a->f_se);
	json_band(",", "f", &a->bands.f);
	json_number(",", "b", curve_b(&a->six.at));
	json_number(",", "b_se", a->b_se);
	json_band(",", "b", &a->bands.b);
	json_number(",", "c", curve_c(&a->six.at));
	json_number(",", "c_se", a->c_se);
	json_band(",", "c", &a->bands.c);
	json_number(",", "t1", a->six.at.t1);
	json_number(",", "t1_measured", a->t1_measured);
	printf("}");
}

void
print_json(const struct analysis *a)
{
	struct notes notes;

	printf("{\"name\":");
	json_string(stdout, a->name);
	printf(",\n\"model\":\"%s\",\"residuals\":\"%s\",\"tau_joined\":%zu,\"tau_from\":\"%s\"",
	    model_names[a->model], residual_names[a->residuals], a->tau_joined,
	    origin_names[a->origin]);
	printf(",\n\"equation1\":");
	if (a->share_fitted) {
		json_number("{", "b", curve_b(&a->share.at));
		json_number(",", "b_se", a->share_b_se);
		json_number(",", "c", curve_c(&a->share.at));
		json_number(",", "c_se", a->share_c_se);
		printf("}");
	} else
		printf("null");
	json_six(a);
	json_models(a);
	json_paper(a);
	json_number(",\n", "best_n", curve_best_n(&a->curve));
	json_band(",", "best_n", &a->bands.best_n);
	printf(",\n\"partner\":");
	if (a->partner_valid) {
		json_number("{", "f", a->partner.f);
		json_number(",", "b", curve_b(&a->partner));
		json_number(",", "c", curve_c(&a->partner));
		printf("}");
	} else
		printf("null");
	printf(",\n\"points\":[");
	for (size_t i = 0; i < a->count; i++) {
		const struct point *p = &a->points[i];
		double values[VALUES];

		values_of(a, p, values);
		for (int v = 0; v < VALUES; v++)
			json_number(v > 0 ? "," : i > 0 ? ",\n{" : "\n{", value_names[v], values[v]);
		if (a->partner_valid) {
			json_number(",", "t_partner", curve_time(&a->partner, p->n));
			json_number(",", "tau_partner", curve_tau(&a->partner, p->n));
		}
		printf(",\"superlinear\":%s,\"falling\":%s}", p->superlinear ? "true" : "false",
		    p->falling ? "true" : "false");
	}
	printf("],\n\"notes\":[");
	notes_of(a, &notes);
	for (size_t i = 0; i < notes.count; i++) {
		printf(i > 0 ? ",\n" : "\n");
		json_string(stdout, notes.text[i]);
	}
	printf("]}\n");
}

/* A name with a comma or quote is quoted. */
static void
csv_name(const char *name)
{
	bool quoted = strpbrk(name, ",\"\n\r") != NULL;

	if (quoted)
		putchar('"');
	for (; *name != '\0'; name++)
		printf(*name == '"' ? "\"\"" : "%c", *name);
	if (quoted)
		putchar('"');
}

void
print_csv(const struct analysis *a, bool first)
{
	if (first) {
		printf("name");
		for (int v = 0; v < VALUES; v++)
			printf(",%s", value_names[v]);
		printf("\n");
	}
	for (size_t i = 0; i < a->count; i++) {
		double values[VALUES];

		values_of(a, &a->points[i], values);
		csv_name(a->name);
		for (int v = 0; v < VALUES; v++)
			if (isnan(values[v]))
				printf(",");
			else
				printf(",%.10g", values[v]);
		printf("\n");
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
