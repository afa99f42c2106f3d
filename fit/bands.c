/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bands of the fit: the profile over f. A curve is as good as the best one if its sum of
 * squares is below S_min (1 + q^2/ndf), where q is Student's 97.5 % quantile. For each such f the
 * other parameters are fitted again. The remaining S allows an ellipsoid around that fit. The band
 * of a quantity goes from its least to its largest value on all ellipsoids.
 */
#include <math.h>
#include <stdlib.h>

#include "../base/statistics/statistics.h"
#include "fit.h"

enum { SCAN = 60, HALVINGS = 12, SLICES = 24 };
static const double FIRST_F = 1e-6, LAST_F = 0.5;

struct profile {
	const struct problem *problem;
	const struct solution *best;
	unsigned varied;	/* without f */
	double limit;		/* of S */
	const double *n;
	size_t count;
	struct bands *bands;
	struct band *of;	/* by number */
};

/* The 97.5 % quantile of Student's t, by the expansion of Cornish and Fisher. */
static double
student(double freedom)
{
	return 1.959964 + 2.372272 / freedom + 2.822486 / (freedom * freedom);
}

static void
widen(struct band *band, double value)
{
	band->low = fmin(band->low, value);
	band->high = fmax(band->high, value);
}

/* All quantities with a band, by number: b, c, the best n, then t and tau by n. */
enum { BAND_B, BAND_C, BAND_BEST_N, BAND_T };

static double
quantity(const struct profile *p, const struct curve *c, size_t which)
{
	const size_t i = which - BAND_T;

	return which == BAND_B ? curve_b(c) : which == BAND_C ? curve_c(c) :
	    which == BAND_BEST_N ? curve_best_n(c) : i < p->count ? curve_time(c, p->n[i]) :
	    curve_tau(c, p->n[i - p->count]);
}

static struct curve
moved(const struct curve *c, const double by[PARAMETERS], double scale)
{
	struct curve to = *c;

	to.g = fmin(1, c->g * exp(fmax(-50, fmin(50, scale * by[LOG_G]))));
	to.r = fmax(0, fmin(1, c->r + scale * by[R]));
	to.t1 = c->t1 * exp(fmax(-50, fmin(50, scale * by[LOG_T1])));
	return to;
}

/* Exact for t: its slopes along directions that the data leave open are small differences. */
static void
slopes_of(const struct profile *p, const struct solution *s, size_t which,
    double slopes[PARAMETERS])
{
	const double step = 1e-5;

	if (which >= BAND_T && which - BAND_T < p->count) {
		curve_time_slopes(&s->at, p->n[which - BAND_T], slopes);
		return;
	}
	for (int q = LOG_G; q < PARAMETERS; q++) {
		double by[PARAMETERS] = { 0 };
		struct curve up, down;

		by[q] = 1;
		up = moved(&s->at, by, step);
		down = moved(&s->at, by, -step);
		slopes[q] = quantity(p, &up, which) - quantity(p, &down, which);
	}
}

/* Goes to the ends of the ellipsoid where the quantity is extreme, only as far as S allows. */
static void
add_ends(const struct profile *p, const struct solution *s, size_t which)
{
	double slopes[PARAMETERS], by[PARAMETERS] = { 0 }, variance = 0;
	double left = fmax(0, p->limit - s->sum);

	slopes_of(p, s, which, slopes);
	for (int q = LOG_G; q < PARAMETERS; q++)
		for (int k = LOG_G; k < PARAMETERS; k++) {
			by[q] += s->covariance[q][k] * slopes[k];
			variance += slopes[q] * s->covariance[q][k] * slopes[k];
		}
	if (!(variance > 0) || !isfinite(variance))
		return;
	for (int sign = -1; sign <= 1; sign += 2)
		for (int cut = 0; cut < 16; cut++) {
			struct curve c = moved(&s->at, by,
			    sign * sqrt(left / variance) * pow(0.85, cut));

			if (!(sum_of_squares(p->problem, &c) <= p->limit))
				continue;
			widen(&p->of[which], quantity(p, &c, which));
			break;
		}
}

/* Beyond the branch are the swap partners of curves at a smaller f. */
static bool
good_at(const struct profile *p, double f, struct solution *s)
{
	struct curve at = p->best->at;

	at.f = f;
	return solve_best(p->problem, at, p->varied, s) && s->sum <= p->limit &&
	    (s->at.g >= f || p->problem->has_useful);
}

/* The end of the good range between a good f and a bad one. */
static double
edge(const struct profile *p, double good, double bad)
{
	struct solution s;

	for (int i = 0; i < HALVINGS; i++) {
		double f = 0.5 * (good + bad);

		if (good_at(p, f, &s))
			good = f;
		else
			bad = f;
	}
	return good;
}

