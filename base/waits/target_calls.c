/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "../tool/search.h"
#include "core.h"

enum { MOST_VISITS = 4096, LEAST_VISITS = 64, ALL_VISITS = 1 << 22 };

struct visits {
	size_t most;			/* of each location */
	struct location_visits {
		struct visit *of;
		size_t begin, end, capacity;
		int64_t kept_ns;	/* those that were left later are all there */
	} at[];
};

struct visits *
visits_begin(const struct imbalance *im)
{
	const size_t locations = im->graph.known.location_count, each = ALL_VISITS / locations;
	struct visits *visits = zalloc(1, sizeof *visits + locations * sizeof visits->at[0]);

	visits->most = each > MOST_VISITS ? MOST_VISITS : each < LEAST_VISITS ? LEAST_VISITS : each;
	for (size_t l = 0; l < locations; l++)
		visits->at[l].kept_ns = im->last_leave_ns[l];
	return visits;
}

void
visit_add(struct visits *visits, const struct whole_call *call)
{
	struct location_visits *v = &visits->at[call->location];
	const struct row *row = &call->rows[0].row;

	if (v->end - v->begin >= visits->most) {
		v->begin += visits->most / 4;
		v->kept_ns = v->of[v->begin - 1].leave_ns;
	}
	if (v->end == v->capacity && v->begin >= visits->most / 4) {
		memmove(v->of, v->of + v->begin, (v->end - v->begin) * sizeof *v->of);
		v->end -= v->begin;
		v->begin = 0;
	}
	v->of = grow_little(v->of, &v->capacity, v->end + 1, sizeof *v->of);
	v->of[v->end++] = (struct visit){ row->enter_ns, row->leave_ns, call->first };
}

void
visits_forget(const struct imbalance *im, struct visits *visits, int64_t at_ns)
{
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		struct location_visits *v = &visits->at[l];

		if (v->end > v->begin) {
			v->of[0] = v->of[v->end - 1];
			v->end = 1;
		}
		v->begin = 0;
		v->kept_ns = at_ns;
	}
}

/* The first call of the location that is still to be counted. */
static bool
next_visit(const struct imbalance *im, uint32_t location, struct visit *found)
{
	const struct wait_row *row = wait_row(im, location, im->done[location]);

	if (row == NULL)
		return false;
	*found = (struct visit){ row->row.enter_ns, row->row.leave_ns, im->done[location] };
	return true;
}

#define BEFORE(visit, sought) ((visit)->leave_ns <= (sought))
SEARCH(visit_at, struct visit, int64_t, BEFORE)
#undef BEFORE

bool
visit_after(const struct imbalance *im, const struct visits *visits, uint32_t location, int64_t at_ns,
    struct visit *found)
{
	const struct location_visits *v = &visits->at[location];
	size_t at;

	if (im->last_leave_ns[location] <= at_ns)
		return next_visit(im, location, found);
	if (at_ns < v->kept_ns)
		return false;
	at = v->begin + visit_at(v->of + v->begin, v->end - v->begin, at_ns);
	if (at == v->end)
		return false;
	*found = v->of[at];
	return true;
}
