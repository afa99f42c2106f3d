/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two-sample tests, their correction, and effect sizes. Sources:
 *   [W]  F. Wilcoxon, Biometrics Bulletin 1 (1945); Mann and Whitney, Ann. Math. Stat. 18 (1947)
 *   [L]  E. L. Lehmann, Nonparametrics (1975): chapter 1 ties and continuity, chapter 2 the shift
 *   [H]  J. L. Hodges, Arkiv foer Matematik 3 (1958): exact Kolmogorov-Smirnov by counting paths
 *   [S]  S. Holm, Scand. J. Stat. 6 (1979)
 *   [B]  Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57 (1995)
 *   [P]  F. Wilcoxon, 1945, and Lehmann, chapters 3 and 4: signed ranks, and the shift of pairs
 *   [T]  J. W. Tukey, Exploratory Data Analysis (1977): fences
 *   [F]  R. A. Fisher, The Design of Experiments (1935)
 *   [G]  E. J. G. Pitman, Suppl. J. R. Stat. Soc. 4 (1937);
 *        J. A. Hartigan, J. Am. Stat. Ass. 64 (1969)
 *   [D]  M. Dwass, Ann. Math. Stat. 28 (1957): a sample of the ways
 *   [S2] P. K. Sen, J. Am. Stat. Ass. 63 (1968)
 *   [M]  P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing (1993), algorithm 4.1
 */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample {
	double *at;
	size_t count;
};

/* These sort the sample. */
double median(struct sample sample);
/* The fences lie 1.5 quartile distances outside the quartiles [T]. */
void fences(struct sample sample, double *low, double *high);
struct sample within_fences(struct sample sample);
/* The distance of the quartiles; the sample must be sorted. */
double quartile_distance(struct sample sorted);
/* R's type 7: interpolates between the order statistics at (n - 1) SHARE. */
double quantile_of(struct sample sorted, double share);
/* 1.4826 times the median distance from the median: a standard deviation that ignores outliers. */
double robust_deviation(struct sample sample);
double normal_quantile(double p);

/* Both in one, sorted; free() it. */
struct sample pooled(struct sample x, struct sample y);
double mean(struct sample sample);
double standard_deviation(struct sample sample);

enum test {
	WILCOXON,	/* exact below 50 values a side without ties, otherwise normal, as in R */
	NORMAL,		/* always the normal approximation, as in PGMPI */
	KOLMOGOROV,	/* exact, one-sided */
};

/* From this number of values a side Wilcoxon's test uses the normal approximation, as in R. */
enum { EXACT_BELOW = 50 };

/* One-sided p: how likely x exceeds y by so much if both have the same distribution. */
double p_greater(enum test test, struct sample x, struct sample y);

double kolmogorov_smirnov(struct sample x, struct sample y);

enum correction { HOLM, BENJAMINI_HOCHBERG, NO_CORRECTION };

/* Adjusts each p for COUNT tests. */
void correct(enum correction correction, const double *p, double *adjusted, size_t count);

/* The least p that the test can reach with COUNT distinct values a side. */
double least_p(enum test test, size_t count);

/*
 * The distance of normal samples of M and N values, in standard deviations, that
 * Wilcoxon's two-sided test at this level detects with probability POWER; NaN: none.
 */
double detectable_shift(size_t m, size_t n, double level, double power);
/* The same for the one-sided test of N differences of pairs: the distance of their mean from 0. */
double detectable_pairs(size_t n, double level, double power);

struct effect {
	double shift;		/* median of all differences x - y [L] */
	double low, high;	/* confidence interval */
};
struct effect hodges_lehmann(struct sample x, struct sample y, double confidence);

/*
 * One-sided p for differences of pairs: how likely values are so great if they are symmetric about
 * CENTRE. Exact below 50 without ties or zeros [P].
 */
double p_above(struct sample differences, double centre);
double least_p_above(size_t count);
/* The median of the means of all two differences, and its interval [P]. */
struct effect centre_of(struct sample differences, double confidence);

/* The median slope of all two points, and its interval [S2]: few outliers do not change it. */
struct effect theil_sen(const double *x, const double *y, size_t count, double confidence);

/* ---- permutation.c: chance, and sides of runs ------------------------------------------- */

/*
 * splitmix64: G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014. The small numbers below LIMIT are too
 * likely by less than 10^-15.
 */
struct random {
	uint64_t state;
};
size_t random_below(struct random *random, size_t limit);
/* The numbers below COUNT in a random order: R. Durstenfeld, CACM 7 (1964), inside out. */
void random_order(struct random *random, size_t *order, size_t count);

/* The number of ways to choose A of A + B runs. */
double ways_to_choose(size_t a, size_t b);

/* One way to assign the runs to the sides. */
struct way {
	uint32_t *others;		/* the runs on the other side from run 0 */
	size_t count, changed;		/* of others; runs of B that it moves to A */
	double sign;			/* turns the sum over others into that over side B */
};
struct relabelling {
	size_t runs, in_b, ways;
	struct way real, *way;
};
/* All ways, or about 4000 at random, always the same. REAL[i]: run i is of B; no side is empty. */
struct relabelling relabel(const bool *real, size_t runs);
/*
 * By how much the mean of B is greater, and the two-sided p: at most 1 - CONFIDENCE if the interval
 * excludes 0.
 */
struct effect permuted_shift(const struct relabelling *relabelling, const double *values,
    double confidence, double *p);
/*
 * Adjusts the p of TESTS, each with one value per run, by the maximum t over tests in each way,
 * stepping down [M]. Returns the t to exceed at this level; infinity: no t suffices.
 */
double max_t(const struct relabelling *relabelling, const double *values, size_t tests,
    double level, double *adjusted);

#endif
