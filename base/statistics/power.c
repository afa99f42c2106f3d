/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far apart two normal samples have to be for Wilcoxon's test to find it. Where y lies D deviations
 * lower, a value of x is smaller than one of y with q = Phi(-D / sqrt(2)); the number of such pairs has
 * the mean mnq and nearly the variance mn(q(1 - q) + (m + n - 2)(q2 - q^2)), q2 being the probability
 * that two of y are greater than one of x [L, 2]. The test finds it where that number is at most the
 * critical one.
 */
#include <math.h>
#include <stdlib.h>

#include "statistics.h"

static double
phi(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

/* The largest number of pairs at which the two-sided test has so small a p; -1: none. */
static double
critical_pairs(size_t m, size_t n, double level)
{
	const double mn = (double)(m * n);
	double *p, sum = 0, u = -1;

	if (m >= EXACT_BELOW || n >= EXACT_BELOW)
		return floor(mn / 2 - 0.5 - normal_quantile(1 - level / 2) * sqrt(mn * (double)(m + n + 1) / 12));
	p = u_distribution(m, n);
	for (size_t i = 0; i <= m * n && (sum += p[i]) <= level / 2; i++)
		u = (double)i;
	free(p);
	return u;
}

static double
found(size_t m, size_t n, double critical, double d)
{
	const double mn = (double)(m * n), q = phi(-d / sqrt(2)), step = 0.02;
	double q2 = 0, variance;

	for (double x = -8; x < 8; x += step)
		q2 += step * exp(-x * x / 2) / sqrt(2 * acos(-1)) * phi(x - d) * phi(x - d);
	variance = mn * (q * (1 - q) + (double)(m + n - 2) * (q2 - q * q));
	return phi((critical + 0.5 - mn * q) / sqrt(fmax(variance, 1e-12)));
}

double
detectable_shift(size_t m, size_t n, double level, double power)
{
	const double critical = critical_pairs(m, n, level);
	double low = 0, high = 40;

	if (critical < 0)
		return NAN;
	for (int i = 0; i < 50; i++) {
		const double middle = 0.5 * (low + high);

		if (found(m, n, critical, middle) < power)
			low = middle;
		else
			high = middle;
	}
	return high;
}
