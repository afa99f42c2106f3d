/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "../tool/tool.h"
#include "dividing_places.h"

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

double
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
