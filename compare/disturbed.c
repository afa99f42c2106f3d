/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other load on the machine delays single visits to a site, or a whole run. Neither is a difference
 * between the sides, so the tests leave both out. All of this is found without the sides, so a test
 * that permutes labels stays exact.
 *
 * A side of N runs can be distinguished if (N - 1) / 2 of them are disturbed. If at most so few of
 * all runs take longer than the rest, they were delayed: no change of a side looks like that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/*
 * A run is disturbed if it was delayed for so much more of its time than most, and so many times as
 * much.
 */
#define HELD_UP 0.02
#define TIMES 3

static size_t
most_disturbed(const struct comparison *c)
{
	const size_t least = c->count[A] < c->count[B] ? c->count[A] : c->count[B];

	return (least - 1) / 2;
}

/* The value that FEW others exceed; SORTED has room for all. */
static double
exceeded_by(const double *values, size_t few, struct sample sorted)
{
	memcpy(sorted.at, values, sorted.count * sizeof *values);
	median(sorted);
	return sorted.at[sorted.count - 1 - few];
}

/* ---- visits ----------------------------------------------------------------------------- */

/* Of a part of a site, by position and run; 0 positions: unknown in some run. Free it. */
static double *
positions_of_runs(const struct comparison *c, size_t unit, size_t part, size_t *positions)
{
	double *at = zalloc(POSITIONS * c->tested_count, sizeof *at);
	uint64_t each = 1;

	*positions = 0;
	for (size_t r = 0; r < c->tested_count; r++) {
		const struct site_sums *p = c->tested[r]->by_unit[unit];

		if (p != NULL && p->visits > 0 && p->position_visits > each)
			each = p->position_visits;
	}
	for (size_t r = 0; r < c->tested_count; r++) {
		const struct site_sums *p = c->tested[r]->by_unit[unit];
		const size_t count = p != NULL ? positions_of(p) : 0;

		if (count == 0 && unit_part(c->tested[r], unit, part) != 0) {
			*positions = 0;
			return at;
		}
		for (size_t i = 0; i < count; i++) {
			const size_t to = (size_t)(i / (each / p->position_visits));

			at[to * c->tested_count + r] += (double)p->position_ns[part][i];
			*positions = to >= *positions ? to + 1 : *positions;
		}
	}
	return at;
}

/* Subtracts from each run how much longer than all others it takes at most positions. */
static void
subtract_runs(double *at, size_t runs, size_t positions)
{
	struct sample of = { zalloc(runs + positions, sizeof *of.at), 0 };
	double *middle = zalloc(positions, sizeof *middle);

	for (size_t i = 0; i < positions; i++) {
		of.count = runs;
		memcpy(of.at, at + i * runs, runs * sizeof *at);
		middle[i] = median(of);
	}
	for (size_t r = 0; r < runs && positions > 0; r++) {
		double longer;

		of.count = positions;
		for (size_t i = 0; i < positions; i++)
			of.at[i] = at[i * runs + r] - middle[i];
		longer = median(of);
		for (size_t i = 0; i < positions; i++)
			at[i * runs + r] -= longer;
	}
	free(of.at);
	free(middle);
}

/* Removes disturbances from a part of a site, and counts them as delay of their runs. */
static void
clean(const struct comparison *c, size_t unit, size_t part, size_t few)
{
	const size_t runs = c->tested_count;
	struct sample of = { zalloc(runs, sizeof *of.at), runs };
	double *left = zalloc(runs, sizeof *left), most;
	size_t positions;
	double *at = positions_of_runs(c, unit, part, &positions);

	for (size_t r = 0; r < runs; r++)
		left[r] = (double)unit_part(c->tested[r], unit, part);
	subtract_runs(at, runs, positions);
	for (size_t i = 0; i < positions; i++) {
		most = exceeded_by(at + i * runs, few, of);
		for (size_t r = 0; r < runs; r++)
			left[r] -= fmax(0, at[i * runs + r] - most);
	}
	most = exceeded_by(left, few, of);
	for (size_t r = 0; r < runs; r++) {
		struct summary *run = c->tested[r];

		run->undisturbed_ns[part][unit] = llround(left[r]);
		run->held_up_ns += unit_part(run, unit, part) - llround(fmin(left[r], most));
	}
	free(of.at);
	free(left);
	free(at);
}

static void
clean_all(struct comparison *c)
{
	for (size_t r = 0; r < c->tested_count; r++)
		c->tested[r]->held_up_ns = 0;
	for (size_t u = 0; u < c->unit_count; u++)
		for (size_t part = 0; part < PARTS; part++)
			clean(c, u, part, most_disturbed(c));
	for (size_t r = 0; r < c->tested_count; r++) {
		struct summary *run = c->tested[r];

		run->held_up = run->run_ns > 0 ? (double)run->held_up_ns / (double)run->run_ns : 0;
	}
}

