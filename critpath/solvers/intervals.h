/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by intervals, an approximation: see intervals.c. */
#ifndef INTERVALS_H
#define INTERVALS_H

#include "../../base/path/solvers/solvers.h"

bool solve_intervals(const struct stretch *stretch, struct segments *segments);

/* Computation of a location between two calls. */
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
	uint64_t intervals;		/* number of intervals sent with it */
	uint32_t location, site;
	uint16_t call;
};

void add_interval(struct intervals *intervals, struct interval interval);
/* Adds the location's intervals in the stretch, in order of time. */
void add_intervals(struct intervals *intervals, const struct stretch *stretch, uint32_t location);
/* Merges ARRAYS sorted arrays into one; they begin at BOUNDS, which has room for 2 more. */
void merge_intervals(struct intervals *intervals, size_t *bounds, size_t arrays);
/* Appends the path through all groups from BEGIN_NS to the end. */
void connect_groups(const struct intervals *intervals, int64_t begin_ns,
    const struct ending *ending, struct segments *segments);

/* The distance of an approximate path from the exact one: for how long both name the same. */
struct distance {
	bool wanted;
	int64_t all_ns;			/* of the exact path */
	int64_t same_rank_ns;		/* both are on the same rank */
	int64_t same_site_ns;		/* and before or in a call at the same site */
};

/* Adds a stretch whose approximate path is SEGMENTS. */
void distance_add(struct distance *distance, const struct stretch *stretch,
    const struct definitions *known, const struct segments *segments);
double distance_share(const struct distance *distance, int64_t same_ns);

#endif
