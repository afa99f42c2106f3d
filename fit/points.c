/* SPDX-License-Identifier: BSD-3-Clause */
/* The bands of a program's points, and the errors against measured tau. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "fit.h"

enum { MOST_BANDS = 64 };	/* different n with computed bands; others are interpolated */

static struct band
band_with(struct band band, double value)
{
	return (struct band){ fmin(band.low, value), fmax(band.high, value) };
}

ORDER(by_value, double, COMPARED(*a, *b))

/* The different n of all points, or MOST_BANDS of them, from the first to the last. */
static size_t
choose_n(const struct analysis *a, double *n)
{
	size_t different = 0, kept = 0;

	for (size_t i = 0; i < a->count; i++)
		n[i] = a->points[i].n;
	qsort(n, a->count, sizeof *n, by_value);
	for (size_t i = 0; i < a->count; i++)
		if (i == 0 || n[i] > n[different - 1])
			n[different++] = n[i];
	if (different <= MOST_BANDS)
		return different;
	for (size_t i = 0; i < MOST_BANDS; i++) {
		double wanted = n[0] * pow(n[different - 1] / n[0], (double)i / (MOST_BANDS - 1.0));
		size_t at = kept;

		while (at < different - 1 && n[at] < wanted)
			at++;
		/* at is at least kept: no needed value is overwritten */
		n[kept] = n[at];
		kept += kept == 0 || n[at] > n[kept - 1];
	}
	return kept;
}

/* Interpolates the relative distance of the band from the curve, linearly between two n. */
static struct band
band_at(const struct analysis *a, const double *n, size_t count, double at,
    const struct band *bands, double (*curve)(const struct curve *c, double n))
{
	size_t i = 0;
	double share, low, here = curve(&a->six.at, at);
	struct band band;

	while (i + 2 < count && n[i + 1] < at)
		i++;
	if (count < 2 || n[i] >= at || !(here > 0))
		return bands[i];
	if (n[i + 1] <= at)
		return bands[i + 1];
	share = log(at / n[i]) / log(n[i + 1] / n[i]);
	low = curve(&a->six.at, n[i]);
	if (!(low > 0))
		return bands[i + 1];
	band.low = here * ((1 - share) * bands[i].low / low +
	    share * bands[i + 1].low / curve(&a->six.at, n[i + 1]));
	band.high = here * ((1 - share) * bands[i].high / low +
	    share * bands[i + 1].high / curve(&a->six.at, n[i + 1]));
	return band;
}

void
find_bands(struct analysis *a, const struct problem *p, const struct solution *middle,
    unsigned varied)
{
	double *n = zalloc(a->count, sizeof *n);
	size_t count = choose_n(a, n);

	a->bands.t = zalloc(count, sizeof *a->bands.t);
	a->bands.tau = zalloc(count, sizeof *a->bands.tau);
	bands_find(p, middle, varied, n, count, &a->bands);
	for (size_t i = 0; i < a->count; i++) {
		struct point *point = &a->points[i];

		point->t_band = band_with(band_at(a, n, count, point->n, a->bands.t, curve_time),
		    point->t_fit);
		point->tau_band = band_with(band_at(a, n, count, point->n, a->bands.tau, curve_tau),
		    point->tau_fit);
		if (i >= a->runs || point->n < 2 || isnan(point->tau))
			continue;
		a->tau_measured++;
		a->tau_inside += point->tau >= point->tau_band.low &&
		    point->tau <= point->tau_band.high;
	}
	free(n);
	free(a->bands.t);
	free(a->bands.tau);
}

/* Errors of the value at this offset in a point. */
static struct errors
errors_of(const struct analysis *a, size_t place)
{
	double *off = zalloc(a->runs, sizeof *off);
	struct errors e = { 0, NAN, NAN };

	for (size_t i = 0; i < a->runs; i++) {
		const struct point *p = &a->points[i];
		double said = *(const double *)((const char *)p + place);

		if (p->n >= ERRORS_FROM && p->tau > 0)
			off[e.points++] = fabs(said / p->tau - 1);
	}
	if (e.points > 0) {
		qsort(off, e.points, sizeof *off, by_value);
		e.median = (off[e.points / 2] + off[(e.points - 1) / 2]) / 2;
		e.mean = 0;
		for (size_t i = 0; i < e.points; i++)
			e.mean += off[i] / (double)e.points;
	}
	free(off);
	return e;
}

void
find_errors(struct analysis *a)
{
	a->fit_error = errors_of(a, offsetof(struct point, tau_fit));
	a->estimate_error = errors_of(a, offsetof(struct point, tau_estimate));
	a->bound_error = errors_of(a, offsetof(struct point, tau_bound));
}
