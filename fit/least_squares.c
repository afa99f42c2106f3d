/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of a program for its fits, and least squares: cminpack's Levenberg-Marquardt with the
 * bounds and starts that the model needs.
 */
#include "fit.h"

#include <cminpack-1/cminpack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the data ---- */

/*
 * Runs at one n are one observation, exactly: the squared residuals of many values about a curve
 * are those of their weighted mean plus a constant. A coarse problem merges neighbouring n, too: it
 * is for searching, and never reported.
 */

/*
 * The useful time of a run repeats better than its run time. In the paper's data its rms about
 * equation 4 is 0.37 to 0.59 of that of t about equation 6 in six of eight programs, 0.9 and 1.0 in
 * vasp and inhouse; the median is 0.49.
 */
static const double USEFUL_SCALE = 2;

/* Observations that still take values, by kind. */
enum { OBSERVED_KINDS = OF_SHARE + 1 };
struct growing {
	struct observation *at;		/* NULL: none */
	double first_n, weight, mean_value, mean_log_n;
};

static bool
is_log(const struct problem *p, const struct observation *o)
{
	return p->residuals == LOG && o->what != OF_SHARE;
}

/* Merges observations at n within a factor RATIO; they come in order of n. */
static void
take(struct problem *p, struct growing growing[OBSERVED_KINDS], double ratio,
    const struct observation *o)
{
	struct growing *g = &growing[o->what];
	/* residuals are weight (fit - value)^2, or of the logarithms */
	const bool relative = p->residuals == RELATIVE && o->what != OF_SHARE;
	double value = is_log(p, o) ? log(o->value) : o->value, all, off;
	double scale = relative ? o->scale / o->value : o->scale, weight = scale * scale;

	if (g->at == NULL || o->n > ratio * g->first_n)
		*g = (struct growing){ .at = &p->observed[p->count++], .first_n = o->n };
	all = g->weight + weight;
	off = value - g->mean_value;
	p->rest += g->weight / all * weight * off * off;
	g->mean_value += weight / all * off;
	g->mean_log_n += weight / all * (log(o->n) - g->mean_log_n);
	g->weight = all;
	g->at->what = o->what;
	g->at->n = o->n > g->first_n ? exp(g->mean_log_n) : o->n;
	g->at->value = is_log(p, o) ? exp(g->mean_value) : g->mean_value;
	g->at->scale = sqrt(all);
	if (relative)
		g->at->scale *= g->at->value;
}

static void
observe(struct problem *p, struct growing *growing, int what, double n, double value, double scale)
{
	take(p, growing, 1, &(struct observation){ .what = what, .n = n, .value = value,
	    .scale = scale });
	p->measured++;
	p->n_max = fmax(p->n_max, n);
	p->has_useful |= what == OF_USEFUL;
}

struct problem
share_problem(const struct run *runs, size_t count)
{
	struct problem p = { .observed = zalloc(count, sizeof *p.observed) };
	struct growing growing[OBSERVED_KINDS] = { { .at = NULL } };

	for (size_t i = 0; i < count; i++)
		if (!isnan(runs[i].tau))
			observe(&p, growing, OF_SHARE, runs[i].n, runs[i].tau / runs[i].t, 1);
	return p;
}

struct problem
time_problem(const struct run *runs, size_t count, enum residuals residuals)
{
	struct problem p = { .observed = zalloc(2 * count, sizeof *p.observed),
	    .residuals = residuals };
	struct growing growing[OBSERVED_KINDS] = { { .at = NULL } };

	for (const struct run *run = runs; run < runs + count; run++) {
		observe(&p, growing, OF_TIME, run->n, run->t, 1);
		p.t_max = fmax(p.t_max, run->t);
		/* Equation 4 depends on f alone. Never quite 0, for its logarithm. */
		if (run->n > 1 && !isnan(run->tau))
			observe(&p, growing, OF_USEFUL, run->n,
			    fmax(run->t - run->tau, 1e-6 * run->t), USEFUL_SCALE);
	}
	return p;
}

/* So fine that the curve is straight within an observation, in logarithms. */
struct problem
coarse_problem(const struct problem *p)
{
	struct observation *observed = zalloc(p->count, sizeof *observed);
	struct problem coarse;
	double ratio = 1;

	do {
		struct growing growing[OBSERVED_KINDS] = { { .at = NULL } };

		coarse = *p;
		coarse.observed = observed;
		coarse.count = 0;
		for (size_t i = 0; i < p->count; i++)
			take(&coarse, growing, ratio, &p->observed[i]);
		ratio *= 1.01;
	} while (coarse.count > COARSE && ratio < 2);
	return coarse;
}

/* ---- least squares ---- */

