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

/* Sums over gaps from a call at a place to the next one, by how likely they are. */
struct likely {
	double all, gaps, squares, logs, log_squares, products;
};

static void
add_likely(struct likely *sums, double share, double gap)
{
	sums->all += share;
	sums->gaps += share * gap;
	sums->squares += share * gap * gap;
	sums->logs += share * log(gap);
	sums->log_squares += share * log(gap) * log(gap);
	sums->products += share * gap * log(gap);
}

/* False: each way leads back to the place. */
static bool
follow(const struct clocks *clocks, size_t place, struct likely *sums)
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
		add_likely(sums, then[place], gap);
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
	struct likely sums = { 0 };
	double mean, logs, spread, varies;

	if (!follow(clocks, place, &sums))
		return 0;
	mean = sums.gaps / sums.all;
	logs = sums.logs / sums.all;
	spread = log(mean) - logs;
	/* of one gap: g / mean - ln g, to first order what it adds to the spread of many */
	varies = sums.squares / sums.all / mean / mean - 1 + sums.log_squares / sums.all -
	    logs * logs - 2 * (sums.products / sums.all / mean - logs);
	return spread <= 0 || varies <= 0 ? 0 : chi_square_below(2 * (double)gaps->count * spread *
	    gaps_spread(gaps) / varies, 2 * (double)gaps->count * spread * spread / varies);
}
