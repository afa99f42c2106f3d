/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Are events regular, or might each chance have been one? Gaps are the numbers of chances from one
 * event to the next.
 */
#ifndef REGULAR_H
#define REGULAR_H

#include <stdint.h>

/* Below this probability events are regular. */
#define MOST_CHANCE 1e-3

struct gaps {
	uint64_t count, total, least, most;	/* of those above 0 */
	double logs;
};

void gaps_add(struct gaps *gaps, uint64_t gap);
/*
 * The probability that the gaps are so alike if each chance is equally likely to be an event:
 * Bartlett's test of exponential intervals (Proc. R. Soc. A 160 (1937)), whose statistic is scaled
 * by its expectation for whole numbers. Gaps of 0 do not count: in a random sequence in which each
 * call depends on the one before, the others are geometric, too.
 */
double gaps_chance(const struct gaps *gaps);
/* The lower tail of chi-square (Wilson and Hilferty, PNAS 17 (1931)). */
double chi_square_below(double x, double freedom);
/* How unequal they are: the logarithm of their mean less the mean of their logarithms. */
double gaps_spread(const struct gaps *gaps);

#endif
