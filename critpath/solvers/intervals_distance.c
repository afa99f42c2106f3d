/* SPDX-License-Identifier: BSD-3-Clause */
#include "intervals.h"

#include <stdlib.h>

/* Both cover the stretch without gaps. */
static void
compare(struct distance *d, const struct definitions *known, const struct segments *exact,
    const struct segments *other)
{
	size_t i = 0, j = 0;

	while (i < exact->count && j < other->count) {
		const struct segment *a = &exact->at[i], *b = &other->at[j];
		const int64_t from_ns = a->begin_ns > b->begin_ns ? a->begin_ns : b->begin_ns;
		const int64_t to_ns = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

		if (b->kind != GAP && to_ns > from_ns &&
		    known->location_rank[a->location] == known->location_rank[b->location]) {
			d->same_rank_ns += to_ns - from_ns;
			if (a->site == b->site)
				d->same_site_ns += to_ns - from_ns;
		}
		i += a->end_ns == to_ns;
		j += b->end_ns == to_ns;
	}
}

void
distance_add(struct distance *d, const struct stretch *stretch, const struct definitions *known,
    const struct segments *segments)
{
	struct segments exact = { 0 };

	while (!solve_walk(stretch, &exact))
		cut_cycle(stretch, known);
	if (exact.count > 0)
		d->all_ns += exact.at[exact.count - 1].end_ns - exact.at[0].begin_ns;
	compare(d, known, &exact, segments);
	free(exact.at);
}

double
distance_share(const struct distance *d, int64_t same_ns)
{
	return d->all_ns > 0 ? (double)same_ns / (double)d->all_ns : 1;
}
