/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests. Guidelines are numbered as in the paper: see base/mpi/catalogue.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/whole_file.h"
#include "guidelines.h"

#define TOLERANCE 1.05	/* of split-robustness: 5 %, as in the paper */

const char *const kind_names[] = { "monotony", "split", "pattern" };

const char *
short_name(const char *function)
{
	return strncmp(function, "MPI_", 4) == 0 ? function + 4 : function;
}

/* ---- two stages, and pairs ---- */

/*
 * Two stages: a first campaign screens all tests; a second one, with further mpiruns, decides about
 * the candidates. An mpirun is a pair: it measured both sides, mixed at random, so a disturbance
 * slows both. Each side counts by the lower quartile of its times, which other load hardly changes.
 * It is a violation if the logarithms of the ratios are above that of 1 + slower by the signed-rank
 * test, corrected among the candidates alone.
 */

/* Logarithms of ratios, for mpiruns that have both; times of 0 count as 1 ns. */
static struct sample
logs(const struct judgement *j)
{
	size_t count = j->function->quartiles.count;
	struct sample d = { zalloc(count, sizeof *d.at), count };

	for (size_t i = 0; i < count; i++)
		d.at[i] = log(fmax(1, j->function->quartiles.at[i]) /
		    (j->factor * fmax(1, j->other->quartiles.at[i])));
	return d;
}

static double
middle(const struct sample *values)
{
	struct sample copy = scaled(values, 1);
	double result = median(copy);

	free(copy.at);
	return result;
}

/* A split's tolerance is in its factor. */
static double
threshold(const struct judgement *j, const struct rules_of_judging *rules)
{
	return j->kind == SPLIT_ROBUSTNESS ? 0 : log1p(rules->slower);
}

static void
test_pairs(struct judgement *j, const struct rules_of_judging *rules)
{
	struct sample d = logs(j);
	struct effect ratio = centre_of(d, 1 - rules->alpha);

	j->function_ns = middle(&j->function->quartiles);
	j->other_ns = j->factor * middle(&j->other->quartiles);
	j->ratio = exp(ratio.shift);
	j->shift = (struct effect){ j->other_ns * expm1(ratio.shift),
	    j->other_ns * expm1(ratio.low), j->other_ns * expm1(ratio.high) };
	j->p = j->p_normal = p_above(d, threshold(j, rules));
	free(d.at);
}

static void
take_confirmed(struct verdict *v, const struct campaign *confirm,
    const struct rules_of_judging *rules)
{
	for (struct judgement *j = v->at; j < v->at + v->count; j++) {
		const struct series *function = same_series(confirm, j->function);
		const struct series *other = same_series(confirm, j->other);

		if (!j->candidate || function == NULL || other == NULL)
			continue;
		j->function = function;
		j->other = other;
		j->tested = true;
		test_pairs(j, rules);
	}
}

/*
 * Deviation of a judgement's differences, a share for pairs, else in ns: robust, and corrected for
 * small numbers (C. Croux and P. J. Rousseeuw, COMPSTAT 1992).
 */
static double
deviation_of(const struct judgement *j, bool paired)
{
	size_t count = j->function->medians.count;
	double few = count > 1 ? (double)count / ((double)count - 0.8) : 1, deviation;
	struct sample d = logs(j);

	deviation = paired ? robust_deviation(d) : hypot(robust_deviation(j->function->medians),
	    j->factor * robust_deviation(j->other->medians)) / sqrt(2);	/* of one side */
	free(d.at);
	return few * deviation;
}

/*
 * The detectable difference: its test exceeds the bound with probability POWER, for normally
 * distributed times (base/statistics/statistics.c). With too few mpiruns to prove anything there is
 * none.
 */
static void
find_undecided(struct verdict *v, const struct rules_of_judging *rules)
{
	double tests = rules->correction == NO_CORRECTION ? 1 : fmax(1, (double)v->tests);
	double level = rules->alpha / tests, units = NAN;
	size_t last = 0;

	v->undecided = 0;
	for (struct judgement *j = v->at; j < v->at + v->count; j++) {
		size_t mpiruns = j->function->medians.count;
		double least = v->paired ? least_p_above(mpiruns) : least_p(rules->test, mpiruns);

		if (mpiruns != last)
			units = v->paired ? detectable_pairs(mpiruns, level, POWER) :
			    detectable_shift(mpiruns, mpiruns, 2 * level, POWER);
		last = mpiruns;
		j->seen_ns = v->paired ? j->other_ns *
		    expm1(threshold(j, rules) + units * deviation_of(j, true)) :
		    units * deviation_of(j, false);
		j->seen_ns = least * tests >= rules->alpha || isnan(units) ? INFINITY :
		    fmax(j->seen_ns, v->margin_ns);
		j->undecided = !j->violated && (j->seen_ns > rules->difference * j->other_ns ||
		    (v->staged && j->candidate && !j->tested));
		v->undecided += j->undecided;
	}
}

