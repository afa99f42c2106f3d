/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of pairs by signed ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "statistics.h"


struct ranked {
	double size;		/* distance from the centre */
	bool above;
};

ORDER(by_size, struct ranked, BY(size))

double *
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

/* The rank sum of positive differences; zeros are left out, ties have their mean rank. */
static double
rank_sum(struct ranked *at, size_t count, double *variance, bool *has_ties)
{
	double n = (double)count, sum = 0;

	SORT(at, count, by_size);
	*variance = n * (n + 1) * (2 * n + 1) / 24;
	for (size_t i = 0, end; i < count; i = end) {
		double t;

		for (end = i + 1; end < count && !(at[end].size > at[i].size); end++)
			;
		t = (double)(end - i);
		*variance -= (t * t * t - t) / 48;
		*has_ties |= t > 1;
		for (size_t k = i; k < end; k++)
			sum += at[k].above ? (double)(i + 1 + end) / 2 : 0;
	}
	return sum;
}

double
p_above(struct sample d, double centre)
{
	struct ranked *at = zalloc(d.count, sizeof *at);
	size_t count = 0;
	bool has_ties = false;
	double sum, variance, p = 0;

	for (size_t i = 0; i < d.count; i++)
		if (d.at[i] > centre || d.at[i] < centre)
			at[count++] = (struct ranked){ fabs(d.at[i] - centre), d.at[i] > centre };
	sum = rank_sum(at, count, &variance, &has_ties);
	free(at);
	if (count == 0)
		return 1;
	if (count < EXACT_BELOW && count == d.count && !has_ties) {
		double *share = rank_distribution(count);

		for (size_t s = count * (count + 1) / 2 + 1; s-- > (size_t)sum; )
			p += share[s];
		free(share);
		return fmin(p, 1);
	}
	if (!(variance > 0))
		return 1;
	sum -= (double)count * (double)(count + 1) / 4;
	return 0.5 * erfc((sum - 0.5) / sqrt(variance) / sqrt(2));
}

double
least_p_above(size_t count)
{
	double n = (double)count;

	return count < EXACT_BELOW ? pow(0.5, n) :
	    0.5 * erfc((n * (n + 1) / 4 - 0.5) / sqrt(n * (n + 1) * (2 * n + 1) / 24) / sqrt(2));
}

/* How many of the sorted means lie outside the interval on each side. */
static size_t
outside(size_t n, double confidence)
{
	double share = (1 - confidence) / 2, below = 0, *p;
	size_t u = 0;

	if (n >= EXACT_BELOW) {
		double deviation = sqrt((double)n * ((double)n + 1) * (2 * (double)n + 1) / 24);

		return (size_t)fmax(1, floor((double)n * ((double)n + 1) / 4 -
		    normal_quantile(1 - share) * deviation));
	}
	p = rank_distribution(n);
	while ((below += p[u]) < share)
		u++;
	free(p);
	return u > 0 ? u : 1;
}

struct effect
centre_of(struct sample d, double confidence)
{
	struct sample means = { zalloc(d.count * (d.count + 1) / 2, sizeof *means.at), 0 };
	size_t out = outside(d.count, confidence);
	struct effect effect;

	for (size_t i = 0; i < d.count; i++)
		for (size_t j = 0; j <= i; j++)
			means.at[means.count++] = (d.at[i] + d.at[j]) / 2;
	effect.shift = median(means);
	effect.low = means.at[out - 1];
	effect.high = means.at[means.count - out];
	free(means.at);
	return effect;
}
