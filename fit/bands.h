/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BANDS_H
#define BANDS_H

#include "solve.h"

struct band {
	double low, high;
};

/* 95 % bands of equation 6, by bootstrap; t and tau at some n. */
struct bands {
	struct band f, b, c, best_n;
	struct band *t, *tau;
};

/* The f with S(f) < S_min (1 + 4/ndf), b, c and t_1 fitted anew at each. */
struct profile {
	struct band f;
	bool open;		/* it reaches the last f tried */
};

/* VARIED as in the fit. A t_1 that was measured is drawn anew like the other times. */
void bands_find(const struct problem *problem, const struct solution *best, unsigned varied,
    const double *n, size_t count, struct bands *bands);
struct profile profile_f(const struct problem *problem, const struct solution *best);

/* The geometric mean of the runs on one core; NAN where there are none. */
double measured_t1(const struct run *runs, size_t count);

#endif
