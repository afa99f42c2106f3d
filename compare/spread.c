/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far runs of one side lie apart, and how large a change would have been seen through that.
 *
 * The spread is the robust deviation of all runs from the median of their side, so that a single run
 * that was held up does not make it. Of several tests the level of each is Holm's first step.
 */
#include <math.h>
#include <stdlib.h>

#include "compare.h"

static const double FOUND = 0.8;	/* of such changes, where the spread is as it seems */

static void
add_deviations(struct sample *all, const struct comparison *c, int side, VALUE(of), size_t index)
{
	struct sample one = sample_of(c, side, of, index);
	const double centre = median(one);

	for (size_t r = 0; r < one.count; r++)
		all->at[all->count++] = one.at[r] - centre;
	free(one.at);
}

/* Of the runs of the sides FROM to TO; each median takes the freedom of one run. */
static double
deviation(const struct comparison *c, int from, int to, VALUE(of), size_t index)
{
	struct sample all = { zalloc(c->count[A] + c->count[B], sizeof *all.at), 0 };
	const int sides = to - from + 1;
	double result = NAN;

	for (int side = from; side <= to; side++)
		add_deviations(&all, c, side, of, index);
	for (size_t i = 0; i < all.count; i++)
		all.at[i] = fabs(all.at[i]);
	if ((int)all.count > sides)
		result = 1.4826 * median(all) * sqrt((double)all.count / ((double)all.count - sides));
	free(all.at);
	return result;
}

double
spread_of(const struct comparison *c, int side, VALUE(of), size_t index)
{
	return deviation(c, side, side, of, index);
}

double
detectable_of(const struct comparison *c, VALUE(of), size_t index, size_t tests)
{
	const double level = LEVEL / (double)(tests > 0 ? tests : 1);

	if (!can_judge(c))
		return NAN;
	return detectable_shift(c->count[A], c->count[B], level, FOUND) * deviation(c, A, B, of, index);
}
