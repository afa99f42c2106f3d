/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose functions others waited for. */
#include <math.h>
#include <stdlib.h>

#include "causes.h"
#include "functions_sums.h"

struct costs {
	struct function_cost *of;	/* by function; errors squared */
	uint32_t not_sampled, mpi;
};

/*
 * A delay's cost goes to the functions that its rank has more of than the others, as they have it; where it
 * has no more of any, to all that it has.
 */
static void
share_out(struct costs *costs, const struct excess *list, size_t count, double cost_ns)
{
	double sum_ns = 0, variance = 0;
	bool any_more = false;

	for (size_t i = 0; i < count; i++)
		any_more |= (double)list[i].slow_ns > list[i].others_ns;
	for (size_t i = 0; i < count; i++) {
		const double more_ns = (double)list[i].slow_ns - (any_more ? list[i].others_ns : 0);

		if (more_ns <= 0)
			continue;
		sum_ns += more_ns;
		variance += list[i].error_ns * list[i].error_ns;
	}
	for (size_t i = 0; i < count; i++) {
		const double more_ns = (double)list[i].slow_ns - (any_more ? list[i].others_ns : 0);
		const double share = sum_ns > 0 ? more_ns / sum_ns : 0, own = list[i].error_ns * list[i].error_ns;

		if (share <= 0)
			continue;
		costs->of[list[i].function].cost_ns += cost_ns * share;
		/* Of a share of independent parts. */
		costs->of[list[i].function].error_ns += cost_ns * cost_ns / (sum_ns * sum_ns) *
		    ((1 - share) * (1 - share) * own + share * share * (variance - own));
	}
}

static int
by_cost(const void *left, const void *right)
{
	const struct function_cost *a = left, *b = right;

	return a->cost_ns != b->cost_ns ? (a->cost_ns > b->cost_ns ? -1 : 1) :
	    (a->function > b->function) - (a->function < b->function);
}

void
find_function_costs(const struct imbalance *im, const struct site_groups *groups, struct by_function *by,
    const struct taken *list, size_t taken)
{
	struct costs costs = { zalloc(by->count, sizeof *costs.of), function_named(by, not_sampled),
	    function_named(by, "(MPI)") };
	size_t count;
	struct delay *delays = sorted_delays(im, &count);

	for (size_t f = 0; f < by->count; f++)
		costs.of[f].function = (uint32_t)f;
	for (size_t i = 0; i < count; i++) {
		const double cost_ns = delay_cost_ns(&delays[i]);
		struct sums s;

		if (delays[i].key % 2 == 1) {
			costs.of[costs.mpi].cost_ns += cost_ns;
			continue;
		}
		if (delays[i].key / 2 >= groups->count) {
			costs.of[costs.not_sampled].cost_ns += cost_ns;
			continue;
		}
		s = sums_of(im, groups, by, list, taken, groups->of[delays[i].key / 2]);
		if (s.compute_ns == NULL || s.samples[delays[i].rank] == 0)
			costs.of[costs.not_sampled].cost_ns += cost_ns;
		else {
			size_t functions;
			struct excess *of = excesses_of(&s, delays[i].rank, &functions);

			share_out(&costs, of, functions, cost_ns);
			free(of);
		}
		free(s.samples);
	}
	free(delays);
	qsort(costs.of, by->count, sizeof *costs.of, by_cost);
	while (by->cost_count < by->count && costs.of[by->cost_count].cost_ns > 0) {
		struct function_cost *of = &costs.of[by->cost_count++];

		of->error_ns = sqrt(of->error_ns);
	}
	by->costs = costs.of;
}
