/* SPDX-License-Identifier: BSD-3-Clause */
/* What the numbers mean, and their limits: one sentence each. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "fit.h"

static void __attribute__((format(printf, 2, 3)))
say(struct notes *notes, const char *format, ...)
{
	va_list arguments;

	if (notes->count == MOST_NOTES)
		return;
	va_start(arguments, format);
	vsnprintf(notes->text[notes->count++], NOTE_SIZE, format, arguments);
	va_end(arguments);
}

/* "2, 4, 8, ...": the n of the points with the flag. */
static size_t
list_n(const struct analysis *a, size_t flag, char *text, size_t size)
{
	size_t found = 0, used = 0;
	double last = NAN;

	text[0] = '\0';
	for (size_t i = 0; i < a->runs; i++) {
		if (!*(const bool *)((const char *)&a->points[i] + flag) ||
		    a->points[i].n == last)
			continue;
		last = a->points[i].n;
		if (++found <= 6)
			used += (size_t)snprintf(text + used, size - used, "%s%g",
			    found > 1 ? ", " : "", a->points[i].n);
		else if (found == 7)
			snprintf(text + used, size - used, ", ...");
	}
	return found;
}

static void
say_data(struct notes *notes, const struct analysis *a)
{
	char list[128];

	if (isnan(a->t1_measured))
		say(notes, "no run on one core: t_1 is fitted and trades off against f; bound, "
		    "shares and efficiency rest on that t_1");
	if (list_n(a, offsetof(struct point, left_out), list, sizeof list) > 0)
		say(notes, "left out of the fits: n = %s%s", list, isnan(a->t1_measured) ? "" :
		    "; t_1 is the measured value");
	if (a->tau_on_one > 0)
		say(notes, "tau at n = 1 is %.4g s, not 0: on one core nothing is parallel "
		    "overhead by the model, and equation 1 is 0 there", a->tau_on_one);
	if (list_n(a, offsetof(struct point, superlinear), list, sizeof list) > 0)
		say(notes, "superlinear: less work than on one core at n = %s; the model has no "
		    "place for that, and t - t_1/n is no upper bound of tau there", list);
	if (list_n(a, offsetof(struct point, falling), list, sizeof list) > 0)
		say(notes,
		    "not monotone: less work, n (t - tau), than on fewer cores at n = %s", list);
	if (a->share_fitted && a->share.at.r > 1)
		say(notes, "equation 1 ends above 1 (b/(c+1) = %.3f): overhead would exceed the "
		    "run time", a->share.at.r);
}

static void
say_rule(struct notes *notes, const struct analysis *a)
{
	const struct paper_fit *fit = &a->paper;
	const struct trial *trial = &fit->trial;

	if (a->values <= a->needed)
		return;
	if (a->serial_given && !trial->valid)
		say(notes, "with this f no b and c are valid: the run times are fitted without it");
	if (a->tau_joined > 0 || a->serial_given)
		return;
	if (!trial->valid)
		say(notes, "the paper's rule cannot be met: at no f are b and c valid with "
		    "standard errors up to 40 %%");
	else if (fit->meets == 0)
		say(notes, "the paper's rule is not met: at f = %.3g, b + its standard error is "
		    "still %.3g from c", trial->solution.at.f, fabs(trial->gap));
	else if (fit->meets == 1)
		say(notes, "the paper's rule is met at f = %.3g, standard errors up to %.0f %%",
		    trial->solution.at.f, 100 * trial->worst_se);
	for (size_t i = 0; i < fit->meets && i < MOST_CROSSINGS && fit->meets > 1; i++)
		say(notes, "the paper's rule is met %zu times: %s f = %.3g with standard errors up "
		    "to %.0f %%", fit->meets, i == 0 ? "at" : "and at",
		    fit->crossings[i].solution.at.f, 100 * fit->crossings[i].worst_se);
}

/* The rule and least squares have different aims for f: they may exclude each other. */
static bool
rule_is_outside(const struct analysis *a)
{
	const struct trial *trial = &a->paper.trial;
	double f = trial->solution.at.f;

	return a->tau_joined == 0 && a->profiled && trial->valid &&
	    (f < a->bands.f.low || f > a->bands.f.high);
}

