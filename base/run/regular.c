/* SPDX-License-Identifier: BSD-3-Clause */
#include "call_groups.h"

#include <math.h>

void
gaps_add(struct gaps *gaps, uint64_t gap)
{
	if (gap == 0)
		return;
	gaps->least = gaps->count == 0 || gap < gaps->least ? gap : gaps->least;
	gaps->most = gap > gaps->most ? gap : gaps->most;
	gaps->count++;
	gaps->total += gap;
	gaps->logs += log((double)gap);
}

/* The mean of ln m - ln g for exponential gaps g of mean m. */
static const double EULER = 0.5772156649015329;

/* The same for geometric gaps. */
static double
geometric_spread(double mean)
{
	const double p = 1 / mean;
	double sum = 0, left = 1;

	if (mean > 200)
		return EULER;
	for (int gap = 1; left > 1e-12; gap++, left *= 1 - p)
		sum += left * p * log(gap);
	return log(mean) - sum;
}

double
chi_square_below(double x, double freedom)
{
	const double scale = 2 / (9 * freedom);

	return 0.5 * erfc((1 - scale - cbrt(x / freedom)) / sqrt(2 * scale));
}

double
gaps_spread(const struct gaps *gaps)
{
	const double n = (double)gaps->count;

	return gaps->least == gaps->most ? 0 : log((double)gaps->total / n) - gaps->logs / n;
}

double
gaps_chance(const struct gaps *gaps)
{
	const double n = (double)gaps->count, mean = (double)gaps->total / n;

	if (gaps->count < 2)
		return 1;
	if (gaps->least == gaps->most)
		return 0;
	return chi_square_below(2 * n * gaps_spread(gaps) / (1 + (n + 1) / (6 * n)) * EULER /
	    geometric_spread(mean), n - 1);
}
