/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delta-stepping (Meyer and Sanders 2003) for the longest path: labels are worked off in buckets of
 * width delta; edges shorter than delta may lead back into the bucket and are relaxed until it is
 * empty, the others once after that. All members of a team are in the same bucket at a time.
 */
#include <stdlib.h>

#include "search.h"

/* What waits is a list, not an array of buckets: it holds the fronts of the search, which are few. */
static void
take_improved(struct search *search, struct entries *waiting)
{
	for (size_t i = 0; i < search->improved.count; i++)
		add_entry(waiting, search->improved.at[i]);
	search->improved.count = 0;
}

/* Moves the current entries of a bucket to TAKEN, and forgets outdated ones. */
static void
take_bucket(const struct search *search, struct entries *waiting, int64_t bucket, int64_t delta_ns,
    struct entries *taken)
{
	size_t kept = 0;

	for (size_t i = 0; i < waiting->count; i++) {
		struct entry entry = waiting->at[i];

		if (!search_is_current(search, &entry))
			continue;
		if (entry.distance_ns / delta_ns == bucket)
			add_entry(taken, entry);
		else
			waiting->at[kept++] = entry;
	}
	waiting->count = kept;
}

/* INT64_MAX: nothing waits on any member. */
static int64_t
next_bucket(const struct search *search, const struct entries *waiting, int64_t delta_ns)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < waiting->count; i++)
		if (waiting->at[i].distance_ns / delta_ns < next)
			next = waiting->at[i].distance_ns / delta_ns;
	next = -next;
	team_max(search->stretch->team, &next, 1);	/* of negative values: the least */
	return -next;
}

/* The mean time between two events of a location. */
static int64_t
default_delta_ns(const struct stretch *stretch)
{
	int64_t events = (int64_t)(count_events(stretch) / stretch->window->locations) + 1;

	return 1 + (stretch->to_ns - stretch->begin_ns) / events;
}

bool
solve_delta(const struct stretch *stretch, struct segments *segments)
{
	int64_t delta_ns = default_delta_ns(stretch), bucket;
	struct entries waiting = { 0 }, removed = { 0 };
	struct search search;

	search_open(&search, stretch);
	take_improved(&search, &waiting);
	while ((bucket = next_bucket(&search, &waiting, delta_ns)) != INT64_MAX) {
		removed.count = 0;
		do {
			size_t done = removed.count;

			take_bucket(&search, &waiting, bucket, delta_ns, &removed);
			for (; done < removed.count; done++)
				search_relax(&search, &removed.at[done], INT64_MIN, delta_ns - 1);
			search_exchange(&search);
			take_improved(&search, &waiting);
		} while (next_bucket(&search, &waiting, delta_ns) == bucket);
		for (size_t i = 0; i < removed.count; i++)
			if (search_is_current(&search, &removed.at[i]))
				search_relax(&search, &removed.at[i], delta_ns, INT64_MAX);
		search_exchange(&search);
		take_improved(&search, &waiting);
	}
	free(waiting.at);
	free(removed.at);
	return search_finish(&search, segments);
}
