/* SPDX-License-Identifier: BSD-3-Clause */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"

ORDER(by_value, double, COMPARED(*a, *b))

static void
sort(struct sample s)
{
	SORT(s.at, s.count, by_value);
}

/* R's type 7: interpolates between the order statistics at (n - 1) share. */
static double
quantile(struct sample sorted, double share)
{
	double at = share * (double)(sorted.count - 1), whole = floor(at);
	size_t i = (size_t)whole;

	if (i + 1 >= sorted.count)
		return sorted.at[sorted.count - 1];
	return sorted.at[i] + (at - whole) * (sorted.at[i + 1] - sorted.at[i]);
}

double
median(struct sample s)
{
	sort(s);
	return quantile(s, 0.5);
}

double
quartile_distance(struct sample sorted)
{
	return quantile(sorted, 0.75) - quantile(sorted, 0.25);
}

void
fences(struct sample s, double *low, double *high)
{
	double reach;

	sort(s);
	reach = 1.5 * quartile_distance(s);
	*low = quantile(s, 0.25) - reach;
	*high = quantile(s, 0.75) + reach;
}

struct sample
within_fences(struct sample s)
{
	double low, high;

	fences(s, &low, &high);
	while (s.count > 0 && s.at[s.count - 1] > high)
		s.count--;
	while (s.count > 0 && s.at[0] < low) {
		s.at++;
		s.count--;
	}
	return s;
}

double
lower_quartile(struct sample sorted)
{
	return quantile(sorted, 0.25);
}

double
robust_deviation(struct sample s)
{
	struct sample off = { zalloc(s.count, sizeof *off.at), s.count };
	double centre = median(s), result;

	for (size_t i = 0; i < s.count; i++)
		off.at[i] = fabs(s.at[i] - centre);
	result = 1.4826 * median(off);
	free(off.at);
	return result;
}

double
normal_quantile(double p)
{
	double low = -40, high = 40;

	for (int i = 0; i < 100; i++) {
		double middle = 0.5 * (low + high);

		if (0.5 * erfc(-middle / sqrt(2)) < p)
			low = middle;
		else
			high = middle;
	}
	return 0.5 * (low + high);
}

double
mean(struct sample s)
{
	double sum = 0;

	for (size_t i = 0; i < s.count; i++)
		sum += s.at[i];
	return sum / (double)s.count;
}

double
standard_deviation(struct sample s)
{
	double centre = mean(s), sum = 0;

	for (size_t i = 0; i < s.count; i++)
		sum += (s.at[i] - centre) * (s.at[i] - centre);
	return s.count > 1 ? sqrt(sum / (double)(s.count - 1)) : 0;
}

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

/* Both samples in one, sorted. */
static struct sample
pool(struct sample x, struct sample y)
{
	struct sample all = { zalloc(x.count + y.count, sizeof *all.at), x.count + y.count };

	memcpy(all.at, x.at, x.count * sizeof *x.at);
	memcpy(all.at + x.count, y.at, y.count * sizeof *y.at);
	sort(all);
	return all;
}

