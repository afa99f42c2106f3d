/* SPDX-License-Identifier: BSD-3-Clause */
/* The paper's kind of figure as a gnuplot script with its data. */
#include <math.h>

#include "analysis.h"

void
print_gnuplot(const struct analysis *a)
{
	(void)a;
}
