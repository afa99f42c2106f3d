/* SPDX-License-Identifier: BSD-3-Clause */
/* The paper's kind of figure as a gnuplot script with its data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"

static void
print_value(struct text *out, double value)
{
	if (isfinite(value))
		text_print(out, " %.6g", value);
	else
		text_put(out, " NaN");
}

/* A logarithmic axis has no 0: it ends at FLOOR, where overheads of 0 are drawn. */
static double
lowest_value(const struct analysis *a)
{
	double least = INFINITY;

	for (size_t i = 0; i < a->runs; i++) {
		const struct point *p = &a->points[i];

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
	const char *band = a->by_paper ? "band over f" : "95 % band";
	char error[128] = "", *title;

	text_print(out, "$runs << EOD\n# n t tau dtau estimate\n");
	for (size_t i = 0; i < a->runs; i++) {
		const struct point *p = &a->points[i];

		text_print(out, "%g", p->n);
		print_value(out, p->t);
		print_value(out, p->tau > 0 ? p->tau : NAN);
		print_value(out, isnan(p->dtau) ? 0 : p->dtau);
		print_value(out, p->tau_estimate > floor_s ? p->tau_estimate : NAN);
		text_print(out, "\n");
	}
	text_print(out, "EOD\n$fit << EOD\n# n t t_low t_high amdahl tau tau_low tau_high\n");
	for (size_t i = a->runs; i < a->count; i++) {
		const struct point *p = &a->points[i];

		text_print(out, "%g", p->n);
		print_value(out, p->t_fit);
		print_value(out, p->t_band.low);
		print_value(out, p->t_band.high);
		print_value(out, curve_amdahl(&a->curve, p->n));
		print_value(out, fmax(p->tau_fit, floor_s));
		print_value(out, fmax(p->tau_band.low, floor_s));
		print_value(out, fmax(p->tau_band.high, floor_s));
		text_print(out, "\n");
	}
	if (a->fit_error.points > 0)
		snprintf(error, sizeof error, ": median error of tau at n >= %d is %.1f %% (fit), "
		    "%.1f %% (estimate)", ERRORS_FROM, 100 * a->fit_error.median,
		    100 * a->estimate_error.median);
	title = zalloc(strlen(a->name) + strlen(error) + 1, 1);
	strcat(strcpy(title, a->name), error);
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