/* ---- one stage ---- */

/* As in PGMPI: medians of both sides, without pairing by mpirun. */
static void
test_samples(struct judgement *j, const struct rules_of_judging *rules)
{
	struct sample x = scaled(&j->function->medians, 1),
	    y = scaled(&j->other->medians, j->factor);

	j->function_ns = median(x);
	j->other_ns = median(y);
	j->ratio = j->other_ns > 0 ? j->function_ns / j->other_ns :
	    j->function_ns > 0 ? INFINITY : 1;
	j->shift = hodges_lehmann(x, y, 1 - rules->alpha);
	j->p = p_greater(rules->test, x, y);
	j->p_normal = p_greater(NORMAL, x, y);
	free(x.at);
	free(y.at);
}

static void
add(struct verdict *v, const struct rules_of_judging *rules, struct judgement j)
{
	test_pairs(&j, rules);
	j.screen_ratio = j.ratio;
	j.candidate = j.ratio > (j.kind == SPLIT_ROBUSTNESS ? 1 : 1 + rules->slower / 2);
	if (!v->paired)
		test_samples(&j, rules);
	*APPEND(v->at, v->count, v->capacity) = j;
}

/* GL 1: A(n) <= A(n + k), for neighbouring sizes; the series are sorted by size. */
static void
test_monotony(const struct campaign *c, struct verdict *v, const struct rules_of_judging *rules)
{
	for (size_t i = 0; i + 1 < c->count; i++) {
		const struct series *s = &c->series[i], *next = s + 1;
		const char *name = short_name(s->function);

		if (s->role == FUNCTION && next->role == FUNCTION &&
		    strcmp(s->name, next->name) == 0)
			add(v, rules,
			    (struct judgement){ .kind = MONOTONY, .function = s, .other = next,
			    .factor = 1, .guideline = formatted("%s(n) <= %s(n+k)", name, name) });
	}
}

/*
 * GL 2: A(n) <= k A(n/k), with k = ceil(m_j / m_i) for all smaller sizes m_i. The k calls were
 * actually measured; only if none were, at any size, it is k times the time of one call.
 */
static void
test_splits(const struct campaign *c, struct verdict *v, const struct rules_of_judging *rules)
{
	bool any_made = false;

	for (size_t i = 0; i < c->count; i++)
		any_made |= c->series[i].role == SPLIT;
	for (size_t j = 0; j < c->count; j++) {
		const struct series *large = &c->series[j];
		const char *name = short_name(large->function);

		/* All smaller sizes come before it, the next smaller first. */
		for (size_t i = j; large->role == FUNCTION && i-- > 0; ) {
			const struct series *small = &c->series[i], *made;

			if (small->role != FUNCTION || strcmp(small->name, large->name) != 0)
				break;
			if (small->bytes == 0)
				continue;
			made = find_series(c, large->function, SPLIT, large->bytes, small->bytes);
			if (made == NULL && any_made)
				continue;
			add(v, rules,
			    (struct judgement){ .kind = SPLIT_ROBUSTNESS, .function = large,
			    .other = made != NULL ? made : small, .factor = TOLERANCE *
			    (made != NULL ? 1 : ceil((double)large->bytes / (double)small->bytes)),
			    .guideline = formatted("%s(n) <= k %s(n/k)", name, name) });
		}
	}
}

static void
test_patterns(const struct campaign *c, struct verdict *v, const struct rules_of_judging *rules)
{
	for (const struct series *s = c->series; s < c->series + c->count; s++)
		if (s->role == MOCKUP)
			add(v, rules, (struct judgement){ .kind = PATTERN, .other = s, .factor = 1,
			    .function = find_series(c, s->function, FUNCTION, s->bytes, 0),
			    .guideline = s->guideline });
}

/* Corrects p among these tests, and requires a relevant difference. */
static void
decide(struct verdict *v, const struct rules_of_judging *rules)
{
	double *p = zalloc(v->count, sizeof *p), *adjusted = zalloc(v->count, sizeof *adjusted);
	size_t k = 0;

	v->tests = 0;
	for (size_t i = 0; i < v->count; i++)
		if (!v->staged || v->at[i].tested)
			p[v->tests++] = v->at[i].p;
	correct(rules->correction, p, adjusted, v->tests);
	for (struct judgement *j = v->at; j < v->at + v->count; j++) {
		j->p_adjusted = !v->staged || j->tested ? adjusted[k++] : 1;
		j->violated = j->p_adjusted < rules->alpha &&
		    j->function_ns - j->other_ns > v->margin_ns;
	}
	free(p);
	free(adjusted);
}

