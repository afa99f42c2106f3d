/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank tests: of two samples by the number of pairs in which x is greater, of pairs by the sum of
 * signed ranks. Each compares its statistic with the distribution that it has if both sides are
 * alike. From that follow p, the interval of the effect, and the effect that can be detected.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "statistics.h"

/* Of a statistic from 0 to MOST, if both sides are alike. */
struct null {
	double *share;		/* of each value; NULL: normal */
	size_t most;
	double deviation;	/* the mean is MOST / 2 */
};

/*
 * The probabilities of U = 0..mn if all orders of m + n distinct values are equally likely [W]: if
 * the r-th smallest value is the k-th of the m, r - k values of the other side lie below it.
 */
static double *
u_distribution(size_t m, size_t n)
{
	size_t width = m * n + 1;
	double *ways = zalloc((m + 1) * width, sizeof *ways), all = 0;

	ways[0] = 1;
	for (size_t r = 1; r <= m + n; r++)
		for (size_t k = r < m ? r : m; k >= 1; k--)
			for (size_t u = r - k; u < width; u++)
				ways[k * width + u] += ways[(k - 1) * width + u - (r - k)];
	memmove(ways, ways + m * width, width * sizeof *ways);
	for (size_t u = 0; u < width; u++)
		all += ways[u];
	for (size_t u = 0; u < width; u++)
		ways[u] /= all;
	return ways;
}

/* The probability of each rank sum over all 2^n signs. */
static double *
rank_distribution(size_t n)
{
	size_t most = n * (n + 1) / 2;
	double *share = zalloc(most + 1, sizeof *share);

	share[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t sum = rank * (rank + 1) / 2 + 1; sum-- > 0; )
			share[sum] = 0.5 * (share[sum] + (sum >= rank ? share[sum - rank] : 0));
	return share;
}

/* TIED: the sum of t^3 - t over all groups of t equal values, for the deviation [L, 1]. */
static struct null
null_of_samples(size_t m_count, size_t n_count, double tied, bool exact)
{
	double m = (double)m_count, n = (double)n_count;
	struct null null = { NULL, m_count * n_count,
	    sqrt(m * n / 12 * (m + n + 1 - tied / ((m + n) * (m + n - 1)))) };

	if (exact && m_count < EXACT_BELOW && n_count < EXACT_BELOW && !(tied > 0))
		null.share = u_distribution(m_count, n_count);
	return null;
}

static struct null
null_of_pairs(size_t count, double tied, bool exact)
{
	double n = (double)count;
	struct null null = { NULL, count * (count + 1) / 2,
	    sqrt(n * (n + 1) * (2 * n + 1) / 24 - tied / 48) };

	if (exact && count < EXACT_BELOW && !(tied > 0))
		null.share = rank_distribution(count);
	return null;
}

/* The probability of at least AT. */
static double
upper_tail(struct null null, double at)
{
	double p = 0;

	if (null.share == NULL)		/* with a correction for continuity [L, 1] */
		return !(null.deviation > 0) ? 1 : 0.5 * erfc((at - (double)null.most / 2 - 0.5) /
		    null.deviation / sqrt(2));
	for (size_t i = null.most + 1; i-- > (size_t)at; )
		p += null.share[i];
	free(null.share);
	return fmin(p, 1);
}

/* How many of the lowest values together are less likely than SHARE; CONTINUITY: 0.5 or 0. */
static size_t
lowest(struct null null, double share, double continuity)
{
	double below = 0;
	size_t count = 0;

	if (null.share == NULL)
		return (size_t)fmax(0, floor((double)null.most / 2 + continuity -
		    normal_quantile(1 - share) * null.deviation));
	while ((below += null.share[count]) < share)
		count++;
	free(null.share);
	return count;
}

/* The median of all differences, means or slopes, and the interval without OUT on each side. */
static struct effect
effect_of(struct sample all, size_t out)
{
	struct effect effect = { .shift = median(all) };	/* which sorts them */

	out = out > 0 ? out : 1;
	effect.low = all.at[out - 1];
	effect.high = all.at[all.count - out];
	free(all.at);
	return effect;
}

/* ---- two samples ------------------------------------------------------------------------ */

/* The sum of t^3 - t over all groups of t equal values; 0 without ties. */
static double
ties(struct sample x, struct sample y)
{
	struct sample all = pooled(x, y);
	double sum = 0;

	for (size_t i = 0, end; i < all.count; i = end) {
		double t;

		for (end = i + 1; end < all.count && !(all.at[end] > all.at[i]); end++)
			;
		t = (double)(end - i);
		sum += t * t * t - t;
	}
	free(all.at);
	return sum;
}

double
p_greater(enum test test, struct sample x, struct sample y)
{
	double u = 0;	/* the number of pairs with x greater than y; a tie counts half */

	if (test == KOLMOGOROV)
		return kolmogorov_smirnov(x, y);
	for (size_t i = 0; i < x.count; i++)
		for (size_t j = 0; j < y.count; j++)
			u += x.at[i] > y.at[j] ? 1 : x.at[i] < y.at[j] ? 0 : 0.5;
	return upper_tail(null_of_samples(x.count, y.count, ties(x, y), test == WILCOXON), u);
}

