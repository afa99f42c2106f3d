/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shift between two normal samples that Wilcoxon's test detects. If y lies D standard
 * deviations below x, a value of x is smaller than one of y with q = Phi(-D / sqrt(2)). The number
 * of such pairs has the mean mnq and nearly the variance mn(q(1 - q) + (m + n - 2)(q2 - q^2)),
 * where q2 is the probability that two values of y exceed one of x [L, 2]. The test detects the
 * shift if that number is at most the critical one.
 *
 * The differences of pairs are normal with mean D standard deviations. The rank sum of the positive
 * ones counts the positive means of two differences: each with itself with p = Phi(D), two with
 * p1 = Phi(D sqrt(2)), and two such means that share one difference with p2 [L, 4].
 */
#include <math.h>
#include <stdlib.h>

#include "statistics.h"

static double
phi(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

/* The largest number of pairs that is significant in the two-sided test; -1: none. */
static double
critical_pairs(size_t m, size_t n, double level)
{
	const double mn = (double)(m * n);
	double *p, sum = 0, u = -1;

	if (m >= EXACT_BELOW || n >= EXACT_BELOW)
		return floor(mn / 2 - 0.5 -
		    normal_quantile(1 - level / 2) * sqrt(mn * (double)(m + n + 1) / 12));
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

/* The least sum of signed ranks that is significant in the one-sided test; above all sums: none. */
static double
critical_sum(size_t n, double level)
{
	const double all = (double)n * (double)(n + 1) / 2;
	double *p, sum = 0, s = all + 1;

	if (n >= EXACT_BELOW)
		return ceil(all / 2 + 0.5 + normal_quantile(1 - level) *
		    sqrt((double)n * (double)(n + 1) * (2 * (double)n + 1) / 24));
	p = rank_distribution(n);
	for (size_t i = n * (n + 1) / 2 + 1; i-- > 0 && (sum += p[i]) <= level; )
		s = (double)i;
	free(p);
	return s;
}

static double
found_of_pairs(size_t m, size_t count, double critical, double d)
{
	const double n = (double)count, p = phi(d), p1 = phi(d * sqrt(2)), step = 0.02;
	double p2 = 0, variance;

	(void)m;
	for (double x = -8; x < 8; x += step)
		p2 += step * exp(-x * x / 2) / sqrt(2 * acos(-1)) * phi(x + 2 * d) * phi(x + 2 * d);
	variance = n * (n - 1) * (n - 2) * (p2 - p1 * p1) +
	    n * (n - 1) / 2 * (2 * (p - p1) * (p - p1) + 3 * p1 * (1 - p1)) + n * p * (1 - p);
	return phi((n * (n - 1) / 2 * p1 + n * p - critical + 0.5) / sqrt(fmax(variance, 1e-12)));
}

/* The least D that the test finds with probability POWER. */
static double
least_shift(double (*found_at)(size_t m, size_t n, double critical, double d), size_t m, size_t n,
    double critical, double power)
{
	double low = 0, high = 40;

	for (int i = 0; i < 50; i++) {
		const double middle = 0.5 * (low + high);

		if (found_at(m, n, critical, middle) < power)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double
detectable_shift(size_t m, size_t n, double level, double power)
{
	const double critical = critical_pairs(m, n, level);

	return critical < 0 ? NAN : least_shift(found, m, n, critical, power);
}

double
detectable_pairs(size_t n, double level, double power)
{
	const double critical = critical_sum(n, level);

	return critical > (double)n * (double)(n + 1) / 2 ? NAN :
	    least_shift(found_of_pairs, n, n, critical, power);
}
