/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backward walk (Boehme et al. 2012): from the last event back, and from a blocked call to the
 * location that it waited for, until the beginning, or until the path is already known (early.c).
 * Linear in the number of calls on the path.
 */
#include "stretch.h"

/*
 * From the last event back to the FIRST one. SEGMENTS get the pieces, or MARKS every STEP-th event.
 * False: a cycle.
 */
static inline bool
walk(const struct stretch *stretch, struct event *first, struct segments *segments, uint64_t step,
    struct events *marks)
{
	uint64_t left = count_events(stretch), to_mark = step;
	struct event before;
	int64_t before_ns;

	*first = stretch->to;
	while (!(stretch->from_event && same_event(*first, stretch->from)) &&
	    event_before(stretch, *first, &before, &before_ns)) {
		if (left-- == 0)
			return false;
		if (segments != NULL)
			add_piece(segments, stretch, &before, before_ns, *first);
		*first = before;
		if (marks == NULL || --to_mark > 0)
			continue;
		to_mark = step;
		*APPEND(marks->at, marks->count, marks->capacity) = before;
	}
	return true;
}

/*
 * The path came to FIRST, which may not be FROM: pieces, which are in reverse order from BEGIN on,
 * end at FROM in time.
 */
static void
jump(struct segments *segments, const struct stretch *stretch, size_t begin, struct event first)
{
	if (time_of(stretch, first) > stretch->from_ns)
		add_piece(segments, stretch, NULL, stretch->from_ns, first);
	while (segments->count > begin &&
	    segments->at[segments->count - 1].end_ns <= stretch->from_ns)
		segments->count--;
	if (segments->count > begin &&
	    segments->at[segments->count - 1].begin_ns < stretch->from_ns)
		segments->at[segments->count - 1].begin_ns = stretch->from_ns;
}

bool
solve_walk(const struct stretch *stretch, struct segments *segments)
{
	const size_t begin = segments->count;
	struct event first;

	if (!walk(stretch, &first, segments, 0, NULL)) {
		segments->count = begin;
		return false;
	}
	if (!stretch->from_event)
		add_piece(segments, stretch, NULL, stretch->begin_ns, first);
	else if (!same_event(first, stretch->from) && stretch->may_jump)
		jump(segments, stretch, begin, first);
	else if (!same_event(first, stretch->from))
		die("an edge has an end before what the stream had called settled");
	reverse_segments(segments, begin);
	return true;
}

bool
walk_marks(const struct stretch *stretch, uint64_t step, struct events *marks)
{
	struct event first;

	marks->count = 0;
	return walk(stretch, &first, NULL, step, marks);
}
