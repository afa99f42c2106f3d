/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Differences and their tests. Means, since these add up: the change of the mean run time is the sum
 * of the changes of what the paths are made of. In whole nanoseconds each part is cut towards 0, and
 * what is missing then goes to the parts that lost most; so parts make up their whole exactly, and
 * with the sides swapped every sign flips.
 *
 * Tests are Wilcoxon's, exact and two-sided, Holm's over the sites; sizes are Hodges and Lehmann's.
 * With fewer runs than could ever tell anything at 95 % nothing is said of chance.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static const double CONFIDENCE = 1 - LEVEL;
static const double FOUND = 0.8;	/* of such changes, where the spread is as it seems */

bool
can_judge(const struct comparison *c)
{
	double ways = 1;	/* to choose side A among all runs */

	for (size_t i = 1; i <= c->count[A]; i++)
		ways *= (double)(c->count[B] + i) / (double)i;
	return 2 / ways <= LEVEL;	/* the least two-sided p */
}

static int64_t
sum_of(const struct comparison *c, int side, VALUE(of), size_t index)
{
	int64_t sum = 0;

	for (size_t r = 0; r < c->count[side]; r++)
		sum += of(&c->runs[side][r], index);
	return sum;
}

/* Half away from zero, so that the sign does not matter. */
static int64_t
rounded(int64_t sum, int64_t count)
{
	return (sum < 0 ? sum - count / 2 : sum + count / 2) / count;
}

int64_t
mean_ns(const struct comparison *c, int side, VALUE(of), size_t index)
{
	return rounded(sum_of(c, side, of, index), (int64_t)c->count[side]);
}

int64_t
difference(const struct comparison *c, VALUE(of), size_t index)
{
	return mean_ns(c, B, of, index) - mean_ns(c, A, of, index);
}

/* The value of each run of a side; to be freed. */
static struct sample
sample_of(const struct comparison *c, int side, VALUE(of), size_t index)
{
	struct sample sample = { zalloc(c->count[side], sizeof *sample.at), c->count[side] };

	for (size_t r = 0; r < sample.count; r++)
		sample.at[r] = (double)of(&c->runs[side][r], index);
	return sample;
}

void
change_of(const struct comparison *c, VALUE(of), size_t index, struct change *change)
{
	struct sample a = sample_of(c, A, of, index), b = sample_of(c, B, of, index);
	struct effect effect;
	double more, less;

	*change = (struct change){ .a = mean(a), .b = mean(b), .judged = can_judge(c), .shift = NAN,
	    .low = NAN, .high = NAN, .p = NAN, .p_adjusted = NAN };
	change->change_ns = difference(c, of, index);
	if (change->judged) {
		change->p_adjusted = 1;		/* unless it is tested */
		effect = hodges_lehmann(b, a, CONFIDENCE);
		change->shift = effect.shift;
		change->low = effect.low;
		change->high = effect.high;
		more = p_greater(WILCOXON, b, a);
		less = p_greater(WILCOXON, a, b);
		change->p = fmin(1, 2 * fmin(more, less));
	}
	free(a.at);
	free(b.at);
}

struct rest {
	int64_t ns;
	size_t index;
};

