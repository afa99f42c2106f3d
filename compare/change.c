/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Differences and their tests. We compare means, since these add up: the change of the mean run
 * time is the sum of the changes of the parts of the paths. In whole nanoseconds each part is
 * rounded towards 0, and the missing rest goes to the parts that lost most. So parts add up to
 * their whole exactly, and if the sides are swapped every sign flips.
 *
 * The tests permute the labels of the runs that disturbed.c leaves. The largest t of all sites
 * adjusts their p. An interval holds the shifts that no test rejects. With too few runs to reach 95
 * %, no statement of chance is made.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static const double CONFIDENCE = 1 - LEVEL;
static const double FOUND = 0.8;	/* power: share of such changes that are found */

bool
can_judge(size_t a, size_t b)
{
	return 2 / ways_to_choose(a, b) <= LEVEL;	/* the smallest two-sided p possible */
}

static int64_t
sum_of(const struct comparison *c, int side, VALUE(of), size_t index)
{
	int64_t sum = 0;

	for (size_t r = 0; r < c->count[side]; r++)
		sum += of(&c->runs[side][r], index);
	return sum;
}

int64_t
mean_ns(const struct comparison *c, int side, VALUE(of), size_t index)
{
	const int64_t sum = sum_of(c, side, of, index), count = (int64_t)c->count[side];

	/* half away from zero, so that the sign does not matter */
	return (sum < 0 ? sum - count / 2 : sum + count / 2) / count;
}

int64_t
difference(const struct comparison *c, VALUE(of), size_t index)
{
	return mean_ns(c, B, of, index) - mean_ns(c, A, of, index);
}

static void
put_values(double *values, const struct comparison *c, VALUE(of), size_t index)
{
	for (size_t i = 0; i < c->tested_count; i++)
		values[i] = (double)of(c->tested[i], index);
}

void
change_of(const struct comparison *c, VALUE(of), size_t index, struct change *change)
{
	*change = (struct change){ .judged = can_judge(c->count[A], c->count[B]), .shift = NAN,
	    .low = NAN, .high = NAN, .p = NAN, .p_adjusted = NAN };
	change->a = (double)sum_of(c, A, of, index) / (double)c->count[A];
	change->b = (double)sum_of(c, B, of, index) / (double)c->count[B];
	change->change_ns = difference(c, of, index);
	if (change->judged) {
		double *values = zalloc(c->tested_count, sizeof *values);
		struct effect effect;

		put_values(values, c, of, index);
		effect = permuted_shift(&c->ways, values, CONFIDENCE, &change->p);
		change->p_adjusted = 1;		/* unless tested */
		change->shift = effect.shift;
		change->low = effect.low;
		change->high = effect.high;
		free(values);
	}
}

struct rest {
	int64_t ns;
	size_t index;
};

/* Parts whose rest has the sign of the missing time first, the largest first; then by index. */
ORDER(by_rest, struct rest, COMPARED(llabs(b->ns), llabs(a->ns)) BY(index))

void
apportion(const struct comparison *c, VALUE(of), size_t first, size_t count, int64_t whole_ns,
    int64_t *parts_ns)
{
	const int64_t runs_a = (int64_t)c->count[A], runs_b = (int64_t)c->count[B];
	struct rest *rests = zalloc(count, sizeof *rests);
	int64_t missing_ns = whole_ns;

	for (size_t i = 0; i < count; i++) {
		const int64_t a = sum_of(c, A, of, first + i);
		const int64_t b = sum_of(c, B, of, first + i);
		int64_t part = b / runs_b - a / runs_a,
		    rest = b % runs_b * runs_a - a % runs_a * runs_b;
		/* If both have one sign, the part is rounded towards 0. */
		const int64_t carry = part > 0 && rest < 0 ? -1 : part < 0 && rest > 0 ? 1 : 0;

		parts_ns[i] = part + carry;
		missing_ns -= parts_ns[i];
		rests[i] = (struct rest){ rest - carry * runs_a * runs_b, i };
	}
	SORT(rests, count, by_rest);
	/* First pass: parts whose rest has the sign of the missing time; then any. */
	for (int pass = 0; missing_ns != 0 && count > 0 && pass < 1000; pass++)
		for (size_t i = 0; i < count && missing_ns != 0; i++) {
			const int sign = missing_ns < 0 ? -1 : 1;

			if (pass == 0 && sign * rests[i].ns <= 0)
				continue;
			parts_ns[rests[i].index] += sign;
			missing_ns -= sign;
		}
	free(rests);
}

