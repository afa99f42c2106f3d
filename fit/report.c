/* SPDX-License-Identifier: BSD-3-Clause */
/* One program for people, for spreadsheets and for other tools. */
#include <math.h>
#include <stdlib.h>

#include "../base/stream/stream.h"
#include "../base/tool/fields.h"
#include "fit.h"

#define POINT(member) FIELD(struct point, member)
#define IN_POINTS .csv = "%.10g", .json = "%.17g"
#define IN_TABLE IN_POINTS, .text = "%.6g"
static const struct field point_fields[] = {
	{ "name", POINT(program), .csv = PLAIN, .key = "name" },
	{ "n", POINT(n), IN_TABLE, .key = "n" },
	{ "t", POINT(t), IN_TABLE, .key = "t" },
	{ "t_fit", POINT(t_fit), IN_TABLE, .key = "t_fit" },
	{ "t_low", POINT(t_band.low), IN_POINTS, .key = "t_low" },
	{ "t_high", POINT(t_band.high), IN_POINTS, .key = "t_high" },
	{ "tau", POINT(tau), IN_TABLE, .key = "tau" },
	{ "tau_fit", POINT(tau_fit), IN_TABLE, .key = "tau_fit" },
	{ "tau_low", POINT(tau_band.low), IN_TABLE, .key = "tau_low" },
	{ "tau_high", POINT(tau_band.high), IN_TABLE, .key = "tau_high" },
	{ "share", POINT(share), IN_POINTS, .key = "share" },
	{ "tau_bound", POINT(tau_bound), IN_TABLE, .key = "tau_bound", .head = "bound" },
	{ "tau_estimate", POINT(tau_estimate), IN_TABLE, .key = "tau_estimate", .head = "estimate"
	},
	{ "share", POINT(share), .text = "%.4f" },
	{ "efficiency", POINT(efficiency), IN_POINTS, .text = "%.4f", .key = "efficiency" },
	{ "dtau", POINT(dtau), IN_POINTS, .key = "dtau" },
	{ "t_partner", POINT(t_partner), .json = "%.17g", .optional = true },
	{ "tau_partner", POINT(tau_partner), .json = "%.17g", .optional = true },
	{ "superlinear", POINT(superlinear), .json = PLAIN },
	{ "falling", POINT(falling), .json = PLAIN },
	{ "left_out", POINT(left_out), .json = PLAIN },
	FIELDS_END
};

/* A curve with facts about its parameters. */
struct parameters {
	const char *name, *model;
	double aicc, f, f_se, f_low, f_high, b, b_se, b_low, b_high, c, c_se, c_low, c_high, t1,
	    t1_measured, best_n, gap;
};

