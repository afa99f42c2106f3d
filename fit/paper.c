/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The procedure of Hoefinger and Haunschmid 2017, section 3.3, which they did by eye: fix f, fit b
 * and c by equation 6, aim at asymptotic standard errors of 10 to 30 %, ensure c > b and try to get
 * b + its standard error close to c; lower f and repeat. Here it is explicit: f is 0, or from
 * FIRST_F to LAST_F. Of all fits that are valid and certain enough, it takes the one with the
 * smallest |b + b_se - c|. Certain enough are standard errors up to 35 %, or up to 40 % if no f has
 * less (HPL).
 */
#include "fit.h"

#include <math.h>
#include <stdlib.h>

static const double FIRST_F = 1e-6, LAST_F = 0.05;
static const double SURE = 0.35, LESS_SURE = 0.4, DOUBTFUL = 1;	/* relative standard errors */
enum { STEPS = 160 };		/* 7 % each */

static struct trial
judge(const struct problem *p, const struct solution *s)
{
	struct trial trial = { .solution = *s };
	const struct curve *c = &s->at;
	double b = curve_b(c), x_max = 2 * p->n_max - 1;

	find_standard_errors(&trial.solution, (double)p->measured - 2);
	trial.gap = b + trial.solution.b_se - curve_c(c);
	trial.valid = b > 0 && curve_c(c) > b && 1 + curve_h(c) * x_max > 0 && isfinite(trial.gap);
	trial.worst_se = fmax(trial.solution.b_se / b, trial.solution.c_se / curve_c(c));
	return trial;
}

/*
 * First fits the coarse problem, from its own start or from NEAR, a neighbouring f's; then the
 * whole one.
 */
static struct trial
try(const struct problem *p, const struct problem *coarse, double f, double t1,
    const struct curve *near)
{
	static const double starts_r[] = { 0.95, 0.5 };
	struct solution s;
	struct trial best = { .valid = false }, trial;

	for (int i = near != NULL ? -1 : 0; i < 10; i++) {
		struct curve start = { f, pow(4 * p->n_max, -0.2 * (i / 2 + 0.5)),
		    starts_r[i & 1], t1 };

		if (i < 0)
			start = (struct curve){ f, near->g, near->r, t1 };
		if (!solve_from(coarse, start, FREE_G | FREE_R, false, &s))
			continue;
		trial = judge(coarse, &s);
		if (!best.valid ? trial.valid :
		    trial.valid && s.sum < best.solution.sum)
			best = trial;
	}
	if (!best.valid || coarse->count == p->count)
		return best;
	if (!solve_from(p, best.solution.at, FREE_G | FREE_R, false, &s))
		return (struct trial){ .valid = false };
	return judge(p, &s);
}

struct trial
paper_trial(const struct problem *p, double f, double t1)
{
	struct problem coarse = coarse_problem(p);
	struct trial trial = try(p, &coarse, f, t1, NULL);

	problem_free(&coarse);
	return trial;
}

static bool
better(const struct trial *now, const struct paper_fit *fit)
{
	const struct trial *best = &fit->trial;

	if (!now->valid || now->worst_se > LESS_SURE)
		return false;
	if (best->valid && (now->worst_se <= SURE) != (best->worst_se <= SURE))
		return now->worst_se <= SURE;
	return !best->valid || fabs(now->gap) < fabs(best->gap);
}

struct paper_fit
paper_procedure(const struct problem *p, double t1)
{
	struct problem coarse = coarse_problem(p);
	struct paper_fit fit = { .meets = 0 };
	struct trial before = { .valid = false };

	for (int i = -1; i < STEPS; i++) {
		double f = i < 0 ? 0 : FIRST_F * pow(LAST_F / FIRST_F, i / (STEPS - 1.0));
		struct trial now = try(p, &coarse, f, t1,
		    before.valid ? &before.solution.at : NULL);
		bool meets = now.valid && before.valid && (now.gap < 0) != (before.gap < 0);
		struct trial *nearer = fabs(now.gap) < fabs(before.gap) ? &now : &before;

		if (meets && nearer->worst_se <= DOUBTFUL)
			fit.crossings[fit.meets++ % MOST_CROSSINGS] = *nearer;
		if (better(&now, &fit))
			fit.trial = now;
		before = now;
	}
	problem_free(&coarse);
	return fit;
}
