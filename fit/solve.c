/* SPDX-License-Identifier: BSD-3-Clause */
/* Least squares by cminpack's Levenberg-Marquardt, with the bounds and starts that the model needs. */
#include "solve.h"

#include <cminpack-1/cminpack.h>
#include <math.h>
#include <stdlib.h>

/* What a trial step outside of the model's domain gives: worse than any curve, so it is taken back. */
static double
far_off(const struct problem *p)
{
	return p->residuals == ABSOLUTE && !p->share_alone ? 1e6 * p->runs[0].t : 1e6;
}

struct call {
	const struct problem *problem;
	struct curve fixed;
	int parameter[PARAMETERS];	/* which one the solver's i-th is */
};

static bool
has_tau(const struct problem *p, const struct run *run)
{
	return p->tau_weight > 0 && run->n > 1 && !isnan(run->tau);
}

size_t
residual_count(const struct problem *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++)
		count += p->share_alone ? (size_t)!isnan(p->runs[i].tau) :
		    (size_t)1 + has_tau(p, &p->runs[i]);
	return count;
}

static double
get(const struct curve *c, int parameter)
{
	return parameter == F ? c->f : parameter == LOG_G ? log(c->g) : parameter == R ? c->r :
	    log(c->t1);
}

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

/* The residual of t: value, or its derivatives from those of ln t. */
static double
time_residual(enum residuals kind, double fitted, double measured)
{
	return kind == LOG ? log(fitted / measured) : kind == RELATIVE ? fitted / measured - 1 :
	    fitted - measured;
}

/*
 * A measured tau joins as the time of useful work, t - tau, beside equation 4: it depends on f alone,
 * and what makes t uneven is mostly overhead. Never quite 0, for its logarithm.
 */
static double
useful_time(const struct run *run)
{
	return fmax(run->t - run->tau, 1e-6 * run->t);
}

static double
time_factor(enum residuals kind, double fitted, double measured)
{
	return kind == LOG ? 1 : kind == RELATIVE ? fitted / measured : fitted;
}

static int
residuals_of(void *data, int m, int count, const double *x, double *values, double *slopes,
    int lead, int what)
{
	const struct call *call = data;
	const struct problem *p = call->problem;
	struct curve c = call->fixed;
	double d_time[PARAMETERS], d_share[PARAMETERS], d_amdahl[PARAMETERS];
	const double far = far_off(p);
	int row = 0;

	for (int i = 0; i < count; i++)
		set(&c, call->parameter[i], x[i]);
	for (size_t i = 0; i < p->count; i++) {
		const struct run *run = &p->runs[i];
		bool inside = in_domain(&c, run->n);
		double t, share;

		if (p->share_alone && isnan(run->tau))
			continue;
		t = inside ? curve_time(&c, run->n) : 1;
		share = inside ? curve_share(&c, run->n) : 0;
		if (what == 1) {
			if (p->share_alone)
				values[row++] = inside ? share - run->tau / run->t : far;
			else
				values[row++] = inside ? time_residual(p->residuals, t, run->t) : far;
			if (!p->share_alone && has_tau(p, run))
				values[row++] = inside ? p->tau_weight * time_residual(p->residuals,
				    curve_amdahl(&c, run->n), useful_time(run)) : far;
			continue;
		}
		curve_time_slopes(&c, run->n, d_time);
		curve_share_slopes(&c, run->n, d_share);
		curve_amdahl_slopes(&c, run->n, d_amdahl);
		for (int k = 0; k < count; k++) {
			int q = call->parameter[k];
			double *column = slopes + (size_t)k * (size_t)lead + row;

			column[0] = p->share_alone ? d_share[q] :
			    d_time[q] * time_factor(p->residuals, t, run->t);
			if (!p->share_alone && has_tau(p, run))
				column[1] = p->tau_weight * d_amdahl[q] *
				    time_factor(p->residuals, curve_amdahl(&c, run->n), useful_time(run));
		}
		row += p->share_alone ? 1 : 1 + has_tau(p, run);
	}
	(void)m;
	return 0;
}

static void
evaluate(const struct problem *p, struct solution *s, double *values)
{
	struct call call = { .problem = p, .fixed = s->at };

	residuals_of(&call, (int)s->residuals, 0, NULL, values, NULL, 0, 1);
	s->sum = 0;
	for (size_t i = 0; i < s->residuals; i++)
		s->sum += values[i] * values[i];
}

