/* SPDX-License-Identifier: BSD-3-Clause */
#include "poll_gaps.h"

int
poll_gaps_read(struct poll_gaps *gaps, struct reader *in, const struct message *message)
{
	const int64_t most = INT64_MAX / 4;	/* so that a sum of a few does not overflow */
	int64_t location, site;

	if (body_int(in, message, "location", 0, UINT32_MAX, &location) < 0 ||
	    body_int(in, message, "site", 0, UINT32_MAX, &site) < 0 ||
	    body_int(in, message, "count", 1, most, &gaps->count) < 0 ||
	    body_int(in, message, "apart_ns", 0, most, &gaps->apart_ns) < 0 ||
	    body_int(in, message, "awake_ns", 0, gaps->apart_ns, &gaps->awake_ns) < 0)
		return -1;
	gaps->location = (uint32_t)location;
	gaps->site = (uint32_t)site;
	return 0;
}

int
poll_gaps_order(const void *left, const void *right)
{
	const struct poll_gaps *a = left, *b = right;

	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}
