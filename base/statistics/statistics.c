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

double
quantile_of(struct sample sorted, double share)
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
	return quantile_of(s, 0.5);
}

double
quartile_distance(struct sample sorted)
{
	return quantile_of(sorted, 0.75) - quantile_of(sorted, 0.25);
}

void
fences(struct sample s, double *low, double *high)
{
	double reach;

	sort(s);
	reach = 1.5 * quartile_distance(s);
	*low = quantile_of(s, 0.25) - reach;
	*high = quantile_of(s, 0.75) + reach;
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
robust_deviation(struct sample s)
{
	struct sample off = pooled(s, (struct sample){ s.at, 0 });
	double centre = quantile_of(off, 0.5), result;

	for (size_t i = 0; i < s.count; i++)
		off.at[i] = fabs(off.at[i] - centre);
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

struct sample
pooled(struct sample x, struct sample y)
{
	struct sample all = { zalloc(x.count + y.count, sizeof *all.at), x.count + y.count };

	memcpy(all.at, x.at, x.count * sizeof *x.at);
	memcpy(all.at + x.count, y.at, y.count * sizeof *y.at);
	sort(all);
	return all;
}

/*
 * One-sided Kolmogorov-Smirnov: x is greater where its distribution function lies below y's. The
 * share of all paths of the pooled values from (0, 0) to (m, n) that reach this distance [H].
 * Distances count only at the end of a group of equal values. In units of 1/(mn).
 */
double
kolmogorov_smirnov(struct sample x, struct sample y)
{
	struct sample all = pooled(x, y);
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
		/* Holm steps down from the least p [S], the other up from the greatest [B]. */
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
