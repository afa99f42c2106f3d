/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks: what was measured of them, and how a rank's clock becomes the common one. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sync { SYNC_NONE, SYNC_OFFSET, SYNC_LINEAR, SYNC_CLC };

/* A measured offset to another clock. */
struct sample {
	int64_t at_ns, offset_ns, error_ns;
	int32_t peer;
};

/* What is added to a clock at an instant of its own. */
struct knot {
	int64_t at_ns, offset_ns;
};

/* Linear from knot to knot, and with the drift before the first and behind the last. */
struct correction {
	struct knot *knots;	/* in order of time; ranks that share a clock share them */
	size_t count;		/* 0: the clock is taken as it is */
	double drift;		/* ns per ns */
	int64_t error_ns;	/* bound between the first and the last sample, where a clock is linear */
	double error_rate;	/* as much more for each ns before and behind these */
	bool known;
};

int64_t corrected_ns(const struct correction *correction, int64_t time_ns);
/* Bound of its error from BEGIN_NS to END_NS, of the clock that is corrected. */
int64_t correction_error_ns(const struct correction *correction, int64_t begin_ns, int64_t end_ns);
/* The same for COUNT times that never decrease. */
void correct_times(const struct correction *correction, int64_t *times_ns, size_t count);

#endif
