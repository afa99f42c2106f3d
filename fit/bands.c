/* SPDX-License-Identifier: BSD-3-Clause */
/* How sure the fit is: a residual bootstrap with a fixed seed, and the profile over f. */
#include "bands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 400, PROFILE_STEPS = 80 };
static const double PROFILE_FIRST = 1e-6, PROFILE_LAST = 0.5;

/* splitmix64: the same draws everywhere. */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static int
ascending(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* The middle 95 %; the estimate itself is always in. */
static struct band
middle(double *values, size_t count, double estimate)
{
	size_t cut = count / 40;
	struct band band;

	qsort(values, count, sizeof *values, ascending);
	band = (struct band){ values[cut], values[count - 1 - cut] };
	return (struct band){ fmin(band.low, estimate), fmax(band.high, estimate) };
}

/* The residual of a time, and a time with a given residual. */
static double
error_of(enum residuals kind, double t, double fitted)
{
	return kind == LOG ? log(t / fitted) : kind == RELATIVE ? 1 - fitted / t : t - fitted;
}

static double
with_error(enum residuals kind, double fitted, double error)
{
	double t = kind == LOG ? fitted * exp(error) : kind == RELATIVE ? fitted / (1 - error) :
	    fitted + error;

	return t > 1e-3 * fitted ? t : 1e-3 * fitted;
}

/* The 97.5 % quantile of Student's t, by the expansion of Cornish and Fisher. */
static double
student(double freedom)
{
	return 1.959964 + 2.372272 / freedom + 2.822486 / (freedom * freedom);
}

/* Residuals of the times, widened to what the fit has taken from them; those fitted exactly are not one. */
static size_t
errors_of(const struct problem *p, const struct solution *s, double *errors)
{
	size_t count = 0, parameters = 1;	/* t_1, measured or fitted */
	double mean = 0, left, scale;

	for (int q = 0; q < LOG_T1; q++)
		parameters += s->free >> q & 1;
	for (size_t i = 0; i < p->count; i++)
		mean += errors[count++] = error_of(p->residuals, p->runs[i].t,
		    curve_time(&s->at, p->runs[i].n));
	mean /= (double)count;
	left = count > parameters ? (double)(count - parameters) : 1;
	scale = sqrt((double)count / left) * student(left) / student(INFINITY);
	for (size_t i = 0; i < count; i++)
		errors[i] = (errors[i] - mean) * scale;
	return count;
}

static void
draw(const struct problem *p, const struct curve *c, const double *errors, size_t count,
    uint64_t *random, struct run *runs)
{
	for (size_t i = 0; i < p->count; i++) {
		double n = p->runs[i].n, useful, e = errors[next_random(random) % count];

		runs[i].n = n;
		runs[i].t = with_error(p->residuals, curve_time(c, n), e);
		runs[i].tau = runs[i].dtau = NAN;
		if (p->tau_weight > 0 && !isnan(p->runs[i].tau)) {
			e = errors[next_random(random) % count] / p->tau_weight;
			useful = with_error(p->residuals, curve_amdahl(c, n), e);
			runs[i].tau = runs[i].t - useful;
		}
	}
}

/* The best of the fit that is known and of the sides of the box next to it. */
static bool
refit(const struct problem *p, const struct solution *known, double t1, unsigned varied,
    struct solution *best)
{
	bool found = false;

	for (int side = 0; side < 4; side++) {
		struct solution s;
		struct curve start = known->at;
		unsigned inside = varied;

		start.t1 = t1;
		if (side == 1)
			start.f = 0.3 * start.g;
		if (side == 2 && varied & FREE_R) {
			start.r = 1;
			inside &= ~(unsigned)FREE_R;
		}
		if (side == 3 && varied & FREE_F) {
			start.f = 0;
			inside &= ~(unsigned)FREE_F;
		}
		if (solve_from(p, start, inside, true, &s) && (!found || s.sum < best->sum)) {
			*best = s;
			found = true;
		}
	}
	return found;
}

double
measured_t1(const struct run *runs, size_t count)
{
	double log_ratio = 0;
	size_t i;

	for (i = 0; i < count && runs[i].n < 2; i++)
		log_ratio += log(runs[i].t / runs[0].t);
	return i > 0 ? runs[0].t * exp(log_ratio / (double)i) : NAN;
}

void
bands_find(const struct problem *problem, const struct solution *best, unsigned varied,
    const double *n, size_t count, struct bands *bands)
{
	struct problem p = *problem;
	struct run *runs = zalloc(p.count, sizeof *runs);
	double *errors = zalloc(p.count, sizeof *errors);
	double *draws = zalloc((4 + 2 * count) * DRAWS, sizeof *draws);
	size_t kinds = errors_of(problem, best, errors), done = 0;
	uint64_t random = 7;

	p.runs = runs;
	for (int i = 0; i < DRAWS; i++) {
		struct solution s;
		double *row = draws + done, t1;

		draw(problem, &best->at, errors, kinds, &random, runs);
		t1 = varied & FREE_T1 ? best->at.t1 : measured_t1(runs, p.count);
		if (!refit(&p, best, t1, varied, &s))
			continue;
		row[0] = s.at.f;
		row[DRAWS] = curve_b(&s.at);
		row[2 * DRAWS] = curve_c(&s.at);
		row[3 * DRAWS] = curve_best_n(&s.at);
		for (size_t k = 0; k < count; k++) {
			row[(4 + 2 * k) * DRAWS] = curve_time(&s.at, n[k]);
			row[(5 + 2 * k) * DRAWS] = curve_tau(&s.at, n[k]);
		}
		done++;
	}
	bands->f = middle(draws, done, best->at.f);
	bands->b = middle(draws + DRAWS, done, curve_b(&best->at));
	bands->c = middle(draws + 2 * DRAWS, done, curve_c(&best->at));
	bands->best_n = middle(draws + 3 * DRAWS, done, curve_best_n(&best->at));
	for (size_t k = 0; k < count; k++) {
		bands->t[k] = middle(draws + (4 + 2 * k) * DRAWS, done, curve_time(&best->at, n[k]));
		bands->tau[k] = middle(draws + (5 + 2 * k) * DRAWS, done, curve_tau(&best->at, n[k]));
	}
	free(runs);
	free(errors);
	free(draws);
}

struct profile
profile_f(const struct problem *p, const struct solution *best)
{
	struct profile profile = { { best->at.f, best->at.f }, false };
	double limit = best->sum * (1 + 4 / ((double)best->residuals - 4));

	for (int i = -1; i < PROFILE_STEPS && best->residuals > 4; i++) {
		struct curve at = best->at;
		struct solution s;

		at.f = i < 0 ? 0 : PROFILE_FIRST * pow(PROFILE_LAST / PROFILE_FIRST,
		    i / (PROFILE_STEPS - 1.0));
		/* Beyond the branch lie the swap partners of what was seen already. */
		if (!solve_best(p, at, FREE_G | FREE_R | FREE_T1, &s) || s.sum > limit || s.at.g < at.f)
			continue;
		profile.f.low = fmin(profile.f.low, at.f);
		profile.f.high = fmax(profile.f.high, at.f);
		profile.open = i == PROFILE_STEPS - 1;
	}
	return profile;
}
