/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 comes late to a barrier: by its own library, or by a program without debug information. */
#include "planted.h"

#ifdef LIBRARY
void
library_part(void)
{
	compute(SLOW_S);
}
#else
void library_part(void);

static void own_library(void) { late_steps(library_part); }
static void no_lines(void) { late_steps(slow_part); }

int
main(int argc, char **argv)
{
	static const struct planted cases[] = { CASE(own_library), CASE(no_lines) };

	return RUN(cases, argc, argv);
}
#endif