/*
 * The A/A control: one call under two names. Every test should find them alike, in both directions.
 * Its tests are a family of their own.
 */
static void
test_control(const struct campaign *c, struct verdict *v, const struct rules_of_judging *rules)
{
	struct verdict control = { .margin_ns = v->margin_ns, .paired = v->paired };

	for (size_t i = 0; i < c->count; i++) {
		const struct series *s = &c->series[i], *function;

		if (s->role != CONTROL)
			continue;
		function = find_series(c, s->function, FUNCTION, s->bytes, 0);
		add(&control, rules, (struct judgement){ .function = function, .other = s,
		    .factor = 1 });
		add(&control, rules, (struct judgement){ .function = s, .other = function,
		    .factor = 1 });
	}
	decide(&control, rules);
	v->has_control = control.count > 0;
	for (size_t i = 0; i < control.count; i++) {
		const struct judgement *j = &control.at[i];

		v->control_failed |= j->violated;
		if (i == 0 || j->p_adjusted < v->control_p) {
			v->control_p = j->p_adjusted;
			v->control = j->other->role == CONTROL ? j->other : j->function;
		}
	}
	free(control.at);
}

/* If a call should be split, only the largest part size is reported. */
static void
keep_largest_part(struct verdict *v)
{
	const struct series *reported = NULL;

	for (struct judgement *j = v->at; j < v->at + v->count; j++) {
		if (j->kind != SPLIT_ROBUSTNESS || !j->violated)
			continue;
		j->violated = j->function != reported;	/* the largest part comes first */
		reported = j->function;
	}
}

/* Values of it for all forms of output. */
static void
describe(struct judgement *j)
{
	const bool made = j->other->role == SPLIT;
	char size[64] = "";

	j->bytes = j->function->bytes;
	j->volume = j->function->volume;
	j->name = j->function->name;
	j->other_name = made ? "split" : j->other->name;
	j->other_bytes = made ? j->other->part : j->other->bytes;
	j->sure = stars(j->p_adjusted);
	j->margin_ns = isfinite(j->seen_ns) ? j->seen_ns : NAN;
	j->known_margin_ns = isfinite(j->seen_ns) ? j->seen_ns : -1;
	if (j->kind == MONOTONY)
		snprintf(size, sizeof size, ", to %" PRIu64 " B", j->other_bytes);
	else if (j->kind == SPLIT_ROBUSTNESS)
		snprintf(size, sizeof size, ", n/k = %" PRIu64 " B%s", j->other_bytes,
		    made ? "" : " (calculated)");
	j->text = formatted("%s%s", j->guideline, size);
}

struct verdict
judge(const struct campaign *c, const struct rules_of_judging *rules)
{
	struct verdict v = { .paired = rules->paired || c->confirm != NULL,
	    .staged = c->confirm != NULL };
	double tests;

	/* by default the barrier's median spread; for pairs 0, as their differences decide */
	v.margin_ns = rules->margin_ns >= 0 ? rules->margin_ns :
	    c->spreads.count > 0 && !v.paired ? median(c->spreads) : 0;
	test_monotony(c, &v, rules);
	test_splits(c, &v, rules);
	test_patterns(c, &v, rules);
	if (c->confirm != NULL)
		take_confirmed(&v, c->confirm, rules);
	decide(&v, rules);
	find_undecided(&v, rules);
	keep_largest_part(&v);
	test_control(c, &v, rules);
	for (size_t i = 0; i < v.count; i++) {
		v.violations += v.at[i].violated;
		describe(&v.at[i]);
	}
	tests = rules->correction == NO_CORRECTION ? 1 : (double)v.tests;
	for (v.needed = 2; (v.paired ? least_p_above(v.needed) : least_p(rules->test, v.needed)) *
	    tests >= rules->alpha; v.needed++)
		;
	return v;
}

/* A function at a size is measured once, for all tests that need it, and longer than before. */
size_t
write_candidates(const struct campaign *c, const struct verdict *v, const char *file)
{
	enum { LONGER = 4 };
	struct whole_file whole = whole_file_begin(file);
	char name[256];
	size_t written = 0;

	fprintf(whole.file, "function\tm_bytes\tranks\tnrep\n");
	for (const struct series *s = c->series; s < c->series + c->count; s++) {
		bool needed = false;

		for (size_t k = 0; k < v->count && !needed; k++)
			needed = v->at[k].candidate &&
			    (v->at[k].function == s || v->at[k].other == s);
		if (!needed || s->role != FUNCTION)
			continue;
		visible_copy(name, sizeof name, s->function);
		fprintf(whole.file, "%s\t%" PRIu64 "\t%" PRId64 "\t%zu\n", name, s->bytes,
		    c->setting.ranks, LONGER * s->reps);
		written++;
	}
	whole_file_end(&whole);
	return written;
}
