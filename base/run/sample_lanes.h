/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples by location, from when they are read to when nothing asks for them any more. They come before
 * the calls that they were taken before (trace.5, SAMPLES), so a tool that forgets them as it forgets
 * rows keeps no more of them. Memory: 16 bytes a sample that is kept. Memory errors end the tool.
 */
#ifndef SAMPLE_LANES_H
#define SAMPLE_LANES_H

#include "../stream/calls.h"
#include "../stream/samples.h"
#include "definitions.h"
#include "sampled_place.h"

enum { SITE_IN_CALL = UINT32_MAX };	/* of a sample that was taken within a call */

struct sample {
	int64_t at_ns;
	uint32_t site, callers;
};

/* Those kept lie from BEGIN to before END; what was going on is known of those before SEEN. */
struct sample_lane {
	struct sample *at;
	size_t begin, seen, end, capacity;
};

struct sample_lanes {
	struct sample_lane *of;		/* by location */
	size_t count, capacity;
};

/* Made where it is not there yet. */
struct sample_lane *lane_of(struct sample_lanes *lanes, uint32_t location);
void lane_add(struct sample_lane *lane, const struct samples *block);
/* Tells computation from what lies in calls, as far as these go. */
void lane_see(struct sample_lane *lane, const struct calls *calls);
/* The first one that is not before the instant. */
size_t lane_from(const struct sample_lane *lane, int64_t ns);
/* Forgets those before TO. */
void lane_forget(struct sample_lane *lane, size_t to);

#endif
