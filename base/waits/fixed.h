/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of fractions of nanoseconds that come out the same in whatever order and in however many
 * parts they are added up: fixed point, 64 bits of nanoseconds (292 years, of all ranks together)
 * and 32 bits behind the point. Each number is cut to 2^-32 ns when it comes; from then on nothing
 * is rounded.
 */
#ifndef FIXED_H
#define FIXED_H

#include <stdint.h>

static inline void
fixed_add(int64_t *ns, uint32_t *fraction, int64_t more_ns, uint32_t more_fraction)
{
	const uint64_t sum = (uint64_t)*fraction + more_fraction;

	*fraction = (uint32_t)sum;
	*ns = (int64_t)((uint64_t)*ns + (uint64_t)more_ns + (sum >> 32));
}

/* Not negative, and less than 2^63. */
static inline void
fixed_add_double(int64_t *ns, uint32_t *fraction, double more_ns)
{
	const int64_t whole_ns = (int64_t)more_ns;

	fixed_add(ns, fraction, whole_ns, (uint32_t)((more_ns - (double)whole_ns) * 0x1p32));
}

static inline double
fixed_ns(int64_t ns, uint32_t fraction)
{
	return (double)ns + (double)fraction * 0x1p-32;
}

#endif
