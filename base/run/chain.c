/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "../tool/tool.h"
#include "dividing_places.h"

enum { MOST_GAP = 4096 };
static const double LEAST_LEFT = 1e-6;

/* How often a place comes directly after another one: of all calls there. */
struct way {
	uint32_t from, to;
	double share;
};

/* Between places that come in several steps of PLACE. */
static struct way *
find_ways(const struct clocks *clocks, size_t place, size_t *count)
{
	const size_t places = clocks->group->count;
	struct way *ways = NULL;
	size_t capacity = 0;

	for (size_t from = 0; from < places; from++) {
		const size_t first = *count;
		double calls = 0;

		for (size_t to = 0; to < places; to++) {
			const double after = (double)clocks->among[to * places + from].after;
			const size_t fewer = to > place ? to : place;
			const size_t more = to > place ? place : to;

			if (after == 0 || (to != place &&
			    clocks->among[fewer * places + more].gaps.count <= 1))
				continue;
			calls += after;
			*APPEND(ways, *count, capacity) = (struct way){ (uint32_t)from,
			    (uint32_t)to, after };
		}
		for (size_t i = first; i < *count; i++)
			ways[i].share /= calls;
	}
	return ways;
}

/* The shares of gaps from a call at the place to the next one. False: each way leads back to it. */
static bool
follow(const struct clocks *clocks, size_t place, double *shares)
{
	const size_t places = clocks->group->count;
	double *at = zalloc(places, sizeof *at), *then = zalloc(places, sizeof *then), left = 1;
	size_t count = 0;
	struct way *ways = find_ways(clocks, place, &count);

	at[place] = 1;
	for (int gap = 1; gap <= MOST_GAP && left > LEAST_LEFT; gap++) {
		for (size_t i = 0; i < places; i++)
			then[i] = 0;
		for (size_t i = 0; i < count; i++)
			then[ways[i].to] += at[ways[i].from] * ways[i].share;
		shares[gap] = then[place];
		then[place] = left = 0;
		for (size_t i = 0; i < places; i++) {
			at[i] = then[i];
			left += at[i];
		}
	}
	free(ways);
	free(at);
	free(then);
	return left > 0;
}

double
chain_chance(const struct clocks *clocks, size_t place)
{
	const struct gaps *gaps = &clocks->among[place * clocks->group->count + place].gaps;
	double shares[MOST_GAP + 1] = { 0 }, all = 0, mean = 0, logs = 0, varies = 0, spread;

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