#define IN_JSON(member) { #member, FIELD(struct parameters, member), .json = "%.17g" }
#define IN_MESSAGE(member) { #member, FIELD(struct parameters, member), .key = #member }
#define IN_BOTH(member) \
	{ #member, FIELD(struct parameters, member), .json = "%.17g", .key = #member }
static const struct field one_fields[] = {
	IN_MESSAGE(name), IN_BOTH(b), IN_BOTH(b_se), IN_BOTH(c), IN_BOTH(c_se), FIELDS_END
}, six_fields[] = {
	IN_MESSAGE(name), IN_BOTH(f), IN_BOTH(f_se), IN_JSON(f_low), IN_JSON(f_high),
	IN_BOTH(b), IN_BOTH(b_se), IN_JSON(b_low), IN_JSON(b_high),
	IN_BOTH(c), IN_BOTH(c_se), IN_JSON(c_low), IN_JSON(c_high),
	IN_BOTH(t1), IN_JSON(t1_measured), IN_MESSAGE(best_n), FIELDS_END
}, model_fields[] = {
	{ "model", FIELD(struct parameters, model), .json = PLAIN },
	IN_JSON(aicc), IN_JSON(f), IN_JSON(b), IN_JSON(c), IN_JSON(t1), IN_JSON(best_n), FIELDS_END
}, paper_fields[] = {
	IN_JSON(f), IN_JSON(b), IN_JSON(b_se), IN_JSON(c), IN_JSON(c_se), IN_JSON(gap), FIELDS_END
}, partner_fields[] = { IN_JSON(f), IN_JSON(b), IN_JSON(c), FIELDS_END };

/* The bands, which only six_fields show, are those of equation 6. */
static struct parameters
parameters_of(const struct analysis *a, const struct solution *s)
{
	const struct curve *c = &s->at;

	return (struct parameters){ .name = a->program->name,
	    .t1 = c->t1, .t1_measured = a->t1_measured,
	    .f = c->f, .f_se = s->f_se, .f_low = a->bands.f.low, .f_high = a->bands.f.high,
	    .b = curve_b(c), .b_se = s->b_se, .b_low = a->bands.b.low, .b_high = a->bands.b.high,
	    .c = curve_c(c), .c_se = s->c_se, .c_low = a->bands.c.low, .c_high = a->bands.c.high,
	    .best_n = curve_best_n(c) };
}

static struct parameters
equation_six(const struct analysis *a)
{
	struct parameters six = parameters_of(a, &a->six);

	six.best_n = curve_best_n(&a->curve);
	return six;
}

/* ---- text ------------------------------------------------------------------------------- */

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
		print_parameter(&table, "b", curve_b(&a->share.at), a->share.b_se, NULL);
		print_parameter(&table, "c", curve_c(&a->share.at), a->share.c_se, NULL);
		table_end(&table);
	}
	text_char(out, '\n');
	text_line(out, "%s on t, +- standard error, [95 %% band%s]", a->six_name,
	    a->given_f ? " at this f" : " over f");
	table_begin(&table, out, NULL);
	print_parameter(&table, "f", a->six.at.f, a->six.f_se, &a->bands.f);
	print_parameter(&table, "b", curve_b(&a->six.at), a->six.b_se, &a->bands.b);
	print_parameter(&table, "c", curve_c(&a->six.at), a->six.c_se, &a->bands.c);
	table_text(&table, "  t_1");
	table_format(&table, "%.6g s", a->six.at.t1);
	if (!isnan(a->t1_measured))
		table_format(&table, "measured %.6g s", a->t1_measured);
	table_end_line(&table);
	table_end(&table);
}

