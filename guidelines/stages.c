/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two stages: a first campaign screens all tests; a second one, with further mpiruns, decides about
 * the candidates. An mpirun is a pair: it measured both sides, mixed at random, so a disturbance
 * slows both. Each side counts by the lower quartile of its times, which other load hardly changes.
 * It is a violation if the logarithms of the ratios are above that of 1 + slower by the signed-rank
 * test, corrected among the candidates alone.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "../base/tool/text.h"
#include "../base/tool/whole_file.h"
#include "guidelines.h"

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

void
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

void
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
void
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
