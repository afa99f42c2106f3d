/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "definitions.h"

enum {
	/*
	 * Sleeping: awake for at most 1/MOST_AWAKE of the measured time. On virtual machines an
	 * empty usleep(100) itself takes a fifth of its time on the core.
	 */
	MOST_AWAKE = 2,
	ALIKE = 16,		/* largest ratio of a time to the mean of those measured */
};

int
poll_gaps_read(struct poll_gaps *gaps, struct reader *in, const struct message *message)
{
	const int64_t most = INT64_MAX / 4;	/* so that a sum of a few does not overflow */

	return body_int(in, message, "location", 0, UINT32_MAX, &gaps->location) < 0 ||
	    body_int(in, message, "site", 0, UINT32_MAX, &gaps->site) < 0 ||
	    body_int(in, message, "count", 1, most, &gaps->count) < 0 ||
	    body_int(in, message, "apart_ns", 0, most, &gaps->apart_ns) < 0 ||
	    body_int(in, message, "awake_ns", 0, gaps->apart_ns, &gaps->awake_ns) < 0 ? -1 : 0;
}

int
poll_gaps_order(const void *left, const void *right)
{
	const struct poll_gaps *a = left, *b = right;

	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

bool
is_seen_asleep(const struct definitions *known, uint32_t location, uint32_t site, int64_t apart_ns)
{
	const struct poll_gaps key = { .location = location, .site = site };
	const struct poll_gaps *gaps = known->poll_gaps_count == 0 ? NULL :
	    bsearch(&key, known->poll_gaps, known->poll_gaps_count, sizeof key, poll_gaps_order);

	return gaps != NULL && gaps->awake_ns <= gaps->apart_ns / MOST_AWAKE &&
	    apart_ns / ALIKE <= gaps->apart_ns / gaps->count;
}
