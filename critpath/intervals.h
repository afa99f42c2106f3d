/* SPDX-License-Identifier: BSD-3-Clause */
/* What a location computes between two calls. */
#ifndef INTERVALS_H
#define INTERVALS_H

#include "solvers.h"

struct interval {
	int64_t begin_ns, end_ns;
	uint32_t location;
	uint32_t site;		/* of the call that ends it */
	int64_t call_enter_ns;	/* of the call before it */
	uint32_t call_site;
	uint16_t call;		/* index of call_name; 0: there is none before it */
	uint8_t kind;		/* COMPUTE or START */
};

struct intervals {
	struct interval *at;
	size_t count, capacity;
};

/* The call that a stretch ends in. */
struct ending {
	int64_t end_ns, enter_ns;
	uint64_t intervals;		/* how many come with it, where it is sent on */
	uint32_t location, site;
	uint16_t call;
};

void add_interval(struct intervals *intervals, struct interval interval);
/* What a location computes in the stretch, in order of time. */
void add_intervals(struct intervals *intervals, const struct stretch *stretch, uint32_t location);
/* One sorted array from ARRAYS sorted ones; they begin at BOUNDS, which has room for 2 more. */
void merge_intervals(struct intervals *intervals, size_t *bounds, size_t arrays);
/* Appends the path through all groups from BEGIN_NS to the end. */
void connect_groups(const struct intervals *intervals, int64_t begin_ns, const struct ending *ending,
    struct segments *segments);

#endif