/* ---- repeated runs ---------------------------------------------------------------------- */

/* Two runs never take the same time on each rank, to the nanosecond. */
static bool
is_same_run(const struct summary *a, const struct summary *b)
{
	return a->ranks == b->ranks && a->count == b->count && a->run_ns == b->run_ns &&
	    memcmp(a->rank_ns, b->rank_ns, (size_t)a->ranks * sizeof *a->rank_ns) == 0 &&
	    memcmp(a->phase_ns, b->phase_ns, (a->count + 1) * sizeof *a->phase_ns) == 0 &&
	    memcmp(a->wait_ns, b->wait_ns, sizeof a->wait_ns) == 0 &&
	    memcmp(&a->preempted, &b->preempted, sizeof a->preempted) == 0;
}

void
leave_out_repeated(struct comparison *c)
{
	const struct summary *end = c->all + c->run_count;
	struct summary *to = c->all;

	c->repeated = zalloc(c->run_count, sizeof *c->repeated);
	for (struct summary *run = c->all, *same; run < end; run++) {
		if (run == c->runs[B])
			c->runs[B] = to;
		for (same = c->runs[run->side]; same < to && !is_same_run(same, run); )
			same++;
		if (same == to)
			*to++ = *run;
		else {
			run->first_number = same->number;
			c->repeated[c->repeated_count++] = *run;
			c->count[run->side]--;
		}
	}
	c->run_count = (size_t)(to - c->all);
}

/* ---- runs ------------------------------------------------------------------------------- */

static double
held_up(const struct summary *run)
{
	return run->held_up;
}

static double
preempted(const struct summary *run)
{
	return isfinite(run->preempted) ? run->preempted : 0;
}

/* Whether the share of this run is far from that of most runs. */
static bool
stands_out(const struct comparison *c, double (*share)(const struct summary *run),
    const struct summary *run)
{
	struct sample all = { zalloc(c->tested_count, sizeof *all.at), c->tested_count };
	double usual;

	for (size_t r = 0; r < all.count; r++)
		all.at[r] = share(c->tested[r]);
	usual = median(all);
	free(all.at);
	return share(run) > usual + HELD_UP && share(run) > TIMES * usual;
}

/*
 * Returns whether the disturbed runs are left out: the others must suffice for a test. More than a
 * few are typical of a side, or of all.
 */
static bool
leave_out(struct comparison *c)
{
	size_t left[SIDES] = { c->count[A], c->count[B] }, disturbed = 0, kept = 0;

	for (const struct summary *run = c->all; run < c->all + c->run_count; run++) {
		left[run->side] -= run->disturbed;
		disturbed += run->disturbed;
	}
	if (disturbed == 0 || disturbed > most_disturbed(c) || !can_judge(left[A], left[B]))
		return false;
	for (size_t r = 0; r < c->tested_count; r++) {
		c->tested[r]->left_out = c->tested[r]->disturbed;
		if (!c->tested[r]->disturbed)
			c->tested[kept++] = c->tested[r];
	}
	c->tested_count = kept;
	return true;
}

ORDER(by_run_time, struct summary *const, COMPARED((*a)->run_ns, (*b)->run_ns)
    COMPARED(strcmp((*a)->file, (*b)->file), 0))

void
find_disturbed(struct comparison *c)
{
	bool *is_b = zalloc(c->run_count, sizeof *is_b);

	c->tested = zalloc(c->run_count, sizeof(struct summary *));
	for (struct summary *run = c->all; run < c->all + c->run_count; run++) {
		for (size_t part = 0; part < PARTS; part++)
			run->undisturbed_ns[part] = zalloc(c->unit_count, sizeof(int64_t));
		c->tested[c->tested_count++] = run;
	}
	/* An order independent of the sides, so that swapped sides give the same permutations. */
	qsort(c->tested, c->tested_count, sizeof(struct summary *), by_run_time);
	clean_all(c);
	for (struct summary *run = c->all; run < c->all + c->run_count; run++)
		run->disturbed = most_disturbed(c) > 0 &&
		    (stands_out(c, held_up, run) || stands_out(c, preempted, run));
	if (leave_out(c))
		clean_all(c);
	for (size_t r = 0; r < c->tested_count; r++)
		is_b[r] = c->tested[r]->side == B;
	c->ways = relabel(is_b, c->tested_count);
	free(is_b);
}
