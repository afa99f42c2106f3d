/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample_lanes.h"

#include <string.h>

#include "../tool/search.h"
#include "../tool/tool.h"

struct sample_lane *
lane_find(const struct sample_lanes *lanes, uint32_t location, uint32_t worker)
{
	const struct sampled_location *l = location < lanes->count ? &lanes->at[location] : NULL;

	for (size_t i = 0; l != NULL && i < l->count; i++)
		if (l->of[i].worker == worker)
			return &l->of[i];
	return NULL;
}

struct sample_lane *
lane_of(struct sample_lanes *lanes, uint32_t location, uint32_t worker)
{
	struct sample_lane *lane = lane_find(lanes, location, worker);
	struct sampled_location *l;

	if (lane != NULL)
		return lane;
	while (lanes->count <= location)
		APPEND(lanes->at, lanes->count, lanes->capacity);
	l = &lanes->at[location];
	lane = APPEND(l->of, l->count, l->capacity);
	lane->worker = worker;
	return lane;
}

/* Samples of blocks without counters have zeros. */
static void
add_counts(struct sample_lane *lane, const struct samples *block)
{
	(void)AT(lane->counts, lane->counts_capacity, lane->end + block->count);
	for (size_t i = 0; i < block->count; i++)
		for (int c = 0; c < COUNTERS; c++)
			lane->counts[lane->end + i].of[c] =
			    block->counts ? block->counted[c][i] : 0;
}

void
lane_add(struct sample_lane *lane, const struct samples *block)
{
	if (lane->begin > lane->end / 2 && lane->end + block->count > lane->capacity) {
		memmove(lane->at, lane->at + lane->begin,
		    (lane->end - lane->begin) * sizeof *lane->at);
		if (lane->counts != NULL)
			memmove(lane->counts, lane->counts + lane->begin,
			    (lane->end - lane->begin) * sizeof *lane->counts);
		lane->seen -= lane->begin;
		lane->end -= lane->begin;
		lane->begin = 0;
	}
	GROW(lane->at, lane->capacity, lane->end + block->count);
	if (block->counts || lane->counts != NULL)
		add_counts(lane, block);
	for (size_t i = 0; i < block->count; i++)
		lane->at[lane->end++] = (struct thread_sample){ block->time_ns[i], block->site[i],
		    block->callers[i] };
}

void
lane_see(struct sample_lane *lane, const struct calls *calls)
{
	for (size_t i = 0; i < calls->count && lane->seen < lane->end; i++) {
		while (lane->seen < lane->end && lane->at[lane->seen].at_ns < calls->enter_ns[i])
			lane->seen++;
		while (lane->seen < lane->end && lane->at[lane->seen].at_ns < calls->leave_ns[i])
			lane->at[lane->seen++].site = SITE_IN_CALL;
	}
}

#define BEFORE(sample, ns) ((sample)->at_ns < (ns))
SEARCH(sample_from, struct thread_sample, int64_t, BEFORE)
#undef BEFORE

size_t
lane_from(const struct sample_lane *lane, int64_t ns)
{
	return lane->begin + sample_from(lane->at + lane->begin, lane->end - lane->begin, ns);
}

void
lane_forget(struct sample_lane *lane, size_t to)
{
	if (to <= lane->begin)
		return;
	lane->begin = to;
	if (lane->seen < to)
		lane->seen = to;
}

void
samples_forget(struct sample_lanes *lanes, uint32_t location, int64_t before_ns)
{
	for (size_t i = 0; location < lanes->count && i < lanes->at[location].count; i++) {
		struct sample_lane *lane = &lanes->at[location].of[i];

		lane_forget(lane, lane_from(lane, before_ns));
	}
}
