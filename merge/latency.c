/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between two clocks, a message in one direction seems to take its latency plus the error of the
 * clocks; in the other direction, its latency less that error. So
 *
 * latency	half the sum of the shortest messages in both directions is at most the latency,
 *		with any error; if the error changed during the run the sum only gets smaller.
 * drift	an offset measured once, at t0, leaves an error r (t - t0). No message takes less
 *		than no time, so each bounds r from above or, in the other direction, from below:
 *		Duda's convex hulls (Estimating global time in distributed systems, 1987) with one
 *		point of the line known, which leaves two numbers of each hull. r is the middle of
 *		the bounds: equal parts of the latencies in both directions cancel.
 */
#include <math.h>
#include <stdlib.h>

#include "../base/tool/hash_table.h"
#include "order.h"

#define DRIFT_LIMIT 1e-2	/* no clock drifts that much */

struct pair {
	int32_t low, high;		/* clocks, by the rank that names them; low -1: free slot */
	int64_t least_ns[2];		/* from low to high, and back */
	double rate_low, rate_high;	/* bounds of the rate at which high gains on low */
};

HASH_TABLE_OF(pairs, struct pair, low, high, low, -1)

/* Of two clocks. */
static struct pair
pair_of(int32_t a, int32_t b)
{
	return (struct pair){ a < b ? a : b, a < b ? b : a, { INT64_MAX, INT64_MAX },
	    -INFINITY, INFINITY };
}

/* INT64_MIN: unknown. */
static int64_t
pair_latency_ns(const struct pair *pair)
{
	int64_t latency_ns = pair->least_ns[0];

	if (pair->low != pair->high) {
		if (pair->least_ns[0] == INT64_MAX || pair->least_ns[1] == INT64_MAX)
			return INT64_MIN;
		latency_ns = (pair->least_ns[0] + pair->least_ns[1]) / 2;
	}
	return larger(latency_ns, 0);
}

int64_t
latency_ns(const struct latencies *latencies, uint32_t location, const struct node *node)
{
	const struct input *input = latencies->input;
	const int32_t *rank = input->location_rank;
	const struct pair *found = NULL;
	int64_t latency_ns = INT64_MIN;

	/* A collective does not show which members heard from which. */
	if (node->message) {
		const struct pair key = pair_of(input->ranks[rank[node->latest_location]].clock,
		    input->ranks[rank[location]].clock);

		found = pairs_find(latencies->pairs, &key);
	}
	if (found != NULL)
		latency_ns = pair_latency_ns(found);
	return latency_ns == INT64_MIN ? latencies->least_ns : latency_ns;
}

/* ---- one pass ---- */

/* Whether the offset of this clock is known, but not its drift. */
static bool
clock_lacks_drift(const struct input *input, int32_t clock)
{
	return input->ranks[clock].correction.count == 1;
}

/* The common clock, and clocks measured at both ends. */
static bool
has_drift(const struct input *input, int32_t clock)
{
	return clock == input->ranks[0].clock || input->ranks[clock].correction.count > 1;
}

/* The time from the measurement of the offset to the event; 0: drift does not matter. */
static int64_t
since_known_ns(const struct input *input, const struct pair *pair, int64_t at_ns)
{
	int64_t since_ns = INT64_MAX;

	for (int i = 0; i < 2; i++) {
		int32_t clock = i == 0 ? pair->low : pair->high;
		const struct knot *knots = input->ranks[clock].correction.knots;

		if (clock_lacks_drift(input, clock))
			since_ns = smaller(since_ns, at_ns + input->origin_ns - knots[0].at_ns -
			    knots[0].offset_ns);
		else if (!has_drift(input, clock))
			return 0;
	}
	return since_ns == INT64_MAX || since_ns < 0 ? 0 : since_ns;
}

static void
see_leave(const struct visitor *visitor, uint32_t location, uint64_t event, int64_t at_ns,
    struct node *node)
{
	struct latencies *latencies = visitor->latencies;
	const struct input *input = latencies->input;
	const struct rank *to = &input->ranks[input->location_rank[location]], *from;
	int64_t took_ns, since_ns;
	struct pair new, *pair;
	double rate;
	bool back;

	(void)event;
	if (at_ns < node_ready_ns(node, location)) {
		latencies->reversed[to - input->ranks]++;
		latencies->reversed_count++;
	}
	if (!node->message)
		return;
	from = &input->ranks[input->location_rank[node->latest_location]];
	back = from->clock > to->clock;
	took_ns = at_ns - node->latest_ns;
	new = pair_of(from->clock, to->clock);
	pair = pairs_add(&latencies->pairs, &new);
	pair->least_ns[back] = smaller(pair->least_ns[back], took_ns);
	if (pair->low == pair->high || (since_ns = since_known_ns(input, pair, at_ns)) == 0)
		return;
	rate = (double)(took_ns + from->correction.error_ns + to->correction.error_ns) /
	    (double)since_ns;
	if (!back && rate < pair->rate_high)
		pair->rate_high = rate;
	if (back && -rate > pair->rate_low)
		pair->rate_low = -rate;
}

