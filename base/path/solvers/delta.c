/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delta-stepping (Meyer and Sanders 2003) for the longest path. Labels are processed in buckets of
 * width delta. Edges that cost less than delta may lead back into the bucket and are relaxed until
 * it is empty, the other edges once after that. All members of a team process the same bucket.
 * Entries are in one list, not in an array of buckets: it holds the fronts of the search, which are
 * few.
 */
#include <stdlib.h>

#include "solvers.h"

struct taken {
	struct entry *at;
	size_t count, capacity;
};

/* Rounds down, also below zero. */
static int64_t
bucket_of(int64_t cost_ns, int64_t delta_ns)
{
	return cost_ns / delta_ns - (cost_ns % delta_ns < 0);
}

/* The lowest bucket of all members; drops outdated entries. INT64_MAX: no member has an entry. */
static int64_t
next_bucket(struct search *s, int64_t delta_ns)
{
	int64_t least_ns = INT64_MAX, next;
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		if (search_is_current(s, &s->at[i])) {
			s->at[kept++] = s->at[i];
			least_ns = s->at[i].cost_ns < least_ns ? s->at[i].cost_ns : least_ns;
		}
	s->count = kept;
	next = least_ns == INT64_MAX ? -INT64_MAX : -bucket_of(least_ns, delta_ns);
	team_max(s->dag->stretch->team, &next, 1);	/* of negative values: the least */
	return -next;
}

/* Moves the entries of a bucket to the end of TAKEN. */
static void
take_bucket(struct search *s, int64_t bucket, int64_t delta_ns, struct taken *taken)
{
	const int64_t end_ns = (bucket + 1) * delta_ns;
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct entry entry = s->at[i];

		if (entry.cost_ns >= end_ns) {	/* none is in a lower one */
			s->at[kept++] = entry;
			continue;
		}
		*APPEND(taken->at, taken->count, taken->capacity) = entry;
	}
	s->count = kept;
}

void
search_delta(struct search *s, int64_t delta_ns)
{
	struct taken taken = { 0 };
	int64_t bucket;

	while ((bucket = next_bucket(s, delta_ns)) != INT64_MAX) {
		taken.count = 0;
		do {
			size_t done = taken.count;

			take_bucket(s, bucket, delta_ns, &taken);
			for (; done < taken.count; done++)
				search_relax(s, &taken.at[done], INT64_MIN, delta_ns - 1);
			search_exchange(s);
		} while (next_bucket(s, delta_ns) == bucket);
		for (size_t i = 0; i < taken.count; i++)
			if (search_is_current(s, &taken.at[i]))
				search_relax(s, &taken.at[i], delta_ns, INT64_MAX);
		search_exchange(s);
	}
	free(taken.at);
}

/* Delta is the mean time between two events of a location. */
static void
search_with_default(struct search *s)
{
	const struct stretch *stretch = s->dag->stretch;
	const int64_t events = (int64_t)(count_events(stretch) / stretch->window->locations) + 1;

	search_delta(s, 1 + (stretch->to_ns - stretch->begin_ns) / events);
}

bool
solve_delta(const struct stretch *stretch, struct segments *segments)
{
	return search_path(stretch, search_with_default, segments);
}