double
least_p(enum test test, size_t count)
{
	if (test == NORMAL || (test == WILCOXON && count >= EXACT_BELOW))
		return upper_tail(null_of_samples(count, count, 0, false),
		    (double)count * (double)count);
	return 1 / ways_to_choose(count, count);
}

struct effect
hodges_lehmann(struct sample x, struct sample y, double confidence)
{
	struct sample all = { zalloc(x.count * y.count, sizeof *all.at), x.count * y.count };

	for (size_t i = 0; i < x.count; i++)
		for (size_t j = 0; j < y.count; j++)
			all.at[i * y.count + j] = x.at[i] - y.at[j];
	return effect_of(all, lowest(null_of_samples(x.count, y.count, ties(x, y), true),
	    (1 - confidence) / 2, 0));
}

/* ---- pairs ------------------------------------------------------------------------------ */

struct ranked {
	double size;		/* distance from the centre */
	bool above;
};

ORDER(by_size, struct ranked, BY(size))

/* The rank sum of positive differences; ties have their mean rank. TIED: as in null_of_pairs. */
static double
rank_sum(struct ranked *at, size_t count, double *tied)
{
	double sum = 0;

	SORT(at, count, by_size);
	*tied = 0;
	for (size_t i = 0, end; i < count; i = end) {
		double t;

		for (end = i + 1; end < count && !(at[end].size > at[i].size); end++)
			;
		t = (double)(end - i);
		*tied += t * t * t - t;
		for (size_t k = i; k < end; k++)
			sum += at[k].above ? (double)(i + 1 + end) / 2 : 0;
	}
	return sum;
}

/* Differences of zero are left out. */
double
p_above(struct sample d, double centre)
{
	struct ranked *at = zalloc(d.count, sizeof *at);
	size_t count = 0;
	double sum, tied;

	for (size_t i = 0; i < d.count; i++)
		if (d.at[i] > centre || d.at[i] < centre)
			at[count++] = (struct ranked){ fabs(d.at[i] - centre), d.at[i] > centre };
	sum = rank_sum(at, count, &tied);
	free(at);
	return upper_tail(null_of_pairs(count, tied, count == d.count), sum);
}

double
least_p_above(size_t count)
{
	double n = (double)count;

	return count < EXACT_BELOW ? pow(0.5, n) :
	    upper_tail(null_of_pairs(count, 0, false), n * (n + 1) / 2);
}

struct effect
centre_of(struct sample d, double confidence)
{
	struct sample means = { zalloc(d.count * (d.count + 1) / 2, sizeof *means.at), 0 };

	for (size_t i = 0; i < d.count; i++)
		for (size_t j = 0; j <= i; j++)
			means.at[means.count++] = (d.at[i] + d.at[j]) / 2;
	return effect_of(means, lowest(null_of_pairs(d.count, 0, true), (1 - confidence) / 2, 0));
}

/* ---- slopes ----------------------------------------------------------------------------- */

struct effect
theil_sen(const double *x, const double *y, size_t count, double confidence)
{
	const double n = (double)count;
	struct sample slopes = { zalloc(count * count / 2 + 1, sizeof *slopes.at), 0 };
	double out;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (x[i] != x[j])
				slopes.at[slopes.count++] = (y[i] - y[j]) / (x[i] - x[j]);
	if (slopes.count == 0) {
		free(slopes.at);
		return (struct effect){ 0, 0, 0 };
	}
	out = ((double)slopes.count - normal_quantile((1 + confidence) / 2) *
	    sqrt(n * (n - 1) * (2 * n + 5) / 18)) / 2;
	return effect_of(slopes, out > 1 ? (size_t)out : 1);
}

/* ---- power ------------------------------------------------------------------------------ */

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

static double
phi(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

/* The probability that two normal values lie below X + BY, for a normal X. */
static double
two_below(double by)
{
	const double step = 0.02;
	double sum = 0;

	for (double x = -8; x < 8; x += step)
		sum += step * exp(-x * x / 2) / sqrt(2 * acos(-1)) * phi(x + by) * phi(x + by);
	return sum;
}

static double
found(size_t m, size_t n, double critical, double d)
{
	const double mn = (double)(m * n), q = phi(-d / sqrt(2)), q2 = two_below(-d);
	const double variance = mn * (q * (1 - q) + (double)(m + n - 2) * (q2 - q * q));

	return phi((critical + 0.5 - mn * q) / sqrt(fmax(variance, 1e-12)));
}

static double
found_of_pairs(size_t m, size_t count, double critical, double d)
{
	const double n = (double)count, p = phi(d), p1 = phi(d * sqrt(2)), p2 = two_below(2 * d);
	const double variance = n * (n - 1) * (n - 2) * (p2 - p1 * p1) +
	    n * (n - 1) / 2 * (2 * (p - p1) * (p - p1) + 3 * p1 * (1 - p1)) + n * p * (1 - p);

	(void)m;
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
	const size_t significant = lowest(null_of_samples(m, n, 0, true), level / 2, 0.5);

	return significant == 0 ? NAN :
	    least_shift(found, m, n, (double)significant - 1, power);
}

double
detectable_pairs(size_t n, double level, double power)
{
	const size_t significant = lowest(null_of_pairs(n, 0, true), level, 0.5);

	return significant == 0 ? NAN : least_shift(found_of_pairs, n, n,
	    (double)(n * (n + 1) / 2 + 1 - significant), power);
}
