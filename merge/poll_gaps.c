/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the threads' activity between polls, as their ranks measured it, with the numbers of the
 * trace.
 */
#include <stdlib.h>

#include "merge.h"

struct all_gaps {
	struct poll_gaps *of;
	size_t count, capacity;
};

static void
gather(struct all_gaps *all, const struct rank *rank, int32_t number)
{
	for (size_t i = 0; i < rank->gaps_count; i++) {
		struct poll_gaps gaps = rank->gaps[i];

		if (gaps.location >= rank->threads || rank->thread[gaps.location].rows == 0)
			continue;
		gaps.location = gaps.location == 0 ? (uint32_t)number :
		    rank->location_base + gaps.location - 1;
		gaps.site = gaps.site < rank->site_map_size ? rank->site_map[gaps.site] : 0;
		*APPEND(all->of, all->count, all->capacity) = gaps;
	}
}

static void
write_one(struct writer *out, const struct poll_gaps *gaps)
{
	message_begin(out, "poll_gaps", 5);
	put_uint(out, "location", gaps->location);
	put_uint(out, "site", gaps->site);
	put_int(out, "count", gaps->count);
	put_int(out, "apart_ns", gaps->apart_ns);
	put_int(out, "awake_ns", gaps->awake_ns);
	if (message_end(out) < 0)
		die_output();
}

void
write_poll_gaps(struct writer *out, const struct input *input)
{
	struct all_gaps all = { 0 };

	for (int32_t r = 0; r < input->rank_count; r++)
		gather(&all, &input->ranks[r], r);
	if (all.count > 1)
		qsort(all.of, all.count, sizeof *all.of, poll_gaps_order);
	for (size_t i = 0, next; i < all.count; i = next) {
		for (next = i + 1;
		    next < all.count && poll_gaps_order(&all.of[i], &all.of[next]) == 0; next++) {
			/* one place that a rank numbers twice */
			all.of[i].count += all.of[next].count;
			all.of[i].apart_ns += all.of[next].apart_ns;
			all.of[i].awake_ns += all.of[next].awake_ns;
		}
		write_one(out, &all.of[i]);
	}
	free(all.of);
}