/* Most of the sign that is missing first, whichever that is; then by place. */
static int
by_rest(const void *left, const void *right)
{
	const struct rest *a = left, *b = right;
	const int64_t x = a->ns < 0 ? -a->ns : a->ns, y = b->ns < 0 ? -b->ns : b->ns;

	if (x != y)
		return x > y ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

void
apportion(const struct comparison *c, VALUE(of), size_t count, int64_t whole_ns, int64_t *parts_ns)
{
	const int64_t runs_a = (int64_t)c->count[A], runs_b = (int64_t)c->count[B];
	struct rest *rests = zalloc(count, sizeof *rests);
	int64_t missing_ns = whole_ns;

	for (size_t i = 0; i < count; i++) {
		const int64_t a = sum_of(c, A, of, i), b = sum_of(c, B, of, i);
		int64_t part = b / runs_b - a / runs_a, rest = b % runs_b * runs_a - a % runs_a * runs_b;
		/* Both of one sign: it is cut towards 0. */
		const int64_t carry = part > 0 && rest < 0 ? -1 : part < 0 && rest > 0 ? 1 : 0;

		parts_ns[i] = part + carry;
		missing_ns -= parts_ns[i];
		rests[i] = (struct rest){ rest - carry * runs_a * runs_b, i };
	}
	qsort(rests, count, sizeof *rests, by_rest);
	/* First to those whose rest has the sign of what is missing, then to any. */
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

/* ---- what is looked at ------------------------------------------------------------------ */

static VALUE_IS(run_time, run->run_ns)
VALUE_IS(state_wait, run->wait_ns[index])
static VALUE_OF_UNIT(unit_total, total_ns)
static VALUE_OF_UNIT(unit_wait, wait_ns)
static VALUE_OF_UNIT(unit_delay, delay_ns)
static VALUE_IS(rank_path, index < (size_t)run->ranks ? run->rank_ns[index] : 0)
/* Behind all units: what comes behind the last synchronisation point. */
static VALUE_IS(phase_path, run->phase_unit_ns[index])

/* Kind by kind of unit by unit. */
static int64_t
unit_kind(const struct summary *run, size_t index)
{
	const struct site_sums *p = run->by_unit[index / PATH_KINDS_COUNT];

	return p != NULL ? p->path_ns[index % PATH_KINDS_COUNT] : 0;
}

int64_t
unit_path(const struct summary *run, size_t unit)
{
	int64_t ns = 0;

	for (size_t kind = 0; kind < PATH_KINDS_COUNT; kind++)
		ns += unit_kind(run, unit * PATH_KINDS_COUNT + kind);
	return ns;
}

static VALUE_IS(unit_computing, unit_kind(run, index * PATH_KINDS_COUNT + PATH_COMPUTE))
static VALUE_IS(unit_communication, unit_kind(run, index * PATH_KINDS_COUNT + PATH_MPI) +
    unit_kind(run, index * PATH_KINDS_COUNT + PATH_TRANSFER))

static void
phases_by_unit(const struct comparison *c)
{
	for (int side = A; side < SIDES; side++)
		for (size_t r = 0; r < c->count[side]; r++) {
			struct summary *run = &c->runs[side][r];

			run->phase_unit_ns = zalloc(c->unit_count + 1, sizeof *run->phase_unit_ns);
			run->phase_unit_ns[c->unit_count] = run->phase_ns[0];
			for (size_t i = 0; i < run->count; i++)
				if (run->places[i].unit != NOBODY)
					run->phase_unit_ns[run->places[i].unit] += run->phase_ns[i + 1];
		}
}

/* ---- tests ------------------------------------------------------------------------------ */

/*
 * The robust deviation of all runs of the sides FROM to TO from the median of their side, so that a single
 * run that was held up does not make it. Each median takes the freedom of one run; NaN: there are too few.
 */
static double
deviation(const struct comparison *c, int from, int to, VALUE(of), size_t index)
{
	struct sample all = { zalloc(c->count[A] + c->count[B], sizeof *all.at), 0 };
	const int sides = to - from + 1;
	double result = NAN;

	for (int side = from; side <= to; side++) {
		struct sample one = sample_of(c, side, of, index);
		const double centre = median(one);

		for (size_t r = 0; r < one.count; r++)
			all.at[all.count++] = fabs(one.at[r] - centre);
		free(one.at);
	}
	if ((int)all.count > sides)
		result = 1.4826 * median(all) * sqrt((double)all.count / ((double)all.count - sides));
	free(all.at);
	return result;
}

/* A change that is found 4 times in 5, by one of so many TESTS; NaN: none is. */
static double
detectable_of(const struct comparison *c, VALUE(of), size_t index, size_t tests)
{
	if (!can_judge(c))
		return NAN;
	return detectable_shift(c->count[A], c->count[B], LEVEL / (double)tests, FOUND) *
	    deviation(c, A, B, of, index);
}

/* A thousandth of the mean run time somewhere. */
bool
is_tested(const struct verdict *v, const struct change *path)
{
	return path->a + path->b >= WORTH * (v->run_time.a + v->run_time.b);
}

/* Significant but negligible differences are not named. */
bool
is_named(const struct verdict *v, const struct change *change, double p_adjusted)
{
	return p_adjusted <= LEVEL && fabs(change->shift) >= WORTH * v->run_time.a && change->low * change->high > 0;
}

static void
adjust(const struct comparison *c, struct verdict *v)
{
	struct site_change **sites = zalloc(c->unit_count, sizeof *sites);
	double *p = zalloc(PARTS * c->unit_count, sizeof *p);
	double *adjusted = zalloc(PARTS * c->unit_count, sizeof *adjusted);
	size_t count = 0;

	for (size_t u = 0; u < c->unit_count; u++)
		if (is_tested(v, &v->sites[u].path))
			sites[count++] = &v->sites[u];
	for (size_t i = 0; i < count; i++) {
		change_of(c, unit_computing, sites[i]->unit, &sites[i]->parts[COMPUTING]);
		change_of(c, unit_communication, sites[i]->unit, &sites[i]->parts[COMMUNICATION]);
		for (size_t k = 0; k < PARTS; k++)
			p[PARTS * i + k] = sites[i]->parts[k].p;
	}
	correct(HOLM, p, adjusted, PARTS * count);
	for (size_t i = 0; i < count; i++) {
		struct site_change *s = sites[i];

		s->part = adjusted[PARTS * i + COMMUNICATION] < adjusted[PARTS * i + COMPUTING];
		s->detectable = detectable_of(c, s->part == COMPUTING ? unit_computing : unit_communication, s->unit,
		    PARTS * count);
		s->path.p_adjusted = adjusted[PARTS * i + (size_t)s->part];
		s->named = is_named(v, &s->parts[s->part], s->path.p_adjusted);
	}
	free(sites);
	free(p);
	free(adjusted);
}

void
judge(const struct comparison *c, struct verdict *v)
{
	const size_t units = c->unit_count;
	int64_t *kinds_ns = zalloc(units * PATH_KINDS_COUNT, sizeof *kinds_ns);

	change_of(c, run_time, 0, &v->run_time);
	v->run_detectable = detectable_of(c, run_time, 0, 1);
	v->sites = zalloc(units, sizeof *v->sites);
	v->phases_ns = zalloc(units + 1, sizeof *v->phases_ns);
	for (int side = A; side < SIDES; side++) {
		v->run_spread[side] = deviation(c, side, side, run_time, 0);
		for (size_t r = 0; r < c->count[side]; r++)
			v->ranks = (size_t)c->runs[side][r].ranks > v->ranks ? (size_t)c->runs[side][r].ranks : v->ranks;
	}
	v->ranks_ns = zalloc(v->ranks, sizeof *v->ranks_ns);
	apportion(c, unit_kind, units * PATH_KINDS_COUNT, v->run_time.change_ns, kinds_ns);
	for (size_t u = 0; u < units; u++) {
		struct site_change *s = &v->sites[u];

		s->unit = u;
		s->place = c->units[u].place;
		s->detectable = NAN;		/* unless it is tested */
		change_of(c, unit_path, u, &s->path);
		change_of(c, unit_total, u, &s->total);
		s->wait_ns = difference(c, unit_wait, u);
		s->delay_ns = difference(c, unit_delay, u);
		s->path.change_ns = 0;
		for (size_t kind = 0; kind < PATH_KINDS_COUNT; kind++) {
			s->kinds_ns[kind] = kinds_ns[u * PATH_KINDS_COUNT + kind];
			s->path.change_ns += s->kinds_ns[kind];
			v->all_kinds_ns[kind] += s->kinds_ns[kind];
		}
	}
	apportion(c, rank_path, v->ranks, v->run_time.change_ns, v->ranks_ns);
	phases_by_unit(c);
	apportion(c, phase_path, units + 1, v->run_time.change_ns, v->phases_ns);
	if (can_judge(c))
		adjust(c, v);
	free(kinds_ns);
}
