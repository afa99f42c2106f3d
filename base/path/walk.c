/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backward walk (Boehme et al. 2012): from the last event back, and where a call was blocked
 * over to the location that it waited for, until the beginning, or where the path is already known
 * (early.c). Linear in the number of calls on the path.
 */
#include <stdlib.h>

#include "stretch.h"

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

bool
walk_marks(const struct stretch *stretch, uint64_t step, struct event **marks, size_t *count)
{
	size_t capacity = 0;
	uint64_t left = count_events(stretch);
	struct event at = stretch->to;
	int64_t ns;

	*marks = NULL;
	*count = 0;
	for (uint64_t steps = 1; !(stretch->from_event && same_event(at, stretch->from)) &&
	    event_before(stretch, at, &at, &ns); steps++) {
		if (left-- == 0) {
			free(*marks);
			return false;
		}
		if (steps % step == 0) {
			*marks = grow(*marks, &capacity, *count + 1, sizeof **marks);
			(*marks)[(*count)++] = at;
		}
	}
	return true;
}