double
sum_of_squares(const struct problem *p, const struct curve *c)
{
	struct solution s = { .at = *c, .residuals = residual_count(p) };
	double *values = zalloc(s.residuals, sizeof *values);

	evaluate(p, &s, values);
	free(values);
	return s.sum;
}

/* One unbounded run of the solver; false where it ends outside of the model's domain. */
static bool
descend(const struct problem *p, struct solution *s, unsigned varied)
{
	struct call call = { .problem = p, .fixed = s->at };
	int m = (int)s->residuals, count = 0, pivots[PARAMETERS], evaluations, slopes_taken, rank;
	double x[PARAMETERS], diag[PARAMETERS], qtf[PARAMETERS], w1[PARAMETERS], w2[PARAMETERS],
	    w3[PARAMETERS];
	double *values = zalloc((size_t)m, (PARAMETERS + 2) * sizeof *values);
	double *slopes = values + m, *w4 = slopes + (size_t)m * PARAMETERS;

	for (int q = 0; q < PARAMETERS; q++)
		if (varied >> q & 1) {
			call.parameter[count] = q;
			x[count++] = get(&s->at, q);
		}
	s->free = varied;
	for (int i = 0; i < PARAMETERS * PARAMETERS; i++)
		s->covariance[i / PARAMETERS][i % PARAMETERS] = 0;
	if (count > 0 && count <= m) {
		lmder(residuals_of, &call, m, count, x, values, slopes, m, 1e-14, 1e-12, 0, 300, diag, 1,
		    1, 0, &evaluations, &slopes_taken, pivots, qtf, w1, w2, w3, w4);
		for (int i = 0; i < count; i++)
			set(&s->at, call.parameter[i], x[i]);
		rank = covar1(m, count, m - count, slopes, m, pivots, 1e-8, w1);	/* scaled by 1 */
		for (int i = 0; i < count * count; i++)
			s->covariance[call.parameter[i / count]][call.parameter[i % count]] =
			    rank == 0 && m > count ? slopes[i % count * m + i / count] : INFINITY;
	}
	evaluate(p, s, values);
	free(values);
	return in_domain(&s->at, p->runs[p->count - 1].n) && isfinite(s->sum);
}

/* What leaves the box is put on its side and stays there. */
static bool
solve_in_box(const struct problem *p, struct curve start, unsigned varied, struct solution *s)
{
	*s = (struct solution){ .at = start, .residuals = residual_count(p) };
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
		*s = (struct solution){ .at = start, .residuals = residual_count(p) };
		return descend(p, s, varied);
	}
	if (!solve_in_box(p, start, varied, s))
		return false;
	/* The declared branch is f <= g; where tau was measured, that decides. */
	if (!(varied & FREE_F) || p->tau_weight > 0 || s->at.f <= s->at.g)
		return true;
	curve_swap(&s->at, &other);
	return solve_in_box(p, other, varied, s) && s->at.f <= s->at.g;
}

bool
solve_best(const struct problem *p, struct curve at, unsigned varied, struct solution *best)
{
	/* r below 1 and at its bound, f inside and at its bound: the best may lie on any side. */
	static const double starts_r[] = { 1, 0.9, 0.5 }, starts_f[] = { 0, 0.1 };
	double n_max = p->runs[p->count - 1].n;
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
				if (solve_from(p, start, inside, true, &s) && (!found || s.sum < best->sum)) {
					*best = s;
					found = true;
				}
			}
	return found;
}

void
standard_errors(const struct solution *s, double ndf, double *f_se, double *b_se, double *c_se)
{
	/* b = r/g, c = 1/g - 1 */
	const double (*v)[PARAMETERS] = s->covariance;
	double variance = ndf > 0 ? s->sum / ndf : INFINITY;
	double db_dr = 1 / s->at.g, db_dg = -curve_b(&s->at), dc_dg = -1 / s->at.g;

	*f_se = s->free & FREE_F ? sqrt(variance * v[F][F]) : NAN;
	*b_se = sqrt(variance * (db_dr * db_dr * v[R][R] + 2 * db_dr * db_dg * v[R][LOG_G] +
	    db_dg * db_dg * v[LOG_G][LOG_G]));
	*c_se = sqrt(variance * dc_dg * dc_dg * v[LOG_G][LOG_G]);
}
