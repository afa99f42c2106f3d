/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: intervals of a thread to which the program gives a name. */
#ifndef REGIONS_H
#define REGIONS_H

#include "recorder.h"

void region_begin(const char *name);
/* Ends that region and those within it; NULL: the innermost one. */
void region_end(const char *name);
/* Recording has begun, at INIT_NS: the thread's earlier regions begin then. */
void regions_start(int64_t init_ns);
void regions_stop(void);		/* it ends */

#endif