/* ---- quantities ------------------------------------------------------------------------- */

static VALUE_IS(run_time, run->run_ns)
VALUE_IS(state_wait, run->wait_ns[index])
static VALUE_OF_UNIT(unit_total, total_ns)
static VALUE_OF_UNIT(unit_wait, wait_ns)
static VALUE_OF_UNIT(unit_delay, delay_ns)
static VALUE_IS(rank_path, index < (size_t)run->ranks ? run->rank_ns[index] : 0)
/* Units come first, then the time after the last synchronisation point. */
static VALUE_IS(phase_path, run->phase_unit_ns[index])

/* All kinds of one unit, then of the next. */
static int64_t
unit_kind(const struct summary *run, size_t index)
{
	const struct site_sums *p = run->by_unit[index / KINDS];

	return p != NULL ? p->path_ns[index % KINDS] : 0;
}

VALUE_IS(unit_path, run->by_unit[index] != NULL ? path_of(run->by_unit[index]) : 0)

static VALUE_IS(unit_computing, unit_kind(run, index * KINDS + COMPUTE))
static VALUE_IS(unit_communication, unit_kind(run, index * KINDS + MPI) +
    unit_kind(run, index * KINDS + TRANSFER))
static VALUE_IS(unit_undisturbed_computing, run->undisturbed_ns[COMPUTING][index])
static VALUE_IS(unit_undisturbed_communication, run->undisturbed_ns[COMMUNICATION][index])

int64_t
unit_part(const struct summary *run, size_t unit, size_t part)
{
	return part == COMPUTING ? unit_computing(run, unit) : unit_communication(run, unit);
}

/* ---- tests ------------------------------------------------------------------------------ */

/*
 * The robust deviation of the runs of sides FROM to TO from the median of their side. Each median
 * costs one degree of freedom. NaN: too few runs.
 */
static double
deviation(const struct comparison *c, int from, int to, VALUE(of), size_t index)
{
	struct sample all = { zalloc(c->tested_count, sizeof *all.at), 0 }, one = all;
	const int sides = to - from + 1;
	double result = NAN;

	for (int side = from; side <= to; side++) {
		one.at = all.at + all.count;
		one.count = 0;
		for (size_t i = 0; i < c->tested_count; i++)
			if (c->tested[i]->side == side)
				one.at[one.count++] = (double)of(c->tested[i], index);
		const double centre = median(one);

		for (size_t i = 0; i < one.count; i++)
			one.at[i] = fabs(one.at[i] - centre);
		all.count += one.count;
	}
	if ((int)all.count > sides)
		result = 1.4826 * median(all) *
		    sqrt((double)all.count / ((double)all.count - sides));
	free(all.at);
	return result;
}

/*
 * The shift that a test finds if its t is at least CRITICAL, by Student's t. If most runs are
 * alike, their deviation is 0, and says nothing.
 */
static double
detectable_of(const struct comparison *c, const struct quantity *test, double critical)
{
	const double b = (double)c->ways.in_b, a = (double)c->tested_count - b;
	const double spread = sqrt(1 + critical * critical / (2 * (a + b - 2)));
	const double t = critical + normal_quantile(FOUND) * spread;
	const double spread_ns = deviation(c, A, B, test->of, test->index);

	return isfinite(t) && spread_ns > 0 ? t * spread_ns * sqrt(1 / a + 1 / b) : NAN;
}

void
test_all(const struct comparison *c, struct quantity *tests, size_t count)
{
	const size_t runs = c->tested_count;
	double *values = zalloc(count * runs, sizeof *values);
	double *adjusted = zalloc(count, sizeof *adjusted), critical;

	for (size_t t = 0; t < count; t++) {
		change_of(c, tests[t].of, tests[t].index, &tests[t].change);
		tests[t].detectable = NAN;
		put_values(values + t * runs, c, tests[t].of, tests[t].index);
	}
	if (count > 0 && can_judge(c->count[A], c->count[B])) {
		critical = max_t(&c->ways, values, count, LEVEL, adjusted);
		for (size_t t = 0; t < count; t++) {
			tests[t].change.p_adjusted = adjusted[t];
			tests[t].detectable = detectable_of(c, &tests[t], critical);
		}
	}
	free(values);
	free(adjusted);
}