struct call {
	const struct problem *problem;
	struct curve fixed;
	int parameter[PARAMETERS];	/* parameter of the solver's i-th */
};

static void
set(struct curve *c, int parameter, double value)
{
	switch (parameter) {
	case F: c->f = value; break;
	case LOG_G: c->g = exp(value); break;
	case R: c->r = value; break;
	default: c->t1 = exp(value);
	}
}

static bool
in_domain(const struct curve *c, double n)
{
	return 1 + c->f * (n - 1) > 0 && 1 + curve_h(c) * (n - 1) > 0 && c->g > 1e-15 && c->g < 1e6;
}

static double
residual(const struct problem *p, const struct curve *c, const struct observation *o)
{
	double fitted;

	/* worse than any curve, so that the solver takes the step back */
	if (!in_domain(c, o->n))
		return 1e6 * fmax(1, p->t_max);
	if (o->what == OF_SHARE)
		return o->scale * (curve_share(c, o->n) - o->value);
	fitted = o->what == OF_TIME ? curve_time(c, o->n) : curve_amdahl(c, o->n);
	switch (p->residuals) {
	case LOG: return o->scale * log(fitted / o->value);
	case RELATIVE: return o->scale * (fitted / o->value - 1);
	default: return o->scale * (fitted - o->value);
	}
}

/*
 * Derivatives of the residuals: those of ln t and ln t^Amdahl, times the value unless residuals are
 * logarithms.
 */
static void
residual_slopes(const struct problem *p, const struct curve *c, const struct observation *o,
    double slopes[PARAMETERS])
{
	double factor = o->scale, fitted;

	if (o->what == OF_SHARE)
		curve_share_slopes(c, o->n, slopes);
	else if (o->what == OF_TIME)
		curve_time_slopes(c, o->n, slopes);
	else
		curve_amdahl_slopes(c, o->n, slopes);
	fitted = o->what == OF_TIME ? curve_time(c, o->n) : curve_amdahl(c, o->n);
	if (o->what != OF_SHARE && p->residuals != LOG)
		factor *= p->residuals == RELATIVE ? fitted / o->value : fitted;
	for (int q = 0; q < PARAMETERS; q++)
		slopes[q] *= factor;
}

/* For lmder: the residuals if WHAT is 1, otherwise their derivatives, by columns of LEAD rows. */
static int
for_lmder(void *data, int m, int count, const double *x, double *values, double *slopes, int lead,
    int what)
{
	const struct call *call = data;
	struct curve c = call->fixed;

	for (int i = 0; i < count; i++)
		set(&c, call->parameter[i], x[i]);
	for (int row = 0; row < m; row++) {
		const struct observation *o = &call->problem->observed[row];
		const bool zero = (size_t)row == call->problem->count;	/* see descend */
		double all[PARAMETERS] = { 0 };

		if (what == 1)
			values[row] = zero ? 0 : residual(call->problem, &c, o);
		else if (!zero)
			residual_slopes(call->problem, &c, o, all);
		for (int i = 0; i < count && what != 1; i++)
			slopes[i * lead + row] = all[call->parameter[i]];
	}
	return 0;
}

double
sum_of_squares(const struct problem *p, const struct curve *c)
{
	double sum = p->rest;

	for (size_t i = 0; i < p->count; i++) {
		double value = residual(p, c, &p->observed[i]);

		sum += value * value;
	}
	return sum;
}

/*
 * One unbounded run of the solver; false if it ends outside the model's domain. covar1 needs more
 * rows than parameters: a row of zeros has no effect.
 */
static bool
descend(const struct problem *p, struct solution *s, unsigned varied)
{
	struct call call = { .problem = p, .fixed = s->at };
	int m = (int)p->count + 1, count = 0, pivots[PARAMETERS], evaluations, slopes_taken, rank;
	double x[PARAMETERS], diag[PARAMETERS], qtf[PARAMETERS], w1[PARAMETERS], w2[PARAMETERS],
	    w3[PARAMETERS];
	double *values = zalloc((size_t)m, (PARAMETERS + 2) * sizeof *values);
	double *slopes = values + m, *w4 = slopes + (size_t)m * PARAMETERS;

	for (int q = 0; q < PARAMETERS; q++)
		if (varied >> q & 1) {
			call.parameter[count] = q;
			x[count++] = q == F ? s->at.f : q == LOG_G ? log(s->at.g) :
			    q == R ? s->at.r : log(s->at.t1);
		}
	s->free = varied;
	memset(s->covariance, 0, sizeof s->covariance);
	if (count > 0 && count < m) {
		lmder(for_lmder, &call, m, count, x, values, slopes, m, 1e-14, 1e-12, 0, 300, diag,
		    1, 1, 0, &evaluations, &slopes_taken, pivots, qtf, w1, w2, w3, w4);
		for (int i = 0; i < count; i++)
			set(&s->at, call.parameter[i], x[i]);
		/* scaled by 1 */
		rank = covar1(m, count, m - count, slopes, m, pivots, 1e-8, w1);
		for (int i = 0; i < count * count; i++)
			s->covariance[call.parameter[i / count]][call.parameter[i %
			    count]] = rank == 0 && p->measured > (size_t)count ?
			    slopes[i % count * m + i / count] : INFINITY;
	}
	s->sum = sum_of_squares(p, &s->at);
	free(values);
	return in_domain(&s->at, p->n_max) && isfinite(s->sum);
}