/* The sum of t^3 - t over all groups of t equal values [L, 1]; 0 without ties. */
static double
ties(struct sample x, struct sample y)
{
	struct sample all = pool(x, y);
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

/* The number of pairs with x greater than y; a tie counts half. */
static double
u_statistic(struct sample x, struct sample y)
{
	double u = 0;

	for (size_t i = 0; i < x.count; i++)
		for (size_t j = 0; j < y.count; j++)
			u += x.at[i] > y.at[j] ? 1 : x.at[i] < y.at[j] ? 0 : 0.5;
	return u;
}

/* The standard deviation of U, corrected for ties [L, 1]. */
static double
u_deviation(struct sample x, struct sample y, double tied)
{
	double m = (double)x.count, n = (double)y.count;

	return sqrt(m * n / 12 * (m + n + 1 - tied / ((m + n) * (m + n - 1))));
}

static double
exact_wilcoxon(struct sample x, struct sample y)
{
	double *p = u_distribution(x.count, y.count), tail = 0;

	for (size_t u = x.count * y.count + 1; u-- > (size_t)u_statistic(x, y); )
		tail += p[u];
	free(p);
	return fmin(tail, 1);
}

static double
normal_wilcoxon(struct sample x, struct sample y)
{
	double deviation = u_deviation(x, y, ties(x, y));
	double excess = u_statistic(x, y) - (double)(x.count * y.count) / 2;

	if (!(deviation > 0))
		return 1;	/* all values are equal */
	return 0.5 * erfc((excess - 0.5) / deviation / sqrt(2));	/* continuity: [L, 1] */
}

static bool
is_exact(struct sample x, struct sample y)
{
	return x.count < EXACT_BELOW && y.count < EXACT_BELOW && !(ties(x, y) > 0);
}

/*
 * One-sided Kolmogorov-Smirnov: x is greater where its distribution function lies below y's. The
 * share of all paths of the pooled values from (0, 0) to (m, n) that reach this distance [H].
 * Distances count only at the end of a group of equal values. In units of 1/(mn).
 */
static double
kolmogorov_smirnov(struct sample x, struct sample y)
{
	struct sample all = pool(x, y);
	size_t m = x.count, n = y.count, i = 0, j = 0;
	double *reached = zalloc(n + 1, sizeof *reached), p;	/* on the way to (i, j) */
	long reach = 0;

	sort(x);
	sort(y);
	for (size_t k = 0; k < all.count; k++) {
		while (i < m && x.at[i] <= all.at[k])
			i++;
		while (j < n && y.at[j] <= all.at[k])
			j++;
		if ((long)(j * m) - (long)(i * n) > reach)
			reach = (long)(j * m) - (long)(i * n);
	}
	for (i = 0; i <= m; i++)
		for (j = 0; j <= n; j++) {
			size_t k = i + j;
			double from_x = i > 0 ? reached[j] * (double)i : 0;
			double from_y = j > 0 ? reached[j - 1] * (double)j : 0;
			bool ends = k == all.count || k == 0 || all.at[k - 1] < all.at[k];

			reached[j] = k == 0 ? 0 : (from_x + from_y) / (double)k;
			if (ends && (long)(j * m) - (long)(i * n) >= reach)
				reached[j] = 1;
		}
	p = reached[n];
	free(reached);
	free(all.at);
	return p;
}

double
p_greater(enum test test, struct sample x, struct sample y)
{
	if (test == KOLMOGOROV)
		return kolmogorov_smirnov(x, y);
	return test == WILCOXON && is_exact(x, y) ? exact_wilcoxon(x, y) : normal_wilcoxon(x, y);
}

double
least_p(enum test test, size_t count)
{
	double n = (double)count;

	if (test == NORMAL || (test == WILCOXON && count >= EXACT_BELOW))
		return 0.5 * erfc((n * n - 1) / 2 / sqrt(n * n * (2 * n + 1) / 12) / sqrt(2));
	return 1 / ways_to_choose(count, count);
}

struct ranked_p {
	double p;
	size_t index;
};

ORDER(by_p, struct ranked_p, BY(p) BY(index))

void
correct(enum correction correction, const double *p, double *adjusted, size_t count)
{
	struct ranked_p *order = zalloc(count, sizeof *order);
	double bound = correction == HOLM ? 0 : 1;

	for (size_t i = 0; i < count; i++)
		order[i] = (struct ranked_p){ p[i], i };
	SORT(order, count, by_p);
	for (size_t i = 0; i < count; i++) {
		/*
		 * Holm steps down from the least p [S], Benjamini and Hochberg up from the greatest
		 * [B].
		 */
		size_t k = correction == HOLM ? i : count - 1 - i;
		const struct ranked_p *at = &order[k];

		if (correction == HOLM)
			bound = fmin(1, fmax(bound, at->p * (double)(count - k)));
		else if (correction == BENJAMINI_HOCHBERG)
			bound = fmin(bound, at->p * (double)count / (double)(k + 1));
		else
			bound = at->p;
		adjusted[at->index] = bound;
	}
	free(order);
}

/* Index of the sorted difference that bounds the interval: U leaves as many outside. */
static size_t
outside(struct sample x, struct sample y, double confidence)
{
	double share = (1 - confidence) / 2, below = 0, *p;
	size_t pairs = x.count * y.count, u = 0;

	if (is_exact(x, y)) {
		p = u_distribution(x.count, y.count);
		while ((below += p[u]) < share)
			u++;
		free(p);
	} else {
		double deviation = u_deviation(x, y, ties(x, y)), z = 0;

		for (double step = 4; step > 1e-9; step /= 2)	/* share lies above z */
			if (0.5 * erfc((z + step) / sqrt(2)) > share)
				z += step;
		u = (size_t)fmax(0, floor((double)pairs / 2 - z * deviation));
	}
	return u > 0 ? u : 1;
}

struct effect
hodges_lehmann(struct sample x, struct sample y, double confidence)
{
	struct sample all = { zalloc(x.count * y.count, sizeof *all.at), x.count * y.count };
	size_t out = outside(x, y, confidence);
	struct effect effect;

	for (size_t i = 0; i < x.count; i++)
		for (size_t j = 0; j < y.count; j++)
			all.at[i * y.count + j] = x.at[i] - y.at[j];
	effect.shift = median(all);
	effect.low = all.at[out - 1];
	effect.high = all.at[all.count - out];
	free(all.at);
	return effect;
}

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