static void
say_identified(struct notes *notes, const struct analysis *a)
{
	const struct band *f = &a->bands.f;
	char list[128];
	const bool superlinear =
	    list_n(a, offsetof(struct point, superlinear), list, sizeof list) > 0;
	double loose = f->high / f->low;

	if (!a->profiled)
		return;
	if (f->low <= 0)
		say(notes, "f is not identified: anything from 0 to %s%.2g fits the run times as "
		    "well", a->bands.open ? "above " : "", f->high);
	else if (loose > 3)
		say(notes, "f is hardly identified: %.2g to %.2g, a factor of %.0f, fit the run "
		    "times as well", f->low, f->high, loose);
	else if (superlinear)
		say(notes, "only f = %.2g to %.2g fit the run times, but the model does not hold "
		    "for superlinear ones: that identifies nothing", f->low, f->high);
	else
		say(notes, "f is identified if the model is right: only %.2g to %.2g fit the run "
		    "times", f->low, f->high);
	if (rule_is_outside(a))
		say(notes, "the paper's rule and least squares contradict each other: the rule's f "
		    "= %.3g does not fit the run times", a->paper.trial.solution.at.f);
	if (a->tau_joined == 0 &&
	    (f->low <= 0 || loose > 3 || superlinear || rule_is_outside(a)))
		say(notes, "one measured tau, best at n = 64 or more, would say more about f than "
		    "more run times");
}

/* Results of measured tau. */
static void
say_measured(struct notes *notes, const struct analysis *a)
{
	if (a->tau_measured > 0)
		say(notes, "%zu of %zu measured tau lie in the band of tau, which is %s and holds "
		    "if the model is right", a->tau_inside, a->tau_measured, a->given_f ?
		    "at this f alone" : "over all f that fit");
	if (a->fit_error.points > 0)
		say(notes, "error of tau at n >= %d, median of %zu points: fit %.3f, estimate "
		    "%.3f, t - t_1/n %.3f", ERRORS_FROM, a->fit_error.points, a->fit_error.median,
		    a->estimate_error.median, a->bound_error.median);
}

static void
say_branch(struct notes *notes, const struct analysis *a)
{
	if (a->tau_joined > 0)
		say(notes, "%zu measured tau joined the fit%s", a->tau_joined,
		    a->curve.f > a->curve.g ? "; they ask for the branch f > g" : "");
	else if (a->curve.r <= 0)
		say(notes, "Amdahl's law takes for serial all that does not scale; with f < g it "
		    "is overhead");
	else if (a->partner_valid)
		say(notes, "f < g is declared; exchanged, f = %.3g, b = %.4g, c = %.4g give the "
		    "same run times, and tau = %.4g s instead of %.4g s at n = %g", a->partner.f,
		    curve_b(&a->partner), curve_c(&a->partner), curve_tau(&a->partner, a->n_max),
		    curve_tau(&a->curve, a->n_max), a->n_max);
	else
		say(notes, "f < g is declared; exchanged, the overhead would be negative");
}

static void
say_best(struct notes *notes, const struct analysis *a)
{
	static const char *const origins[] = {
		[BY_TAU] = "t - t^Amdahl with the f that measured tau ask for",
		[BY_RULE] = "t - t^Amdahl with the f of the paper's rule",
		[BY_BOUND] = "t - t_1/n: the paper's rule is not met by one f alone with standard "
		    "errors up to 30 %",
	};
	double best = curve_best_n(&a->curve), beyond = 0;

	if (isinf(best) && isinf(a->bands.best_n.low))
		say(notes, "the fitted run time falls for ever");
	else if (isinf(best))
		say(notes, "the fitted run time falls for ever; by the band it is shortest at n = "
		    "%.0f or more", a->bands.best_n.low);
	else
		say(notes, "the fitted run time is shortest at n = %.0f, 95 %% band %.0f to %.0f%s",
		    best, a->bands.best_n.low, a->bands.best_n.high,
		    round(best) > a->n_max ? "; beyond the data" : "");
	for (size_t i = a->runs; i < a->count; i++)
		beyond = fmax(beyond, a->points[i].n);
	if (beyond > a->n_max)
		say(notes, "warning: predictions above n = %g are beyond the data", a->n_max);
	if (!a->six_fitted && a->values <= a->needed)
		say(notes, "%zu values of n do not fix the %zu parameters of equation 6",
		    a->values, a->needed);
	say(notes, "estimate is %s", origins[a->origin]);
}

void
notes_of(const struct analysis *a, struct notes *notes)
{
	notes->count = 0;
	say_data(notes, a);
	say_rule(notes, a);
	say_identified(notes, a);
	say_branch(notes, a);
	say_measured(notes, a);
	say_best(notes, a);
}