void
print_table(struct text *out, const struct analysis *a)
{
	struct notes notes;

	text_line(out, "%s: %zu runs on %g to %g cores", a->program->name, a->runs,
	    a->points[0].n, a->n_max);
	if (a->settings->paper && a->six_fitted)
		text_line(out, "model: equation 6 by the paper's procedure, %s residuals",
		    residual_names[a->settings->residuals]);
	else {
		text_print(out, "model: %s, %s residuals; AICc:", model_names[a->model],
		    residual_names[a->settings->residuals]);
		for (int m = 0; m < MODELS; m++) {
			text_print(out, "%s %s ", m > 0 ? "," : "", model_names[m]);
			if (a->models[m].fitted)
				text_print(out, "%.2f", a->models[m].aicc);
			else
				text_put(out, "not fitted");
		}
		text_char(out, '\n');
	}
	print_parameters(out, a);
	text_char(out, '\n');
	table_rows(out, point_fields, a->points, a->count, sizeof *a->points);
	text_char(out, '\n');
	notes_of(a, &notes);
	for (size_t i = 0; i < notes.count; i++)
		text_line(out, "- %s", notes.text[i]);
	text_char(out, '\n');
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void
put_models(struct json *out, const struct analysis *a)
{
	json_break(out);
	json_begin_array(out, "models");
	for (int m = 0; m < MODELS; m++) {
		struct parameters model = parameters_of(a, &a->models[m].solution);

		model.model = model_names[m];
		model.aicc = a->models[m].aicc;
		if (a->models[m].fitted)
			json_row(out, NULL, model_fields, &model);
	}
	json_end_array(out);
}

static void
put_paper(struct json *out, const struct analysis *a)
{
	const struct trial *trial = &a->paper.trial;
	struct parameters paper = parameters_of(a, &trial->solution);

	json_break(out);
	if (!trial->valid) {
		json_null(out, "paper");
		return;
	}
	paper.gap = trial->gap;
	json_begin_object(out, "paper");
	json_members(out, paper_fields, &paper);
	json_begin_array(out, "meets");
	for (size_t i = 0; i < a->paper.meets && i < MOST_CROSSINGS; i++) {
		json_begin_object(out, NULL);
		json_significant(out, "f", a->paper.crossings[i].solution.at.f, 17);
		json_significant(out, "worst_se", a->paper.crossings[i].worst_se, 17);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
}

/* Errors against measured tau; null if there are none. */
static void
put_errors(struct json *out, const struct analysis *a)
{
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
	json_significant(out, "fit_median", a->fit_error.median, 17);
	json_significant(out, "fit_mean", a->fit_error.mean, 17);
	json_significant(out, "estimate_median", a->estimate_error.median, 17);
	json_significant(out, "estimate_mean", a->estimate_error.mean, 17);
	json_significant(out, "bound_median", a->bound_error.median, 17);
	json_significant(out, "bound_mean", a->bound_error.mean, 17);
	json_end_object(out);
}

void
print_json(struct text *text, const struct analysis *a)
{
	const struct parameters one = parameters_of(a, &a->share), six = equation_six(a),
	    partner = parameters_of(a, &(struct solution){ .at = a->partner });
	struct json json, *out = &json;
	struct notes notes;

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_text(out, "name", a->program->name);
	json_break(out);
	json_text(out, "model", model_names[a->model]);
	json_text(out, "residuals", residual_names[a->settings->residuals]);
	json_uint(out, "tau_joined", a->tau_joined);
	json_text(out, "tau_from", origin_names[a->origin]);
	json_break(out);
	json_row(out, "equation1", one_fields, a->share_fitted ? &one : NULL);
	json_break(out);
	json_row(out, "equation6", six_fields, a->six_fitted ? &six : NULL);
	put_models(out, a);
	put_paper(out, a);
	json_break(out);
	json_significant(out, "best_n", six.best_n, 17);
	json_significant(out, "best_n_low", a->bands.best_n.low, 17);
	json_significant(out, "best_n_high", a->bands.best_n.high, 17);
	json_break(out);
	json_row(out, "partner", partner_fields, a->partner_valid ? &partner : NULL);
	put_errors(out, a);
	json_break(out);
	json_rows(out, "points", point_fields, a->points, a->count, sizeof *a->points);
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

/* ---- CSV and messages ------------------------------------------------------------------- */

void
print_csv(struct text *text, const struct analysis *a, bool first)
{
	struct csv csv = { .text = text };

	if (first)
		csv_head(&csv, text, point_fields);
	for (size_t i = 0; i < a->count; i++)
		csv_row(&csv, point_fields, &a->points[i]);
}

void
write_messages(struct writer *out, const struct analysis *a)
{
	const struct parameters one = parameters_of(a, &a->share), six = equation_six(a);
	struct notes notes;

	message_begin(out, "fit", 3);
	put_string(out, "name", a->program->name);
	put_string(out, "model", model_names[a->model]);
	put_string(out, "tau_from", origin_names[a->origin]);
	end_message(out);
	if (a->share_fitted)
		put_row(out, "fit_equation1", one_fields, &one);
	put_row(out, "fit_equation6", six_fields, &six);
	for (size_t i = 0; i < a->count; i++)
		put_row(out, "fit_point", point_fields, &a->points[i]);
	notes_of(a, &notes);
	for (size_t i = 0; i < notes.count; i++) {
		message_begin(out, "fit_note", 2);
		put_string(out, "name", a->program->name);
		put_string(out, "text", notes.text[i]);
		end_message(out);
	}
}

/* ---- gnuplot: the paper's kind of figure as a script with its data ---- */

static void
print_values(struct text *out, double n, const double *values, size_t count)
{
	text_print(out, "%g", n);
	for (size_t i = 0; i < count; i++)
		if (isfinite(values[i]))
			text_print(out, " %.6g", values[i]);
		else
			text_put(out, " NaN");
	text_char(out, '\n');
}

/* A logarithmic axis has no 0: it ends at FLOOR, where overheads of 0 are drawn. */
static double
lowest_value(const struct analysis *a)
{
	double least = INFINITY;

	for (const struct point *p = a->points; p < a->points + a->runs; p++) {
		least = fmin(least, p->t);
		if (p->tau > 0)
			least = fmin(least, p->tau);
		if (p->n > 1 && p->tau_fit > 1e-3 * p->t_fit)
			least = fmin(least, p->tau_fit);
	}
	return pow(10, floor(log10(least)));
}

void
print_gnuplot(struct text *out, const struct analysis *a)
{
	double floor_s = lowest_value(a);
	/* The band over f contains the measurements only if equation 6 holds. */
	const char *band = a->settings->paper ? "band over f" : "95 % band";
	char error[128] = "", *title;

	text_put(out, "$runs << EOD\n# n t tau dtau estimate\n");
	for (const struct point *p = a->points; p < a->points + a->runs; p++)
		print_values(out, p->n, (double[]){ p->t, p->tau > 0 ? p->tau : NAN,
		    isnan(p->dtau) ? 0 : p->dtau,
		    p->tau_estimate > floor_s ? p->tau_estimate : NAN }, 4);
	text_put(out, "EOD\n$fit << EOD\n# n t t_low t_high amdahl tau tau_low tau_high\n");
	for (const struct point *p = a->points + a->runs; p < a->points + a->count; p++)
		print_values(out, p->n, (double[]){ p->t_fit, p->t_band.low, p->t_band.high,
		    curve_amdahl(&a->curve, p->n), fmax(p->tau_fit, floor_s),
		    fmax(p->tau_band.low, floor_s), fmax(p->tau_band.high, floor_s) }, 7);
	if (a->fit_error.points > 0)
		snprintf(error, sizeof error, ": median error of tau at n >= %d is %.1f %% (fit), "
		    "%.1f %% (estimate)", ERRORS_FROM, 100 * a->fit_error.median,
		    100 * a->estimate_error.median);
	title = formatted("%s%s", a->program->name, error);
	text_put(out, "EOD\nset title ");
	text_gnuplot(out, title);
	free(title);
	text_print(out, " noenhanced\n"
	    "set logscale xy\n"
	    "set xlabel 'cores'\n"
	    "set ylabel 'time (s)'\n"
	    "set xrange [%g:%g]\n"
	    "set yrange [%g:*]\n"
	    "set format y '10^{%%L}'\n"
	    "set grid back lc rgb '#e0e0e0' lt 1\n"
	    "set key tmargin center maxrows 4 samplen 2\n"
	    "set style fill transparent solid 0.2 noborder\n"
	    "plot $fit using 1:3:4 with filledcurves lc rgb '#0072b2' title '%s of the run time', \\\n"
	    "  $fit using 1:7:8 with filledcurves lc rgb '#d55e00' title '%s of the overhead', \\\n"
	    "  $fit using 1:5 with lines lw 2 dt 2 lc rgb '#555555' title 'Amdahl, f = %.3g', \\\n"
	    "  $fit using 1:2 with lines lw 2 lc rgb '#0072b2' title 'fitted run time', \\\n"
	    "  $fit using 1:6 with lines lw 2 lc rgb '#d55e00' title 'fitted overhead', \\\n"
	    "  $runs using 1:5 with points pt 2 lc rgb '#d55e00' title 'estimate (%s)', \\\n"
	    "  $runs using 1:3:4 with yerrorbars pt 6 lc rgb '#000000' title 'measured overhead', \\\n"
	    "  $runs using 1:2 with points pt 7 lc rgb '#0072b2' title 'measured run time'\n",
	    0.8 * a->points[0].n, 1.25 * fmax(a->n_max, a->points[a->count - 1].n), floor_s, band,
	    band, a->curve.f, origin_names[a->origin]);
}
