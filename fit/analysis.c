/* SPDX-License-Identifier: BSD-3-Clause */
/* One program: the fits, the choice between them, the paper's procedure, and the results. */
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/statistics/statistics.h"

const char *const model_names[] = { "hofinger", "amdahl", "usl", NULL };
const char *const residual_names[] = { "log", "relative", "absolute", NULL };
const char *const origin_names[] = { "measured", "rule", "bound", NULL };

/* a lower AICc by less does not justify more parameters */
static const double SIMPLER = 2;
static const double CLEAR = 0.3;	/* the paper's own aim is standard errors of 10 to 30 % */

enum { CURVE_POINTS = 80 };

static const unsigned varied_by_model[MODELS] = {
	[HOFINGER] = FREE_F | FREE_G | FREE_R,
	[AMDAHL] = FREE_F,
	[USL] = FREE_F | FREE_G,
};

static unsigned
bits(unsigned set)
{
	return (unsigned)__builtin_popcount(set);
}

/* The geometric mean of the runs on one core; NAN: there are none. */
static double
measured_t1(const struct program *program)
{
	const struct run *runs = program->runs;
	double log_ratio = 0;
	size_t i;

	for (i = 0; i < program->count && runs[i].n < 2; i++)
		log_ratio += log(runs[i].t / runs[0].t);
	return i > 0 ? runs[0].t * exp(log_ratio / (double)i) : NAN;
}

/*
 * Fits t_1 with the rest: the run on one core has errors like any other. If that run is left out of
 * the fit, t_1 is the measured one.
 */
static unsigned
varied_by(enum model model, const struct analysis *a)
{
	const bool measured = a->settings->from > 1 && !isnan(a->t1_measured);

	return varied_by_model[model] | (measured ? 0 : FREE_T1);
}

static struct model_fit
fit_model(const struct problem *p, enum model model, unsigned varied, double t1)
{
	struct curve at = { 0, model == AMDAHL ? 1 : 0.01, model == AMDAHL ? 0 : 1, t1 };
	struct model_fit fit = { .fitted = false };
	double m = (double)p->measured, k = bits(varied) + 1;	/* and the variance */

	/* As many values as parameters fit any run, however often each was measured. */
	if (p->count <= bits(varied) || !solve_best(p, at, varied, &fit.solution))
		return fit;
	fit.fitted = true;
	fit.aicc = m > k + 1 ? m * log(fmax(fit.solution.sum, 1e-300) / m) + 2 * k +
	    2 * k * (k + 1) / (m - k - 1) : INFINITY;
	return fit;
}

/*
 * The simplest within SIMPLER of the lowest AICc. Amdahl's law has no overhead: a measured overhead
 * rules it out if there is any other model.
 */
static enum model
choose(const struct model_fit *models, bool has_overhead)
{
	static const enum model simplest_first[] = { AMDAHL, USL, HOFINGER };
	bool others = models[USL].fitted || models[HOFINGER].fitted;
	int first = has_overhead && others ? 1 : 0;
	double lowest = INFINITY;

	for (int i = first; i < MODELS; i++)
		if (models[simplest_first[i]].fitted)
			lowest = fmin(lowest, models[simplest_first[i]].aicc);
	for (int i = first; i < MODELS; i++)
		if (models[simplest_first[i]].fitted &&
		    !(models[simplest_first[i]].aicc > lowest + SIMPLER))
			return simplest_first[i];
	return HOFINGER;
}

static void
fit_share(struct analysis *a)
{
	struct problem p = share_problem(a->program->runs + a->left_out, a->runs - a->left_out);
	size_t above_one = 0;	/* on one core any curve is 0 */

	for (size_t i = 0; i < p.count; i++)
		above_one += p.observed[i].n > 1;
	/* From the best in the box, then without it: a limit above 1 is reported, not hidden. */
	if (above_one > bits(FREE_G | FREE_R) &&
	    solve_best(&p, (struct curve){ 0, 0.01, 1, 1 }, FREE_G | FREE_R, &a->share)) {
		a->share_fitted = solve_from(&p, a->share.at, FREE_G | FREE_R, false, &a->share);
		find_standard_errors(&a->share, (double)p.measured - 2);
	}
	free(p.observed);
}

/* ---- the paper's procedure ---- */

/*
 * The procedure of Hoefinger and Haunschmid 2017, section 3.3, which they did by eye: fix f, fit b
 * and c by equation 6, aim at asymptotic standard errors of 10 to 30 %, ensure c > b and try to get
 * b + its standard error close to c; lower f and repeat. Here it is explicit: f is 0, or from
 * FIRST_F to LAST_F. Of all fits that are valid and certain enough, it takes the one with the
 * smallest |b + b_se - c|. Certain enough are standard errors up to 35 %, or up to 40 % if no f has
 * less (HPL).
 */

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

