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

#include "../base/tool/search.h"
#include "order.h"

/* The first knot at or after the event. */
#define BEFORE(knot, sought) ((knot)->event < (sought))
SEARCH(knot_from, struct shift_knot, uint64_t, BEFORE)

int64_t
forward_shift_ns(const struct shift *shift, uint64_t event, int64_t at_ns)
{
	const size_t behind = knot_from(shift->jumps.at, shift->jumps.count, event + 1);
	const struct shift_knot *jump;

	if (behind == 0)
		return 0;
	jump = &shift->jumps.at[behind - 1];
	return larger(jump->shift_ns - (at_ns - jump->at_ns) / SHIFT_RATE, 0);
}

static int64_t
ramp_ns(const struct shift *shift, uint64_t event, int64_t at_ns)
{
	const struct shift_knots *ramps = &shift->ramps;
	size_t k = knot_from(ramps->at, ramps->count, event);
	const struct shift_knot *to, *from;

	if (k == ramps->count)
		return 0;
	to = &ramps->at[k];
	from = k > 0 ? to - 1 : NULL;
	if (from == NULL || !from->limit || to->event == event)
		return to->shift_ns - (to->at_ns - at_ns) / SHIFT_RATE;
	if (from->at_ns == to->at_ns)
		return from->shift_ns;
	/*
	 * A product and a quotient that never decrease with time, so no two events change places.
	 */
	return from->shift_ns + (int64_t)((double)(to->shift_ns - from->shift_ns) *
	    (double)(at_ns - from->at_ns) / (double)(to->at_ns - from->at_ns));
}

int64_t
shift_ns(const struct shift *shift, uint64_t event, int64_t at_ns)
{
	return larger(forward_shift_ns(shift, event, at_ns), ramp_ns(shift, event, at_ns));
}

/* The shift at this event, which comes after all jumps so far, must be at least SHIFT_NS. */
static void
shift_jump(struct shift *shift, uint64_t event, int64_t at_ns, int64_t shift_ns)
{
	struct shift_knots *jumps = &shift->jumps;

	if (jumps->count > 0 && jumps->at[jumps->count - 1].event == event)
		/* the call ends several receives, and this one comes later */
		jumps->count--;
	*APPEND(jumps->at, jumps->count, jumps->capacity) =
	    (struct shift_knot){ event, at_ns, shift_ns, false };
}

/* At this event it must not be more. */
static void
shift_limit(struct shift *shift, uint64_t event, int64_t at_ns, int64_t shift_ns)
{
	const struct shift_knots *jumps = &shift->jumps;
	struct shift_knots *limits = &shift->limits;

	/* Without a jump between, this limit implies earlier limits that are not lower. */
	while (limits->count > 0) {
		const struct shift_knot *last = &limits->at[limits->count - 1];

		if (last->event > event ||
		    last->shift_ns < shift_ns - (at_ns - last->at_ns) / SHIFT_RATE ||
		    knot_from(jumps->at, jumps->count, last->event) !=
		    knot_from(jumps->at, jumps->count, event))
			break;
		limits->count--;
	}
	*APPEND(limits->at, limits->count, limits->capacity) =
	    (struct shift_knot){ event, at_ns, shift_ns, true };
}

ORDER(by_event, struct shift_knot, BY(event) BY(shift_ns))

/*
 * Makes the ramps from the jumps and limits, from the last event to the first: a knot where a jump
 * is above the ramp or a limit below it.
 */
static void
shift_ramps(struct shift *shift)
{
	struct shift_knots *ramps = &shift->ramps;
	size_t jump = shift->jumps.count, limit = shift->limits.count;

	SORT(shift->limits.at, limit, by_event);
	ramps->count = 0;
	while (jump > 0 || limit > 0) {
		bool is_limit = jump == 0 || (limit > 0 &&
		    shift->limits.at[limit - 1].event > shift->jumps.at[jump - 1].event);
		const struct shift_knot *knot = is_limit ? &shift->limits.at[--limit] :
		    &shift->jumps.at[--jump];
		const struct shift_knot *to = ramps->count > 0 ?
		    &ramps->at[ramps->count - 1] : NULL;
		int64_t ramp = to == NULL ? 0 :
		    to->shift_ns - (to->at_ns - knot->at_ns) / SHIFT_RATE;

		if (is_limit ? knot->shift_ns < ramp : knot->shift_ns > ramp)
			*APPEND(ramps->at, ramps->count, ramps->capacity) = *knot;
	}
	for (size_t i = 0; i < ramps->count / 2; i++) {
		struct shift_knot swap = ramps->at[i];

		ramps->at[i] = ramps->at[ramps->count - 1 - i];
		ramps->at[ramps->count - 1 - i] = swap;
	}
}

