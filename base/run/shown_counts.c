/* SPDX-License-Identifier: BSD-3-Clause */
#include "shown_counts.h"

#include <math.h>

void
counts_add(struct shown_counts *to, const struct shown_counts *more)
{
	to->on_core_ns += more->on_core_ns;
	for (int c = 0; c < COUNTERS; c++)
		to->of[c] += more->of[c];
}

double
count_ratio(double count, double to)
{
	return count > 0 && to > 0 ? count / to : NAN;
}

void
counts_show(struct shown_counts *counts, const bool known[COUNTERS], bool switched)
{
	const double cycles = (double)counts->of[COUNT_cycles];

	if (!switched)
		counts->on_core_ns = -1;
	counts->cycles_per_instruction = count_ratio(cycles,
	    (double)counts->of[COUNT_instructions]);
	counts->clock_hz = count_ratio(cycles, 1e-9 * (double)counts->on_core_ns);
	for (int c = 0; c < COUNTERS; c++)
		if (!known[c])
			counts->of[c] = -1;
}
