/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The controlled logical clock: R. Rabenseifner, The controlled logical clock - a global time for
 * trace based software monitoring of parallel applications in workstation clusters, 1997; with the
 * collectives and the backward amortisation of D. Becker, R. Rabenseifner, F. Wolf, J. Linford,
 * Scalable timestamp synchronization for event traces of message-passing applications, 2009.
 *
 * A receive ends no earlier than the send began plus the least latency. One that does jumps ahead;
 * later events of its location follow at 1 - 1 / SHIFT_RATE of their speed until the jump is used
 * up, and earlier ones lead up to it at the same rate, but never so far that another rank's receive
 * would be too early.
 */
#include <stdlib.h>

#include "order.h"

struct clc {
	const struct latencies *latencies;	/* of the previous trace */
	struct shift *shifts;		/* by location */
};

static int64_t
latency_ns(const struct latencies *latencies, uint32_t location, const struct node *node,
    const struct sender *sources)
{
	const int32_t *rank = latencies->input->location_rank;

	/* A collective does not show which members heard from which. */
	return !node->message ? latencies->least_ns : latency_between(latencies,
	    rank[sources[node->sources].location], rank[location]);
}

static int64_t
enter_forward(void *context, const struct sender *source)
{
	const struct clc *clc = context;

	return source->at_ns + forward_shift_ns(&clc->shifts[source->location], source->event,
	    source->at_ns);
}

static void
leave_forward(void *context, uint32_t location, uint64_t event, int64_t at_ns, struct node *node,
    const struct sender *sources)
{
	const struct clc *clc = context;
	struct shift *shift = &clc->shifts[location];
	int64_t ready_ns = node_ready_ns(node, location);

	if (ready_ns == INT64_MIN)
		return;		/* alone */
	ready_ns += latency_ns(clc->latencies, location, node, sources);
	if (at_ns + forward_shift_ns(shift, event, at_ns) < ready_ns)
		shift_jump(shift, event, at_ns, ready_ns - at_ns);
}

static void
leave_limit(void *context, uint32_t location, uint64_t event, int64_t at_ns, struct node *node,
    const struct sender *sources)
{
	const struct clc *clc = context;
	int64_t limit_ns = at_ns - latency_ns(clc->latencies, location, node, sources) +
	    forward_shift_ns(&clc->shifts[location], event, at_ns);

	if (limit_ns < node->limit_ns)
		node->limit_ns = limit_ns;
}

static void
done_limit(void *context, const struct node *node, const struct sender *sources)
{
	const struct clc *clc = context;

	for (uint32_t s = node->sources; s != NONE; s = sources[s].next) {
		const struct sender *source = &sources[s];
		struct shift *shift = &clc->shifts[source->location];
		int64_t forward_ns = forward_shift_ns(shift, source->event, source->at_ns);
		int64_t most_ns = node->limit_ns - source->at_ns;

		if (most_ns < forward_ns)
			most_ns = forward_ns;
		if (shift_ns(shift, source->event, source->at_ns) > most_ns)
			shift_limit(shift, source->event, source->at_ns, most_ns);
	}
}

static void
make_ramps(const struct input *input, struct shift *shifts)
{
	for (uint32_t l = 0; l < input->location_count; l++)
		shift_ramps(&shifts[l]);
}

static void
report(struct input *input, const struct latencies *before, const struct latencies *after)
{
	int told = 0;

	for (uint32_t l = 0; l < input->location_count; l++) {
		struct rank *rank = &input->ranks[input->location_rank[l]];
		const struct shift_knots *jumps = &input->shifts[l].jumps;

		for (size_t i = 0; i < jumps->count; i++)
			if (jumps->at[i].shift_ns > rank->moved_ns)
				rank->moved_ns = jumps->at[i].shift_ns;
	}
	for (int32_t r = 0; r < input->rank_count; r++) {
		struct rank *rank = &input->ranks[r];

		rank->reversed = before->reversed[r];
		rank->reversed_left = after->reversed[r];
		if ((rank->reversed > 0 || rank->moved_ns > 0) && told++ < 10)
			note("rank %d: %llu reversed, %llu left; moved by up to %lld ns; offset "
			    "%lld ns, drift %lld ns a second, known to %lld ns%s", (int)r,
			    (unsigned long long)rank->reversed,
			    (unsigned long long)rank->reversed_left, (long long)rank->moved_ns,
			    (long long)(corrected_ns(&rank->correction, rank->begin_ns) -
			    rank->begin_ns), (long long)(rank->correction.drift * 1e9),
			    (long long)rank->correction.error_ns, told == 10 ?
			    " (further ranks: see the trace)" : "");
	}
	note("%llu messages and members of collectives reversed, %llu left; the shortest message "
	    "takes %lld ns", (unsigned long long)before->reversed_count,
	    (unsigned long long)after->reversed_count, (long long)before->least_ns);
}

void
correct_order(struct input *input)
{
	struct latencies before, after;
	struct clc clc = { &before, NULL };
	const struct visitor forward = { &clc, false, enter_forward, leave_forward, NULL };
	const struct visitor limits = { &clc, false, enter_forward, leave_limit, done_limit };

	latencies_find(&before, input, true);
	if (before.reversed_count == 0) {
		note("no message is reversed: nothing is moved");
		latencies_free(&before);
		return;
	}
	clc.shifts = zalloc(input->location_count, sizeof *clc.shifts);
	replay(input, &forward);
	make_ramps(input, clc.shifts);		/* as if there were no limits */
	replay(input, &limits);
	make_ramps(input, clc.shifts);
	/* not before: the replay needs the times before all shifts */
	input->shifts = clc.shifts;
	latencies_find(&after, input, false);
	report(input, &before, &after);
	latencies_free(&before);
	latencies_free(&after);
}
