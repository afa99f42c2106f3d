/* SPDX-License-Identifier: BSD-3-Clause */
/* What a location computes between two calls. */
#ifndef INTERVALS_H
#define INTERVALS_H

#include "critpath.h"

struct interval {
	int64_t begin_ns, end_ns;
	uint32_t location;
	uint32_t site;		/* of the call that ends it */
	int64_t call_enter_ns;	/* of the call before it */
	uint32_t call_site;
	uint16_t call;		/* index of call_info; 0: there is none before it */
};

struct intervals {
	struct interval *at;
	size_t count, capacity;
};

void add_interval(struct intervals *intervals, struct interval interval);

#endif
