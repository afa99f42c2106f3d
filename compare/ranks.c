/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank has a site's change. */
#include <math.h>

#include "compare.h"

/* Path of a rank. A rank missing in a long list counts like the last one listed: it has no more. */
static int64_t
rank_path(const struct site_sums *p, int32_t rank)
{
	int64_t listed_ns = 0, least_ns = 0, all_ns = 0;

	if (p == NULL)
		return 0;
	for (uint32_t i = 0; i < p->rank_count; i++) {
		if (p->rank[i] == rank)
			return p->rank_ns[i];
		listed_ns += p->rank_ns[i];
		least_ns = p->rank_ns[i];
	}
	for (size_t k = 0; k < KINDS; k++)
		all_ns += k == START ? 0 : p->path_ns[k];
	return p->rank_count > 0 && listed_ns < all_ns ? least_ns : 0;
}

static double
mean_path(const struct comparison *c, int side, size_t unit, int32_t rank)
{
	double sum = 0;

	for (size_t r = 0; r < c->count[side]; r++)
		sum += (double)rank_path(c->runs[side][r].by_unit[unit], rank);
	return sum / (double)c->count[side];
}

int32_t
rank_of_change(const struct comparison *c, const struct verdict *v, size_t unit)
{
	const double path_ns = fabs((double)v->sites[unit].path.change_ns);
	/* the side whose lists are searched */
	const int more = v->sites[unit].path.change_ns > 0 ? B : A;
	int32_t best = -1;
	double most_ns = path_ns / 2;

	if (v->ranks < 2 || fabs((double)v->sites[unit].total.change_ns) > 1.5 * path_ns)
		return -1;
	for (size_t r = 0; r < c->count[more]; r++) {
		const struct site_sums *p = c->runs[more][r].by_unit[unit];

		for (uint32_t i = 0; p != NULL && i < p->rank_count; i++) {
			const double ns = (mean_path(c, B, unit, p->rank[i]) - mean_path(c, A, unit,
			    p->rank[i])) * (more == B ? 1 : -1);

			if (ns > most_ns || (ns == most_ns && best > p->rank[i])) {
				most_ns = ns;
				best = p->rank[i];
			}
		}
	}
	return best;
}
