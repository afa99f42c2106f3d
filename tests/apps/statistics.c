/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the statistics with R's answers: "R.txt" on standard input, a case in three lines
 *   x VALUE...   y VALUE...   r greater less two.sided normal.greater shift low high ks.greater
 * ("-" where R has none), one of pairs in two
 *   x DIFFERENCE...   s CENTRE p shift low high
 * or a correction in three
 *   p none P...   p holm P...   p BH P...
 * Prints the largest relative differences. R computes the Kolmogorov-Smirnov p as 1 minus a value,
 * so only its digits before the 12th count.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/statistics/statistics.h"
#include "../../base/tool/tool.h"

static void
compare(double ours, const char *theirs, double *worst)
{
	double r = atof(theirs), difference = fabs(ours - r) / fabs(r);

	if (strcmp(theirs, "-") != 0 && !(difference <= *worst))
		*worst = difference;
}

/* Compares with R's corrected values, in the same order. */
static void
compare_correction(struct sample p, enum correction correction, struct sample theirs, double *worst)
{
	double ours[100];

	correct(correction, p.at, ours, p.count);
	for (size_t i = 0; i < p.count; i++)
		*worst = fmax(*worst, fabs(ours[i] - theirs.at[i]) / theirs.at[i]);
}

static struct sample
numbers(char *text)
{
	struct sample s = { zalloc(100, sizeof *s.at), 0 };

	for (char *word = strtok(text, " \n"); word != NULL; word = strtok(NULL, " \n"))
		s.at[s.count++] = atof(word);
	return s;
}

int
main(void)
{
	static char line[8192];
	struct sample x = { 0 }, y = { 0 }, p = { 0 };
	double worst_p = 0, worst = 0, worst_ks = 0;
	int cases = 0, pairs = 0, corrections = 0;

	while (fgets(line, sizeof line, stdin) != NULL)
		if (line[0] == 'x')
			x = numbers(line + 1);
		else if (line[0] == 'y')
			y = numbers(line + 1);
		else if (line[0] == 'r') {
			double greater = p_greater(WILCOXON, x, y),
			    less = p_greater(WILCOXON, y, x);
			struct effect effect = hodges_lehmann(x, y, 0.95);
			char r[8][40];

			if (sscanf(line + 1, "%39s %39s %39s %39s %39s %39s %39s %39s", r[0], r[1],
			    r[2], r[3], r[4], r[5], r[6], r[7]) != 8)
				return 2;
			compare(greater, r[0], &worst_p);
			compare(less, r[1], &worst_p);
			compare(fmin(1, 2 * fmin(greater, less)), r[2], &worst_p);
			compare(p_greater(NORMAL, x, y), r[3], &worst_p);
			compare(effect.shift, r[4], &worst);
			compare(effect.low, r[5], &worst);
			compare(effect.high, r[6], &worst);
			if (strcmp(r[7], "-") != 0)
				worst_ks = fmax(worst_ks,
				    fabs(p_greater(KOLMOGOROV, x, y) - atof(r[7])));
			cases++;
		} else if (line[0] == 's') {
			char r[5][40];
			struct effect effect;

			if (sscanf(line + 1, "%39s %39s %39s %39s %39s", r[0], r[1], r[2],
			    r[3], r[4]) != 5)
				return 2;
			compare(p_above(x, atof(r[0])), r[1], &worst_p);
			effect = centre_of(x, 0.95);
			/* near 0 a relative difference means nothing */
			if (strcmp(r[2], "-") != 0) {
				worst = fmax(worst, fabs(effect.shift - atof(r[2])));
				worst = fmax(worst, fabs(effect.low - atof(r[3])));
				worst = fmax(worst, fabs(effect.high - atof(r[4])));
			}
			pairs++;
		} else if (strncmp(line, "p none", 6) == 0) {
			p = numbers(line + 6);
			corrections++;
		} else if (strncmp(line, "p holm", 6) == 0)
			compare_correction(p, HOLM, numbers(line + 6), &worst);
		else if (strncmp(line, "p BH", 4) == 0)
			compare_correction(p, BENJAMINI_HOCHBERG, numbers(line + 4), &worst);
	printf("%d cases, %d corrections, %d of pairs; p within %.1e, effects and corrections "
	    "within %.1e, Kolmogorov-Smirnov within %.1e\n", cases, corrections, pairs, worst_p,
	    worst, worst_ks);
	return worst_p < 1e-10 && worst < 1e-10 && worst_ks < 1e-12 ? 0 : 1;
}
