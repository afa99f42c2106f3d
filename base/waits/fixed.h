/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixed-point sums of fractions of nanoseconds: the same in any order and any number of parts. They
 * have 64 bits of whole nanoseconds (292 years over all ranks) and 32 bits of fraction. Each number
 * is cut to 2^-32 ns when it is added; after that nothing is rounded.
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

/* MORE_NS is from 0 to below 2^63. */
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
