/* SPDX-License-Identifier: BSD-3-Clause */
#include "guidelines.h"

bool
mend(const struct campaign *c, const struct verdict *v, const struct rules_of_judging *rules,
    const char *file, const char *mpirun)
{
	(void)c; (void)v; (void)rules; (void)file; (void)mpirun;
	return false;
}