static void
leave_forward(const struct visitor *visitor, uint32_t location, uint64_t event, int64_t at_ns,
    struct node *node)
{
	struct shift *shift = &visitor->shifts[location];
	int64_t ready_ns = node_ready_ns(node, location);

	if (ready_ns == INT64_MIN)
		return;		/* alone */
	ready_ns += latency_ns(visitor->latencies, location, node);
	if (at_ns + forward_shift_ns(shift, event, at_ns) < ready_ns)
		shift_jump(shift, event, at_ns, ready_ns - at_ns);
}

static void
leave_limit(const struct visitor *visitor, uint32_t location, uint64_t event, int64_t at_ns,
    struct node *node)
{
	node->limit_ns = smaller(node->limit_ns, at_ns -
	    latency_ns(visitor->latencies, location, node) +
	    forward_shift_ns(&visitor->shifts[location], event, at_ns));
}

static void
done_limit(const struct visitor *visitor, const struct node *node, const struct sender *sources)
{
	for (uint32_t s = node->sources; s != NONE; s = sources[s].next) {
		const struct sender *source = &sources[s];
		struct shift *shift = &visitor->shifts[source->location];
		int64_t most_ns = larger(node->limit_ns - source->at_ns,
		    forward_shift_ns(shift, source->event, source->at_ns));

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
		struct correction *c = &input->ranks[input->location_rank[l]].correction;
		const struct shift_knots *jumps = &input->shifts[l].jumps;

		for (size_t i = 0; i < jumps->count; i++)
			c->moved_ns = larger(c->moved_ns, jumps->at[i].shift_ns);
	}
	for (int32_t r = 0; r < input->rank_count; r++) {
		const int64_t begin_ns = input->ranks[r].begin_ns;
		struct correction *c = &input->ranks[r].correction;

		c->reversed = before->reversed[r];
		c->reversed_left = after->reversed[r];
		if ((c->reversed > 0 || c->moved_ns > 0) && told++ < 10)
			note("rank %d: %llu reversed, %llu left; moved by up to %lld ns; offset "
			    "%lld ns, drift %lld ns a second, known to %lld ns%s", (int)r,
			    (unsigned long long)c->reversed, (unsigned long long)c->reversed_left,
			    (long long)c->moved_ns, (long long)(corrected_ns(c, begin_ns) -
			    begin_ns), (long long)(c->drift * 1e9), (long long)c->error_ns,
			    told == 10 ? " (further ranks: see the trace)" : "");
	}
	note("%llu messages and members of collectives reversed, %llu left; the shortest message "
	    "takes %lld ns", (unsigned long long)before->reversed_count,
	    (unsigned long long)after->reversed_count, (long long)before->least_ns);
}

void
correct_order(struct input *input)
{
	struct latencies before, after;
	struct shift *shifts;

	latencies_find(&before, input, true);
	if (before.reversed_count == 0) {
		note("no message is reversed: nothing is moved");
		latencies_free(&before);
		return;
	}
	shifts = zalloc(input->location_count, sizeof *shifts);
	replay(input, &(struct visitor){ &before, shifts, .leave = leave_forward });
	make_ramps(input, shifts);		/* as if there were no limits */
	replay(input, &(struct visitor){ &before, shifts, .leave = leave_limit,
	    .done = done_limit });
	make_ramps(input, shifts);
	/* not before: the replay needs the times before all shifts */
	input->shifts = shifts;
	latencies_find(&after, input, false);
	report(input, &before, &after);
	latencies_free(&before);
	latencies_free(&after);
}
