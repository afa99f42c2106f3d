/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BANDS_H
#define BANDS_H

#include "solve.h"

struct band {
	double low, high;
};

/* 95 % bands by the profile over f; t and tau at some n. */
struct bands {
	struct band f, b, c, best_n;
	struct band *t, *tau;
	bool open;		/* f reaches the last value tried */
};

/* Of BEST, in which VARIED parameters were fitted. */
void bands_find(const struct problem *problem, const struct solution *best, unsigned varied,
    const double *n, size_t count, struct bands *bands);

#endif
