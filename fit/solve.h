/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVE_H
#define SOLVE_H

#include "fit.h"

/* A least-squares problem: t, and where tau_weight is above 0 also tau, of some runs. */
struct problem {
	const struct run *runs;
	size_t count;
	enum residuals residuals;
	bool share_alone;	/* equation 1 on tau/t; else equation 6 on t */
	double tau_weight;	/* of a residual of tau beside one of t; 0: tau is not used */
};

struct solution {
	struct curve at;
	double sum;			/* of squared residuals */
	size_t residuals;		/* their number */
	unsigned free;			/* bit p: parameter p was free, and not at a bound */
	double covariance[PARAMETERS][PARAMETERS];	/* not scaled: inverse of J'J */
};

enum { FREE_F = 1 << F, FREE_G = 1 << LOG_G, FREE_R = 1 << R, FREE_T1 = 1 << LOG_T1 };

size_t residual_count(const struct problem *problem);
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
