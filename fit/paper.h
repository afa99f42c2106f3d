/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PAPER_H
#define PAPER_H

#include "solve.h"

/* What the rule sees at one f: b and c fitted to t, with their standard errors. */
struct trial {
	struct solution solution;
	double b_se, c_se;
	double gap;		/* b + b_se - c: the rule wants 0 */
	double worst_se;	/* the larger of b_se/b and c_se/c */
	bool valid;		/* b, c > 0, no pole up to twice the largest n, c > b */
};

enum { MOST_CROSSINGS = 8 };

struct paper_fit {
	struct trial trial;	/* valid: some f passes */
	size_t meets;		/* f where the gap goes through 0 and the standard errors are below 100 % */
	struct trial crossings[MOST_CROSSINGS];
};

/* b and c by equation 6 at a given f, t_1 measured. */
struct trial paper_trial(const struct problem *problem, double f, double t1);
struct paper_fit paper_procedure(const struct problem *problem, double t1);

#endif
