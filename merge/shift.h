/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the controlled logical clock adds to the times of a location, beyond the correction of its
 * clock: the larger of two functions of the location's events. Enter and leave of the call that
 * begins in row seq are events 2 seq and 2 seq + 1; so events at one instant still have an order.
 *
 * forward	jumps where a receive has to end later than it seems, then falls at SHIFT_RATE
 * ramp		rises at SHIFT_RATE towards a jump, more steeply behind a limit: an event that must
 *		not move further, for then another rank's receive would be too early
 */
#ifndef SHIFT_H
#define SHIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHIFT_RATE = 100 };	/* ns in which a shift rises or falls by one: 1 % */

struct shift_knot {
	uint64_t event;
	int64_t at_ns;		/* before the shift, since the origin */
	int64_t shift_ns;
	bool limit;
};

struct shift_knots {
	struct shift_knot *at;	/* in order of events */
	size_t count, capacity;
};

struct shift {		/* of a location */
	struct shift_knots jumps, ramps, limits;
};

/* Both functions, and the first alone. Times since the origin. */
int64_t shift_ns(const struct shift *shift, uint64_t event, int64_t at_ns);
int64_t forward_shift_ns(const struct shift *shift, uint64_t event, int64_t at_ns);

/* The shift at this event, which comes after all jumps so far, is to be at least SHIFT_NS. */
void shift_jump(struct shift *shift, uint64_t event, int64_t at_ns, int64_t shift_ns);
/* At this event it must not be more. */
void shift_limit(struct shift *shift, uint64_t event, int64_t at_ns, int64_t shift_ns);
/* Makes the ramps from the jumps and limits. */
void shift_ramps(struct shift *shift);

#endif