/* Whether the site takes a thousandth of the mean run time on some side. */
bool
is_tested(const struct verdict *v, const struct change *path)
{
	return path->a + path->b >= WORTH * (v->run_time.a + v->run_time.b);
}

/* Whether the change is significant and not negligible. */
bool
is_named(const struct verdict *v, const struct change *change)
{
	return change->p_adjusted <= LEVEL && fabs(change->shift) >= WORTH * v->run_time.a &&
	    change->low * change->high > 0;
}

/* A named change beats one that is not. Of two named ones the larger wins, else the smaller p. */
static bool
is_surer(const struct verdict *v, const struct quantity *a, const struct quantity *b)
{
	const bool named = is_named(v, &a->change);

	if (named != is_named(v, &b->change))
		return named;
	return named ? fabs(a->change.shift) > fabs(b->change.shift) :
	    a->change.p_adjusted < b->change.p_adjusted;
}

/* Each part is tested whole, and without what delayed single visits: either may have changed. */
enum { KINDS_OF_TEST = 2 * PARTS };

static void
test_sites(const struct comparison *c, struct verdict *v)
{
	static int64_t (*const of[KINDS_OF_TEST])(const struct summary *run, size_t unit) = {
		unit_undisturbed_computing, unit_computing,
		unit_undisturbed_communication, unit_communication };
	struct quantity *tests = zalloc(KINDS_OF_TEST * c->unit_count, sizeof *tests);
	size_t count = 0;

	for (size_t u = 0; u < c->unit_count; u++)
		for (size_t k = 0; is_tested(v, &v->sites[u].path) && k < KINDS_OF_TEST; k++)
			tests[count++] = (struct quantity){ .of = of[k], .index = u };
	test_all(c, tests, count);
	for (size_t i = 0; i < count; i += KINDS_OF_TEST) {
		struct site_change *s = &v->sites[tests[i].index];
		size_t best = 0;

		for (size_t k = 1; k < KINDS_OF_TEST; k++)
			if (is_surer(v, &tests[i + k], &tests[i + best]))
				best = k;
		s->part = best < 2 ? COMPUTING : COMMUNICATION;
		s->surest = tests[i + best].change;
		s->detectable = tests[i + best].detectable;
		s->path.p_adjusted = s->surest.p_adjusted;
		s->named = is_named(v, &s->surest);
	}
	free(tests);
}

void
judge(const struct comparison *c, struct verdict *v)
{
	const size_t units = c->unit_count;
	int64_t *kinds_ns = zalloc(units * KINDS, sizeof *kinds_ns);
	struct quantity run = { .of = run_time };

	test_all(c, &run, 1);
	v->run_time = run.change;
	v->run_detectable = run.detectable;
	v->sites = zalloc(units, sizeof *v->sites);
	v->phases_ns = zalloc(units + 1, sizeof *v->phases_ns);
	for (int side = A; side < SIDES; side++)
		v->run_spread[side] = deviation(c, side, side, run_time, 0);
	for (size_t r = 0; r < c->run_count; r++)
		v->ranks = (size_t)larger((int64_t)v->ranks, c->all[r].ranks);
	v->ranks_ns = zalloc(v->ranks, sizeof *v->ranks_ns);
	apportion(c, unit_kind, 0, units * KINDS, v->run_time.change_ns, kinds_ns);
	for (size_t u = 0; u < units; u++) {
		struct site_change *s = &v->sites[u];

		s->unit = u;
		s->place = c->units[u].place;
		s->detectable = NAN;		/* unless tested */
		change_of(c, unit_path, u, &s->path);
		change_of(c, unit_total, u, &s->total);
		s->wait_ns = difference(c, unit_wait, u);
		s->delay_ns = difference(c, unit_delay, u);
		s->path.change_ns = 0;
		for (size_t kind = 0; kind < KINDS; kind++) {
			s->kinds_ns[kind] = kinds_ns[u * KINDS + kind];
			s->path.change_ns += s->kinds_ns[kind];
			v->all_kinds_ns[kind] += s->kinds_ns[kind];
		}
	}
	apportion(c, rank_path, 0, v->ranks, v->run_time.change_ns, v->ranks_ns);
	apportion(c, phase_path, 0, units + 1, v->run_time.change_ns, v->phases_ns);
	if (v->run_time.judged)
		test_sites(c, v);
	free(kinds_ns);
}
