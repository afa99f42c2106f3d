/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps.h"

#include <math.h>
#include <stdlib.h>

#include "../tool/tool.h"

void
gaps_add(struct gaps *gaps, uint64_t gap)
{
	if (gap == 0)
		return;
	gaps->least = gaps->count == 0 || gap < gaps->least ? gap : gaps->least;
	gaps->most = gap > gaps->most ? gap : gaps->most;
	gaps->count++;
	gaps->total += gap;
	gaps->logs += log((double)gap);
}

/* The mean of ln m - ln g for exponential gaps g of mean m. */
static const double EULER = 0.5772156649015329;

/* The same for geometric gaps. */
static double
geometric_spread(double mean)
{
	const double p = 1 / mean;
	double sum = 0, left = 1;

	if (mean > 200)
		return EULER;
	for (int gap = 1; left > 1e-12; gap++, left *= 1 - p)
		sum += left * p * log(gap);
	return log(mean) - sum;
}

/* The lower tail of chi-square (Wilson and Hilferty, PNAS 17 (1931)). */
static double
chi_square_below(double x, double freedom)
{
	const double scale = 2 / (9 * freedom);

	return 0.5 * erfc((1 - scale - cbrt(x / freedom)) / sqrt(2 * scale));
}

/* How unequal they are: the logarithm of their mean less the mean of their logarithms. */
static double
gaps_spread(const struct gaps *gaps)
{
	const double n = (double)gaps->count;

	return gaps->least == gaps->most ? 0 : log((double)gaps->total / n) - gaps->logs / n;
}

double
gaps_chance(const struct gaps *gaps)
{
	const double n = (double)gaps->count, mean = (double)gaps->total / n;

	if (gaps->count < 2)
		return 1;
	if (gaps->least == gaps->most)
		return 0;
	return chi_square_below(2 * n * gaps_spread(gaps) / (1 + (n + 1) / (6 * n)) * EULER /
	    geometric_spread(mean), n - 1);
}

/* ---- a chain of calls, each of which depends on the one before ----------------------------- */

enum { MOST_GAP = 4096 };
static const double LEAST_LEFT = 1e-6;

/* How often a place comes directly after another one; the places in order. */
static void
find_ways(struct clocks *clocks)
{
	const size_t places = clocks->group->count;
	size_t capacity = 0;

	for (size_t from = 0; from < places; from++)
		for (size_t to = 0; to < places; to++) {
			const uint64_t after = clocks->among[to * places + from].after;

			if (after > 0)
				*APPEND(clocks->ways, clocks->way_count, capacity) =
				    (struct way){ (uint32_t)from, (uint32_t)to, (double)after, 0 };
		}
}

/* Of all ways from a place, to places that come in several steps of PLACE. */
static void
share_ways(struct clocks *clocks, size_t place)
{
	const size_t places = clocks->group->count;
	double calls = 0;

	for (size_t first = 0, end; first < clocks->way_count; first = end, calls = 0) {
		for (end = first; end < clocks->way_count &&
		    clocks->ways[end].from == clocks->ways[first].from; end++) {
			struct way *way = &clocks->ways[end];
			const size_t fewer = way->to > place ? way->to : place;
			const size_t more = way->to > place ? place : way->to;

			way->share = way->to == place ||
			    clocks->among[fewer * places + more].gaps.count > 1 ? way->calls : 0;
			calls += way->share;
		}
		for (size_t i = first; i < end; i++)
			clocks->ways[i].share /= calls > 0 ? calls : 1;
	}
}

/* The shares of gaps from a call at the place to the next one. False: each way leads back to it. */
static bool
follow(struct clocks *clocks, size_t place, double *shares)
{
	const size_t places = clocks->group->count;
	double *at = zalloc(places, sizeof *at), *then = zalloc(places, sizeof *then), left = 1;

	share_ways(clocks, place);
	at[place] = 1;
	for (int gap = 1; gap <= MOST_GAP && left > LEAST_LEFT; gap++) {
		for (size_t i = 0; i < places; i++)
			then[i] = 0;
		for (const struct way *w = clocks->ways; w < clocks->ways + clocks->way_count; w++)
			then[w->to] += at[w->from] * w->share;
		shares[gap] = then[place];
		then[place] = left = 0;
		for (size_t i = 0; i < places; i++) {
			at[i] = then[i];
			left += at[i];
		}
	}
	free(at);
	free(then);
	return left > 0;
}

