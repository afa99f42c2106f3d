/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: intervals of a thread to which the program gives a name. */
#ifndef REGIONS_H
#define REGIONS_H

#include "recorder.h"

void region_begin(const char *name);
/* Ends that region and those within it; NULL: the innermost one. */
void region_end(const char *name);
/*
 * MPI_Pcontrol: LEVEL of 5 or more begins a region of that number, and -LEVEL ends it. 1 and NAME
 * begin a region, as IPM has it, and -1 and NAME end it. But the caller may have given no name:
 * such a region counts only if it is ended so, too.
 */
void region_by_level(int level, const char *name);
/* Recording has begun, at INIT_NS: the thread's earlier regions begin then. */
void regions_start(int64_t init_ns);
void regions_stop(void);		/* it ends */

#endif