static void
find_f(const struct profile *p)
{
	double before = 0, low = p->best->at.f, high = low, bad_low = -1, bad_high = -1;
	struct solution s;

	for (int i = -1; i < SCAN; i++) {
		double f = i < 0 ? 0 : FIRST_F * pow(LAST_F / FIRST_F, i / (SCAN - 1.0));
		bool good = good_at(p, f, &s);

		if (good && f < low) {
			low = f;
			bad_low = i < 0 ? -1 : before;
		} else if (!good && f < low)
			bad_low = f;
		if (good && f > high) {
			high = f;
			bad_high = -1;
		} else if (!good && f > high && bad_high < 0)
			bad_high = f;
		before = f;
	}
	p->bands->open = bad_high < 0;
	p->bands->f.low = bad_low < 0 ? low : edge(p, low, bad_low);
	p->bands->f.high = bad_high < 0 ? high : edge(p, high, bad_high);
}

static void
add_slice(const struct profile *p, const struct solution *s)
{
	for (size_t which = 0; which < BAND_T + 2 * p->count; which++) {
		widen(&p->of[which], quantity(p, &s->at, which));
		add_ends(p, s, which);
	}
}

/* The bound of r cuts off its ellipsoid: goes inward from there in steps. */
static void
add_inward(const struct profile *p, const struct solution *s)
{
	static const double values[] = { 1, 0.99, 0.97, 0.94, 0.9, 0.8, 0.6 };
	unsigned varied = p->varied & ~(unsigned)FREE_R;

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		struct curve at = s->at;
		struct solution inward;

		at.r = values[i];
		if (solve_from(p->problem, at, varied, true, &inward) && inward.sum <= p->limit)
			add_slice(p, &inward);
	}
}

/* The bands of all quantities, from those of the best curve on. */
static void
find_quantities(const struct profile *p, unsigned varied)
{
	struct band *f = &p->bands->f;
	struct solution s;

	*f = (struct band){ p->best->at.f, p->best->at.f };
	for (size_t which = 0; which < BAND_T + 2 * p->count; which++) {
		double value = quantity(p, &p->best->at, which);

		p->of[which] = (struct band){ value, value };
	}
	if (varied & FREE_F)
		find_f(p);
	add_slice(p, p->best);
	for (int i = 0; i <= SLICES && varied & FREE_F; i++) {
		double u = (double)i / SLICES;

		if (!good_at(p, f->low + (f->high - f->low) * u * u, &s))
			continue;
		add_slice(p, &s);
		if (varied & FREE_R)
			add_inward(p, &s);
	}
}

/* ---- points ---- */

enum { MOST_BANDS = 64 };	/* different n with computed bands; others are interpolated */

ORDER(by_value, double, COMPARED(*a, *b))

/* The different n of all points, or MOST_BANDS of them, from the first to the last. */
static size_t
choose_n(const struct analysis *a, double *n)
{
	size_t different = 0, kept = 0;

	for (size_t i = 0; i < a->count; i++)
		n[i] = a->points[i].n;
	SORT(n, a->count, by_value);
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
find_bands(struct analysis *a, const struct problem *problem, const struct solution *best,
    unsigned varied)
{
	double ndf = fmax(1, (double)problem->measured - __builtin_popcount(varied));
	double q = student(ndf), *n = zalloc(a->count, sizeof *n);
	size_t count = choose_n(a, n);
	struct problem coarse = coarse_problem(problem);	/* S is computed very often */
	struct profile p = { &coarse, best, varied & ~(unsigned)FREE_F,
	    sum_of_squares(&coarse, &best->at) + best->sum * q * q / ndf, n, count, &a->bands,
	    zalloc(BAND_T + 2 * count, sizeof *p.of) };

	find_quantities(&p, varied);
	a->bands.b = p.of[BAND_B];
	a->bands.c = p.of[BAND_C];
	a->bands.best_n = p.of[BAND_BEST_N];
	for (size_t i = 0; i < a->count; i++) {
		struct point *point = &a->points[i];

		point->t_band = band_at(a, n, count, point->n, p.of + BAND_T, curve_time);
		widen(&point->t_band, point->t_fit);
		point->tau_band = band_at(a, n, count, point->n, p.of + BAND_T + count, curve_tau);
		widen(&point->tau_band, point->tau_fit);
		if (i >= a->runs || point->n < 2 || isnan(point->tau))
			continue;
		a->tau_measured++;
		a->tau_inside += point->tau >= point->tau_band.low &&
		    point->tau <= point->tau_band.high;
	}
	free(n);
	free(p.of);
	free(coarse.observed);
}
