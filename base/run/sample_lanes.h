/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples by location and thread, kept while they are needed. In a stream they come before the
 * calls before which they were taken (trace.5, SAMPLES), so a tool that drops them together with
 * rows keeps few of them. Memory: 16 bytes a kept sample, 40 more if threads
 * have counters. Memory errors end the tool.
 */
#ifndef SAMPLE_LANES_H
#define SAMPLE_LANES_H

#include "../stream/calls.h"
#include "../stream/samples.h"
#include "definitions.h"
#include "sampled_place.h"

enum { SITE_IN_CALL = UINT32_MAX };	/* of a sample taken within a call */

struct thread_sample {
	int64_t at_ns;
	uint32_t site, callers;
};

/* Kept samples are BEGIN to END - 1; for samples before SEEN the activity is known. */
struct sample_lane {
	uint32_t worker;		/* 0: the location's own thread */
	struct thread_sample *at;
	struct sample_counts {
		uint64_t of[COUNTERS];	/* since the sample before */
	} *counts;			/* of the same sample; NULL: no counters so far */
	size_t begin, seen, end, capacity, counts_capacity;
};

struct sample_lanes {
	struct sampled_location {
		struct sample_lane *of;
		size_t count, capacity;
	} *at;				/* by location */
	size_t count, capacity;
};

/* The lane of a thread: made if needed, or NULL if there is none. */
struct sample_lane *lane_of(struct sample_lanes *lanes, uint32_t location, uint32_t worker);
struct sample_lane *lane_find(const struct sample_lanes *lanes, uint32_t location,
    uint32_t worker);
void lane_add(struct sample_lane *lane, const struct samples *block);
/* Marks samples within calls, up to the last of these calls. */
void lane_see(struct sample_lane *lane, const struct calls *calls);
/* The first sample not before the instant. */
size_t lane_from(const struct sample_lane *lane, int64_t ns);
/* Drops samples before TO. */
void lane_forget(struct sample_lane *lane, size_t to);
/* Drops samples of the location and of its workers before the instant. */
void samples_forget(struct sample_lanes *lanes, uint32_t location, int64_t before_ns);

#endif
