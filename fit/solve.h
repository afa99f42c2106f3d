/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVE_H
#define SOLVE_H

#include "fit.h"

/* What was measured at some n: t, the useful time t - tau, or the share tau/t. */
struct observation {
	enum { OF_TIME, OF_USEFUL, OF_SHARE } what;
	double n, value;
	double scale;			/* of its residual */
};

struct problem {
	struct observation *observed;	/* those of a kind by n, which does not fall */
	size_t count;
	size_t measured;		/* values that they are made of */
	double rest;			/* of the sum of squares: what no curve changes */
	enum residuals residuals;
	bool has_useful;	/* then f and g are not interchangeable */
	double n_max, t_max;
};

struct solution {
	struct curve at;
	double sum;			/* of squared residuals */
	unsigned free;			/* bit p: parameter p was free, and not at a bound */
	double covariance[PARAMETERS][PARAMETERS];	/* not scaled: inverse of J'J */
};

enum { FREE_F = 1 << F, FREE_G = 1 << LOG_G, FREE_R = 1 << R, FREE_T1 = 1 << LOG_T1 };

/* Equation 1 on the share of the runs that have a tau. */
struct problem share_problem(const struct run *runs, size_t count);
/* Equation 6 on t, and equation 4 on the useful time of the runs that have a tau. */
struct problem time_problem(const struct run *runs, size_t count, enum residuals residuals);
/* At most about COARSE observations of the same: for searching. */
enum { COARSE = 64 };
struct problem coarse_problem(const struct problem *problem);
void problem_free(struct problem *problem);

double sum_of_squares(const struct problem *problem, const struct curve *at);
/* From one start, VARIED parameters. Bounded: what would leave the box stays on its side. */
bool solve_from(const struct problem *problem, struct curve start, unsigned varied, bool bounded,
    struct solution *solution);
/* The best of many starts in the box; f <= g. AT gives the parameters that are not free. */
bool solve_best(const struct problem *problem, struct curve at, unsigned varied,
    struct solution *solution);
/* Asymptotic standard errors of f, b, c with so many degrees of freedom. */
void standard_errors(const struct solution *solution, double ndf, double *f_se, double *b_se,
    double *c_se);

#endif