/* A parameter that leaves the box is put on its side and stays there. */
static bool
solve_in_box(const struct problem *p, struct curve start, unsigned varied, struct solution *s)
{
	*s = (struct solution){ .at = start };
	for (;;) {
		struct curve *c = &s->at;
		unsigned left = 0;

		if (!descend(p, s, varied))
			return false;
		if (varied & FREE_F && c->f < 0) {
			c->f = 0;
			left |= FREE_F;
		}
		if (varied & FREE_R && (c->r < 0 || c->r > 1)) {
			c->r = c->r < 0 ? 0 : 1;
			left |= FREE_R;
		}
		if (varied & FREE_G && c->g > 1) {
			c->g = 1;
			left |= FREE_G;
		}
		if (left == 0)
			return true;
		varied &= ~left;
	}
}

bool
solve_from(const struct problem *p, struct curve start, unsigned varied, bool bounded,
    struct solution *s)
{
	struct curve other;

	if (!bounded) {
		*s = (struct solution){ .at = start };
		return descend(p, s, varied);
	}
	if (!solve_in_box(p, start, varied, s))
		return false;
	/* The declared branch is f <= g; a measured tau overrides that. */
	if (!(varied & FREE_F) || p->has_useful || s->at.f <= s->at.g)
		return true;
	curve_swap(&s->at, &other);
	return solve_in_box(p, other, varied, s) && s->at.f <= s->at.g;
}

static bool
search(const struct problem *p, struct curve at, unsigned varied, struct solution *best)
{
	/* With r below 1 and at its bound, f inside and at its bound: any side may be best. */
	static const double starts_r[] = { 1, 0.9, 0.5 }, starts_f[] = { 0, 0.1 };
	double n_max = p->n_max;
	bool found = false;

	for (int ig = 0; ig < (varied & FREE_G ? 5 : 1); ig++)
		for (int ir = 0; ir < (varied & FREE_R ? 3 : 1); ir++)
			for (int jf = 0; jf < (varied & FREE_F ? 2 : 1); jf++) {
				struct solution s;
				struct curve start = at;
				unsigned inside = varied;

				if (varied & FREE_G)
					start.g = pow(4 * n_max, -0.2 * (ig + 0.5));
				if (varied & FREE_R)
					start.r = starts_r[ir];
				if (varied & FREE_F)
					start.f = starts_f[jf] * (varied & FREE_G ? start.g : 0.1);
				if (varied & FREE_R && ir == 0)
					inside &= ~(unsigned)FREE_R;
				if (varied & FREE_F && jf == 0)
					inside &= ~(unsigned)FREE_F;
				if (solve_from(p, start, inside, true, &s) &&
				    (!found || s.sum < best->sum)) {
					*best = s;
					found = true;
				}
			}
	return found;
}

bool
solve_best(const struct problem *p, struct curve at, unsigned varied, struct solution *best)
{
	struct problem coarse;
	struct solution found;
	bool any;

	if (p->count <= COARSE)
		return search(p, at, varied, best);
	coarse = coarse_problem(p);
	any = search(&coarse, at, varied, &found) && (solve_from(p, found.at, varied, true, best) ||
	    solve_from(p, found.at, found.free, true, best));
	free(coarse.observed);
	return any;
}

void
find_standard_errors(struct solution *s, double ndf)
{
	/* b = r/g, c = 1/g - 1 */
	double (*v)[PARAMETERS] = s->covariance;
	double variance = ndf > 0 ? s->sum / ndf : INFINITY;
	double db_dr = 1 / s->at.g, db_dg = -curve_b(&s->at), dc_dg = -1 / s->at.g;

	s->f_se = s->free & FREE_F ? sqrt(variance * v[F][F]) : NAN;
	s->b_se = sqrt(variance * (db_dr * db_dr * v[R][R] + 2 * db_dr * db_dg * v[R][LOG_G] +
	    db_dg * db_dg * v[LOG_G][LOG_G]));
	s->c_se = sqrt(variance * dc_dg * dc_dg * v[LOG_G][LOG_G]);
}