/*
 * The probability that the calls at a place are so regular if each call of the group depends only
 * on the one before. 0 if each way leads back to the place: it is in no inner loop.
 */
static double
chain_chance(struct clocks *clocks, size_t place)
{
	const struct gaps *gaps = &clocks->among[place * clocks->group->count + place].gaps;
	double shares[MOST_GAP + 1] = { 0 }, all = 0, mean = 0, logs = 0, varies = 0, spread;

	if (clocks->ways == NULL)
		find_ways(clocks);
	if (!follow(clocks, place, shares))
		return 0;
	for (int gap = 1; gap <= MOST_GAP; gap++) {
		all += shares[gap];
		mean += shares[gap] * gap;
		logs += shares[gap] * log(gap);
	}
	mean /= all;
	logs /= all;
	spread = log(mean) - logs;
	/* of what a gap adds to the spread of many, to first order */
	for (int gap = 1; gap <= MOST_GAP; gap++)
		varies += shares[gap] / all * pow(gap / mean - 1 - log(gap) + logs, 2);
	return all > 0 && spread > 0 && varies > 0 ? chi_square_below(2 * (double)gaps->count *
	    spread * gaps_spread(gaps) / varies, 2 * (double)gaps->count * spread * spread /
	    varies) : 0;
}

/* ---- judgement ---- */

/* Shares of steps that have a place; the others may have another one instead. */
static const double ALMOST_ALL = 0.88, MOST = 0.75;
enum { LEAST_GAPS = 4, LEAST_INSTEAD = 2 };

/* Calls at a place are clearly at random if there are so many, and chance explains them. */
enum { CLEAR_CALLS = 30 };
static const double CLEAR_CHANCE = 0.05;
/* The same for a place that would divide the run into steps of another, regular one. */
static const double PASSING_CHANCE = 0.2;
/* A place that has fewer of all calls, with those called as often, is no loop but output. */
enum { RARE = 64 };
/* If there are few steps, such a share is no evidence of steps either. */
enum { FEW_STEPS = 16, RARE_IN_FEW = 16 };

/* The share of the steps that place A divides in which B comes. */
static double
share_in(const struct clocks *clocks, size_t a, size_t b)
{
	const struct repeated *places = clocks->group->places;

	return b < a ? (double)clocks->among[a * clocks->group->count + b].gaps.count /
	    (double)(places[a].count - 1) : (double)places[b].count / (double)places[a].count;
}

/*
 * May a place's calls be chosen among those of another one? Not if there are too few, or if they
 * are much more regular among all calls.
 */
static bool
may_follow(const struct repeated *r, const struct among *among)
{
	return among->gaps.count >= LEAST_GAPS &&
	    gaps_spread(&r->gaps) >= gaps_spread(&among->gaps) / 4;
}

void
judge_group(struct clocks *clocks)
{
	struct group *g = clocks->group;

	for (size_t a = 0; a < g->count && clocks->among != NULL; a++) {
		struct repeated *r = &g->places[a];

		for (size_t b = 0; b < a; b++) {
			const struct among *among = &clocks->among[a * g->count + b];
			const double chance = gaps_chance(&among->gaps);

			if (!may_follow(r, among))
				continue;
			if (g->places[b].regular)
				r->chance = fmax(r->chance, chance);
			else
				r->doubtful |= chance >= MOST_CHANCE;
		}
		r->regular = r->count >= LEAST_STEPS && r->chance < MOST_CHANCE;
		for (size_t b = 0; b < g->count && r->regular; b++)
			if (b != a && share_in(clocks, a, b) >= MOST &&
			    share_in(clocks, a, b) < 1)
				*APPEND(clocks->instead, clocks->instead_count,
				    clocks->instead_capacity) = (struct instead){ (uint32_t)a,
				    (uint32_t)b, 0, zalloc(g->count, sizeof(uint64_t)) };
	}
}

/* Do bursts differ in length? Another place may have cut one in two. */
static bool
is_uneven(const struct repeated *r)
{
	return r->burst > 0 && r->runs.least != r->runs.most;
}

/*
 * A place that comes instead of another one comes in half of the steps without that, or more,
 * if it has not cut bursts.
 */