/* Fits the coarse problem, from its own start or from NEAR, a neighbouring f's; then the whole. */
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

/* At each f of the rule, or at F alone unless it is NAN. */
static struct paper_fit
paper_procedure(const struct problem *p, double only_f, double t1)
{
	struct problem coarse = coarse_problem(p);
	struct paper_fit fit = { .meets = 0 };
	struct trial before = { .valid = false };

	if (!isnan(only_f))
		fit.trial = try(p, &coarse, only_f, t1, NULL);
	for (int i = -1; i < STEPS && isnan(only_f); i++) {
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
	free(coarse.observed);
	return fit;
}

/* ---- results ---- */

/* As measured, otherwise as fitted. */
static double
t1_of(const struct analysis *a)
{
	return isnan(a->t1_measured) ? a->curve.t1 : a->t1_measured;
}

/* The rule is clear if a single f meets it with standard errors within the paper's aim. */
static void
choose_origin(struct analysis *a)
{
	const struct trial *trial = &a->paper.trial;

	a->estimate.t1 = t1_of(a);
	if (a->tau_joined > 0) {
		a->origin = BY_TAU;
		a->estimate.f = a->six_fitted ? a->six.at.f : a->curve.f;
		a->estimate.t1 = a->six_fitted ? a->six.at.t1 : a->curve.t1;
	} else if (trial->valid &&
	    (a->settings->paper || (a->paper.meets == 1 && trial->worst_se <= CLEAR))) {
		a->origin = BY_RULE;
		a->estimate.f = trial->solution.at.f;
	} else
		a->origin = BY_BOUND;
}

/* n times the time outside MPI if known, otherwise n t. */
static double
work(const struct run *run)
{
	return run->n * (run->t - (isnan(run->tau) ? 0 : run->tau));
}

/* The model allows neither less work than on one core nor less than on fewer cores. */
static void
flag(struct analysis *a)
{
	/* on fewer cores; on as many, too */
	double least = INFINITY, most = 0, most_here = 0;

	for (size_t i = 0; i < a->runs; i++) {
		const struct run *run = &a->program->runs[i];

		if (run->n < 2) {
			least = fmin(least, work(run));
			a->tau_on_one = fmax(a->tau_on_one, isnan(run->tau) ? 0 : run->tau);
		}
		if (i > 0 && run->n > run[-1].n)
			most = most_here;
		most_here = fmax(most_here, work(run));
		a->points[i].superlinear = run->n > 1 && least < INFINITY && work(run) < least;
		a->points[i].falling = work(run) < most;
		a->points[i].left_out = i < a->left_out;
	}
}

static void
add_point(struct analysis *a, struct run run)
{
	struct point *point = &a->points[a->count++];
	double t1 = t1_of(a), t = isnan(run.t) ? curve_time(&a->curve, run.n) : run.t;

	*point = (struct point){ .program = a->program->name, .n = run.n, .t = run.t,
	    .tau = run.tau, .dtau = run.dtau };
	point->t_fit = curve_time(&a->curve, run.n);
	point->tau_fit = curve_tau(&a->curve, run.n);
	point->tau_bound = isnan(run.t) ? NAN : fmax(0, run.t - t1 / run.n);
	point->tau_estimate = run.n < 2 ? 0 : isnan(run.t) ? point->tau_fit :
	    fmax(0, run.t - curve_amdahl(&a->estimate, run.n));
	point->share = point->tau_estimate / t;
	point->efficiency = t1 / (run.n * t);
	point->t_partner = a->partner_valid ? curve_time(&a->partner, run.n) : NAN;
	point->tau_partner = a->partner_valid ? curve_tau(&a->partner, run.n) : NAN;
}

static void
add_predictions(struct analysis *a)
{
	const struct settings *settings = a->settings;
	double first = a->points[0].n, last = a->n_max;

	for (size_t i = 0; i < settings->predict_count; i++) {
		last = fmax(last, settings->predict[i]);
		if (!settings->whole_curve)
			add_point(a, (struct run){ settings->predict[i], NAN, NAN, NAN });
	}
	for (int i = 0; i < CURVE_POINTS && settings->whole_curve; i++)
		add_point(a, (struct run){ first * pow(last / first, i / (CURVE_POINTS - 1.0)),
		    NAN, NAN, NAN });
}

/* Errors of the value at this offset in a point. */
static struct errors
errors_of(const struct analysis *a, size_t place)
{
	struct sample off = { zalloc(a->runs, sizeof *off.at), 0 };
	struct errors e = { 0, NAN, NAN };

	for (const struct point *p = a->points; p < a->points + a->runs; p++) {
		double said = *(const double *)((const char *)p + place);

		if (p->n >= ERRORS_FROM && p->tau > 0)
			off.at[off.count++] = fabs(said / p->tau - 1);
	}
	if (off.count > 0)
		e = (struct errors){ off.count, median(off), mean(off) };
	free(off.at);
	return e;
}

/* A copy of the fitted runs, in which only runs that join the fit have their tau. */
static struct run *
joined_runs(struct analysis *a)
{
	const struct settings *settings = a->settings;
	const struct program *program = a->program;
	struct run *runs = zalloc(program->count, sizeof *runs);
	size_t different = 0;

	while (a->left_out < program->count && program->runs[a->left_out].n < a->settings->from)
		a->left_out++;
	for (size_t i = a->left_out; i < program->count; i++) {
		struct run *run = &runs[i - a->left_out];
		bool joins = settings->join_all && !settings->paper;

		*run = program->runs[i];
		for (size_t k = 0; k < settings->joined_count && !settings->paper; k++)
			joins |= settings->joined[k] == run->n;
		if (!joins)
			run->tau = run->dtau = NAN;
		a->tau_joined += run->n > 1 && !isnan(run->tau);
		different += i == a->left_out || run->n > run[-1].n;
	}
	if (different < LEAST_N)
		die("%s: --from leaves %zu values of n, at least %d are needed", program->name,
		    different, LEAST_N);
	return runs;
}

/* The models, the chosen one, and the paper's procedure; returns the widest model. */
static enum model
fit_all(struct analysis *a, const struct problem *p)
{
	const struct settings *settings = a->settings;
	const struct run *first = &a->program->runs[0];
	double t1 = isnan(a->t1_measured) ? first->t * first->n : a->t1_measured;
	enum model wide;

	fit_share(a);
	for (int m = 0; m < MODELS; m++)
		if (settings->models >> m & 1)
			a->models[m] = fit_model(p, m, varied_by(m, a), t1);
	a->model = choose(a->models, a->tau_joined > 0);
	if (!a->models[a->model].fitted)
		die("%s: too few values of n for this model", a->program->name);
	a->curve = a->models[a->model].solution.at;
	/* On the declared branch, the serial share of Amdahl's law is overhead, too. */
	if (a->model == AMDAHL && settings->models != 1u << AMDAHL && a->tau_joined == 0)
		a->curve = (struct curve){ 0, a->curve.f, 1, a->curve.t1 };
	a->six_fitted = a->models[HOFINGER].fitted;
	wide = a->six_fitted ? HOFINGER : a->models[USL].fitted ? USL : a->model;
	a->six = a->models[wide].solution;
	a->six_name = a->six_fitted ? "equation 6" : model_names[wide];
	/* The rule chooses f. */
	a->values = p->count;
	a->needed = bits(varied_by(HOFINGER, a)) - (a->tau_joined == 0 && a->serial_given);
	if (a->tau_joined == 0 && a->values > a->needed)
		a->paper = paper_procedure(p, settings->serial, t1_of(a));
	return wide;
}

struct analysis
analyse(const struct program *program, const struct settings *settings)
{
	struct analysis a = { .program = program, .settings = settings, .runs = program->count,
	    .n_max = program->runs[program->count - 1].n,
	    .serial_given = !isnan(settings->serial), .t1_measured = measured_t1(program) };
	struct run *joined = joined_runs(&a);
	struct problem p = time_problem(joined, program->count - a.left_out, settings->residuals);
	enum model wide = fit_all(&a, &p);
	struct solution middle = a.six;
	unsigned varied = varied_by(wide, &a), varied_six = varied;

	a.profiled = a.six_fitted && !a.serial_given;
	if (settings->paper)
		a.six_fitted = a.paper.trial.valid;
	if (settings->paper && a.six_fitted) {	/* the paper's curve replaces the fitted one */
		a.six_name = "equation 6";
		a.six = a.paper.trial.solution;
		a.model = HOFINGER;
		a.curve = a.six.at;
		varied_six = FREE_G | FREE_R;	/* at a given f */
	}
	find_standard_errors(&a.six, (double)p.measured - bits(varied_six));
	choose_origin(&a);
	a.partner_valid = curve_swap(&a.curve, &a.partner);
	a.points = zalloc(program->count + settings->predict_count + CURVE_POINTS,
	    sizeof *a.points);
	for (size_t i = 0; i < program->count; i++)
		add_point(&a, program->runs[i]);
	flag(&a);
	add_predictions(&a);
	a.given_f = a.serial_given && a.paper.trial.valid;
	if (a.given_f)
		find_bands(&a, &p, &a.six, varied_six);
	else
		find_bands(&a, &p, &middle, varied);
	a.fit_error = errors_of(&a, offsetof(struct point, tau_fit));
	a.estimate_error = errors_of(&a, offsetof(struct point, tau_estimate));
	a.bound_error = errors_of(&a, offsetof(struct point, tau_bound));
	free(p.observed);
	free(joined);
	return a;
}