void
latencies_find(struct latencies *latencies, struct input *input, bool tell)
{
	*latencies = (struct latencies){ .input = input, .least_ns = INT64_MAX };
	latencies->reversed = zalloc((size_t)input->rank_count, sizeof *latencies->reversed);
	latencies->reversed_count += replay(input, &(struct visitor){ latencies, .tell = tell,
	    .leave = see_leave });
	for (const struct pair *p = NULL; (p = pairs_next(latencies->pairs, p)) != NULL; ) {
		const int64_t latency_ns = pair_latency_ns(p);

		if (latency_ns != INT64_MIN && latency_ns < latencies->least_ns)
			latencies->least_ns = latency_ns;
	}
	if (latencies->least_ns == INT64_MAX)
		latencies->least_ns = 0;
}

void
latencies_free(struct latencies *latencies)
{
	free(latencies->pairs);
	free(latencies->reversed);
}

/* ---- worlds ---- */

struct late
look_at_guessed(struct input *input, const struct world *world)
{
	const int32_t w = (int32_t)(world - input->worlds);
	int64_t least_ns[2] = { INT64_MAX, INT64_MAX };		/* to the other clock, and back */
	struct latencies latencies;

	latencies_find(&latencies, input, false);
	for (const struct pair *p = NULL; (p = pairs_next(latencies.pairs, p)) != NULL; ) {
		const int32_t low = input->ranks[p->low].world, high = input->ranks[p->high].world;

		if (low > w || high > w || (low == w) == (high == w))
			continue;
		for (int back = 0; back < 2; back++)
			least_ns[back] = smaller(least_ns[back], p->least_ns[back ^ (low == w)]);
	}
	latencies_free(&latencies);
	if (least_ns[0] == INT64_MAX || least_ns[1] == INT64_MAX)
		return (struct late){ 0, -1 };
	return (struct late){ (least_ns[0] - least_ns[1]) / 2,
	    llabs(least_ns[0] + least_ns[1]) / 2 + 1 };
}

/* ---- drift ---- */

/* Narrow bounds first. */
#define WIDTH(pair) ((pair)->rate_high - (pair)->rate_low)
ORDER(by_width, struct pair, COMPARED(WIDTH(a), WIDTH(b)) BY(low) BY(high))

/* A clock's drift against the common clock, and its error bound. */
struct rate {
	double rate, error;
	bool known;
};

/*
 * Goes from clocks with known drift to their neighbours, best pairs first, until nothing changes.
 */
static void
spread(const struct pair *pairs, size_t count, struct rate *rates)
{
	for (bool again = true; again; ) {
		again = false;
		for (const struct pair *p = pairs; p < pairs + count; p++) {
			bool up = rates[p->low].known;
			struct rate *from = &rates[up ? p->low : p->high],
			    *to = &rates[up ? p->high : p->low];
			double middle = (p->rate_low + p->rate_high) / 2;

			if (rates[p->low].known == rates[p->high].known)
				continue;
			/* No line fits: the clock stepped, or this is not drift. */
			if (p->rate_low > p->rate_high || fabs(middle) > DRIFT_LIMIT)
				continue;
			/* Bounds that include zero drift show none. */
			if (p->rate_low <= 0 && p->rate_high >= 0)
				middle = 0;
			to->rate = from->rate + (up ? middle : -middle);
			to->error = from->error + fmax(p->rate_high - middle, middle - p->rate_low);
			to->known = again = true;
		}
	}
}

static void
apply_rates(struct input *input, const struct rate *rates)
{
	int32_t corrected = 0, first = -1;

	for (int32_t r = 0; r < input->rank_count; r++) {
		struct rank *rank = &input->ranks[r];
		const struct rate *rate = &rates[rank->clock];
		double most;

		if (rank->rows == 0 || !clock_lacks_drift(input, rank->clock) || !rate->known)
			continue;
		rank->correction.drift = -rate->rate;
		/* The square: some bounds use the time of one clock, some that of the other. */
		most = fabs(rate->rate) + rate->error;
		rank->correction.error_ns += (int64_t)ceil((rate->error + most * most) *
		    (double)(rank->end_ns - rank->correction.knots[0].at_ns));
		if (rate->rate != 0 && corrected++ == 0)
			first = r;
	}
	if (corrected > 0)
		note("rank %d: drift of %lld ns a second, found from messages; %d ranks corrected "
		    "in all", (int)first,
		    (long long)llround(rates[input->ranks[first].clock].rate * 1e9),
		    (int)corrected);
}

bool
lacks_drift(const struct input *input)
{
	for (int32_t r = 0; r < input->rank_count; r++)
		if (input->ranks[r].rows > 0 && clock_lacks_drift(input, input->ranks[r].clock))
			return true;
	return false;
}

void
correct_drift(struct input *input)
{
	struct latencies latencies;
	struct pair *pairs;
	struct rate *rates;
	size_t count;

	if (!lacks_drift(input))
		return;
	latencies_find(&latencies, input, false);
	rates = zalloc((size_t)input->rank_count, sizeof *rates);
	for (int32_t r = 0; r < input->rank_count; r++)
		rates[r].known = has_drift(input, r);
	pairs = pairs_sorted(latencies.pairs, by_width);
	count = pairs_count(latencies.pairs);
	while (count > 0 && !isfinite(WIDTH(&pairs[count - 1])))
		count--;
	spread(pairs, count, rates);
	apply_rates(input, rates);
	free(pairs);
	free(rates);
	latencies_free(&latencies);
	set_origin(input);
}