static void
judge_instead(struct clocks *clocks, const struct instead *in)
{
	struct repeated *places = clocks->group->places;
	const bool clear = share_in(clocks, in->divides, in->main) >= ALMOST_ALL &&
	    !is_uneven(&places[in->divides]);

	for (size_t b = 0; b < clocks->group->count; b++) {
		if (in->others[b] < LEAST_INSTEAD || 2 * in->others[b] < in->steps ||
		    in->others[b] + 1 < places[b].count)
			continue;
		places[in->divides].varies |= clear;
		places[in->main].alternates |= clear;
		places[b].alternates |= clear;
		places[in->divides].may_vary |= !clear;
		places[in->main].mixed |= !clear;
		places[b].mixed |= !clear;
	}
	free(in->others);
}

/* Have the place and those called as often less than that share of all calls? */
static bool
is_rare(const struct group *g, const struct repeated *r, uint64_t share)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < g->count; i++)
		if (g->places[i].count == r->count)
			calls += g->places[i].calls * g->places[i].unit;
	return calls * share <= g->last - g->first + 1;
}

/* Nine of ten gaps are equal, or all but one: the first one may begin before the loop. */
static bool
mostly_usual(const struct among *among)
{
	return 10 * among->votes >= 8 * among->gaps.count || among->votes + 2 >= among->gaps.count;
}

/*
 * Place A comes now and then in the steps of another one, if it comes by chance; or instead of a
 * place that almost all steps have; or always after as many steps, where it is rare, or where other
 * places come so, too. Else the steps of the other one may be a loop within the steps of A.
 */
static bool
is_passing(const struct clocks *clocks, size_t a)
{
	const struct group *g = clocks->group;
	const struct repeated *r = &g->places[a];

	for (size_t b = 0; b < a; b++) {
		const struct repeated *other = &g->places[b];
		const struct among *among = &clocks->among[a * g->count + b];
		const bool often = other->count >= 2 * r->count;
		const bool instead = r->alternates && other->varies && other->count > r->count;

		if ((!often && !instead) || place_divides(g, other, 0) < YES)
			continue;
		if (instead || r->chance > PASSING_CHANCE || (mostly_usual(among) &&
		    (other->varies || is_rare(g, r, RARE))))
			return true;
	}
	return false;
}

/* Another place divides the group into somewhat more steps, or perhaps comes instead of it. */
static bool
is_contested(const struct group *g, const struct repeated *r)
{
	for (size_t b = 0; b < g->count; b++) {
		const struct repeated *other = &g->places[b];

		if (20 * other->count > 21 * r->count && ((r->mixed && other->may_vary) ||
		    (other->count < 2 * r->count && !is_uneven(other) &&
		    place_divides(g, other, 0) == YES)))
			return true;
	}
	return false;
}

enum answer
place_divides(const struct group *g, const struct repeated *r, uint64_t steps)
{
	const uint64_t tenth = (g->last - g->first) / 10;
	const uint64_t most = tenth > 2 * r->gaps.most ? tenth : 2 * r->gaps.most;

	if (r->first - g->first > most || g->last - r->last > most || r->count < LEAST_STEPS)
		return NO;
	if (steps > 0)
		return YES;
	if (r->passing)
		return NO;
	if (r->chance < MOST_CHANCE)
		return r->doubtful ? UNDECIDED : YES;
	return r->count >= CLEAR_CALLS && gaps_chance(&r->gaps) > CLEAR_CHANCE ? NO : UNDECIDED;
}

bool
are_enough(const struct group *g, const struct repeated *r, uint64_t steps)
{
	return steps >= FEW_STEPS || !is_rare(g, r, RARE_IN_FEW);
}

void
end_judgement(struct clocks *clocks)
{
	struct group *g = clocks->group;
	enum { PASSING = 1, CONTESTED };

	if (clocks->among == NULL)
		return;
	for (size_t i = 0; i < clocks->instead_count; i++)
		judge_instead(clocks, &clocks->instead[i]);
	for (size_t a = 0; a < g->count; a++)
		g->places[a].doubtful |= g->places[a].regular &&
		    chain_chance(clocks, a) >= MOST_CHANCE;
	for (size_t a = 0; a < g->count; a++)
		clocks->at[a] = is_passing(clocks, a) ? PASSING :
		    is_contested(g, &g->places[a]) ? CONTESTED : 0;
	for (size_t a = 0; a < g->count; a++) {
		g->places[a].passing = clocks->at[a] == PASSING;
		g->places[a].doubtful |= clocks->at[a] == CONTESTED;
	}
	free(clocks->instead);
	free(clocks->calls);
	free(clocks->at);
	free(clocks->among);
	free(clocks->ways);
}
