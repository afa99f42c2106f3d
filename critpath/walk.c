/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backward walk (Boehme et al. 2012): from the last event back, and where a call was blocked
 * over to the location that it waited for, until the beginning, or where the path is already known
 * (decided.c). Linear in the number of calls on the path.
 */
#include "critpath.h"

bool
solve_walk(const struct stretch *stretch, struct segments *segments)
{
	size_t begin = segments->count;
	uint64_t left = count_events(stretch);
	struct event at = stretch->to, before;
	int64_t before_ns;

	while (!(stretch->from_event && same_event(at, stretch->from)) &&
	    event_before(stretch, at, &before, &before_ns)) {
		if (left-- == 0) {
			segments->count = begin;
			return false;
		}
		add_piece(segments, stretch, &before, at);
		at = before;
	}
	if (!stretch->from_event)
		add_piece(segments, stretch, NULL, at);
	else if (!same_event(at, stretch->from))
		die("an edge has an end before what the stream had called settled");
	reverse_segments(segments, begin);
	return true;
}
