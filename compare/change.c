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

double
least_two_sided_p(const struct comparison *c)
{
	double ways = 1;	/* to choose side A among all runs */

	for (size_t i = 1; i <= c->count[A]; i++)
		ways *= (double)(c->count[B] + i) / (double)i;
	return 2 / ways;
}

bool
can_judge(const struct comparison *c)
{
	return least_two_sided_p(c) <= LEVEL;
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
	return sum < 0 ? -((-sum + count / 2) / count) : (sum + count / 2) / count;
}

int64_t
mean_ns(const struct comparison *c, int side, VALUE(of), size_t index)
{
	return rounded(sum_of(c, side, of, index), (int64_t)c->count[side]);
}

struct sample
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

	*change = (struct change){ .a = mean(a), .b = mean(b), .p = 1, .p_adjusted = 1,
	    .judged = can_judge(c) };
	change->change_ns = mean_ns(c, B, of, index) - mean_ns(c, A, of, index);
	if (change->judged) {
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
	struct rest *rests = zalloc(count + 1, sizeof *rests);
	int64_t missing_ns = whole_ns;
	const int sign_of[] = { 1, -1 };

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
			const int sign = sign_of[missing_ns < 0];

			if (pass == 0 && (rests[i].ns == 0 || (rests[i].ns < 0) != (missing_ns < 0)))
				continue;
			parts_ns[rests[i].index] += sign;
			missing_ns -= sign;
		}
	free(rests);
}

/* ---- what is looked at ------------------------------------------------------------------ */

static int64_t
run_time(const struct summary *run, size_t index)
{
	(void)index;
	return run->run_ns;
}

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

static int64_t
unit_total(const struct summary *run, size_t unit)
{
	return run->by_unit[unit] != NULL ? run->by_unit[unit]->total_ns : 0;
}

static int64_t
rank_path(const struct summary *run, size_t rank)
{
	return rank < (size_t)run->ranks ? run->rank_ns[rank] : 0;
}

/* Behind all units: what comes behind the last synchronisation point. */
static int64_t
phase_path(const struct summary *run, size_t phase)
{
	return run->phase_unit_ns[phase];
}

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

/* Sites of which the tests are: those that take a thousandth of the mean run time somewhere. */
static size_t
chosen(const struct comparison *c, const struct verdict *v, size_t *units)
{
	size_t count = 0;

	for (size_t u = 0; u < c->unit_count; u++)
		if (v->paths[u].a + v->paths[u].b >= WORTH * (v->run_time.a + v->run_time.b))
			units[count++] = u;
	return count;
}

static int64_t
unit_computing(const struct summary *run, size_t unit)
{
	return unit_kind(run, unit * PATH_KINDS_COUNT + PATH_COMPUTE);
}

static int64_t
unit_communication(const struct summary *run, size_t unit)
{
	return unit_kind(run, unit * PATH_KINDS_COUNT + PATH_MPI) +
	    unit_kind(run, unit * PATH_KINDS_COUNT + PATH_TRANSFER);
}

static void
adjust(const struct comparison *c, struct verdict *v)
{
	size_t *units = zalloc(c->unit_count + 1, sizeof *units);
	const size_t count = chosen(c, v, units);
	double *p = zalloc(PARTS * count + 1, sizeof *p), *adjusted = zalloc(PARTS * count + 1, sizeof *adjusted);

	for (size_t i = 0; i < count; i++) {
		struct change *parts = v->parts[units[i]];

		change_of(c, unit_computing, units[i], &parts[COMPUTING]);
		change_of(c, unit_communication, units[i], &parts[COMMUNICATION]);
		for (size_t k = 0; k < PARTS; k++)
			p[PARTS * i + k] = parts[k].p;
	}
	correct(HOLM, p, adjusted, PARTS * count);
	for (size_t i = 0; i < count; i++) {
		const size_t u = units[i];
		const bool second = adjusted[PARTS * i + COMMUNICATION] < adjusted[PARTS * i + COMPUTING];
		const struct change *part = &v->parts[u][second];

		v->part[u] = second;
		v->detectable[u] = detectable_of(c, second ? unit_communication : unit_computing, u, PARTS * count);
		v->paths[u].p_adjusted = adjusted[PARTS * i + second];
		/* What is certain and yet nothing is not worth a name. */
		v->named[u] = part->judged && v->paths[u].p_adjusted <= LEVEL &&
		    fabs(part->shift) >= WORTH * v->run_time.a && part->low * part->high > 0;
	}
	free(units);
	free(p);
	free(adjusted);
}

void
judge(const struct comparison *c, struct verdict *v)
{
	const size_t units = c->unit_count;
	int64_t *kinds_ns = zalloc(units * PATH_KINDS_COUNT + 1, sizeof *kinds_ns);

	change_of(c, run_time, 0, &v->run_time);
	v->run_detectable = detectable_of(c, run_time, 0, 1);
	for (int side = A; side < SIDES; side++)
		v->run_spread[side] = spread_of(c, side, run_time, 0);
	v->paths = zalloc(units + 1, sizeof *v->paths);
	v->totals = zalloc(units + 1, sizeof *v->totals);
	v->named = zalloc(units + 1, sizeof *v->named);
	v->parts = zalloc(units + 1, sizeof *v->parts);
	v->part = zalloc(units + 1, sizeof *v->part);
	v->detectable = zalloc(units + 1, sizeof *v->detectable);
	v->kinds_ns = zalloc(units + 1, sizeof *v->kinds_ns);
	v->phases_ns = zalloc(units + 1, sizeof *v->phases_ns);
	for (int side = A; side < SIDES; side++)
		for (size_t r = 0; r < c->count[side]; r++)
			v->ranks = (size_t)c->runs[side][r].ranks > v->ranks ? (size_t)c->runs[side][r].ranks : v->ranks;
	v->ranks_ns = zalloc(v->ranks + 1, sizeof *v->ranks_ns);
	apportion(c, unit_kind, units * PATH_KINDS_COUNT, v->run_time.change_ns, kinds_ns);
	for (size_t u = 0; u < units; u++) {
		change_of(c, unit_path, u, &v->paths[u]);
		change_of(c, unit_total, u, &v->totals[u]);
		v->detectable[u] = NAN;		/* unless it is tested */
		v->paths[u].change_ns = 0;
		for (size_t kind = 0; kind < PATH_KINDS_COUNT; kind++) {
			v->kinds_ns[u][kind] = kinds_ns[u * PATH_KINDS_COUNT + kind];
			v->paths[u].change_ns += v->kinds_ns[u][kind];
			v->all_kinds_ns[kind] += v->kinds_ns[u][kind];
		}
	}
	apportion(c, rank_path, v->ranks, v->run_time.change_ns, v->ranks_ns);
	phases_by_unit(c);
	apportion(c, phase_path, units + 1, v->run_time.change_ns, v->phases_ns);
	adjust(c, v);
	free(kinds_ns);
}
