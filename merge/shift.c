/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "../base/tool/search.h"
#include "order.h"

/* The first knot at or after the event. */
#define BEFORE(knot, sought) ((knot)->event < (sought))
SEARCH(knot_from, struct shift_knot, uint64_t, BEFORE)

static int64_t
falls_to(const struct shift_knot *jump, int64_t at_ns)
{
	int64_t shift_ns = jump->shift_ns - (at_ns - jump->at_ns) / SHIFT_RATE;

	return shift_ns > 0 ? shift_ns : 0;
}

int64_t
forward_shift_ns(const struct shift *shift, uint64_t event, int64_t at_ns)
{
	size_t behind = knot_from(shift->jumps.at, shift->jumps.count, event + 1);

	return behind == 0 ? 0 : falls_to(&shift->jumps.at[behind - 1], at_ns);
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
	int64_t forward_ns = forward_shift_ns(shift, event, at_ns);
	int64_t backward_ns = ramp_ns(shift, event, at_ns);

	return forward_ns > backward_ns ? forward_ns : backward_ns;
}

static void
append(struct shift_knots *knots, struct shift_knot knot)
{
	*APPEND(knots->at, knots->count, knots->capacity) = knot;
}

void
shift_jump(struct shift *shift, uint64_t event, int64_t at_ns, int64_t shift_ns)
{
	struct shift_knots *jumps = &shift->jumps;

	if (jumps->count > 0 && jumps->at[jumps->count - 1].event == event)
		/* the call ends several receives, and this one comes later */
		jumps->count--;
	append(jumps, (struct shift_knot){ event, at_ns, shift_ns, false });
}

void
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
	append(limits, (struct shift_knot){ event, at_ns, shift_ns, true });
}

ORDER(by_event, struct shift_knot, BY(event) BY(shift_ns))

/* From the last event to the first: a knot where a jump is above the ramp or a limit below it. */
void
shift_ramps(struct shift *shift)
{
	struct shift_knots *ramps = &shift->ramps;
	size_t jump = shift->jumps.count, limit = shift->limits.count;

	if (limit > 0)
		qsort(shift->limits.at, limit, sizeof *shift->limits.at, by_event);
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
			append(ramps, *knot);
	}
	for (size_t i = 0; i < ramps->count / 2; i++) {
		struct shift_knot swap = ramps->at[i];

		ramps->at[i] = ramps->at[ramps->count - 1 - i];
		ramps->at[ramps->count - 1 - i] = swap;
	}
}
