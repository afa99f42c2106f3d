/* SPDX-License-Identifier: BSD-3-Clause */
/* How far an approximate path is from the exact one: for how much of the time both name the same. */
#ifndef DISTANCE_H
#define DISTANCE_H

#include "../base/path/stretch.h"

struct distance {
	bool wanted;
	int64_t all_ns;			/* of the exact path */
	int64_t same_rank_ns;		/* both lie on the same rank */
	int64_t same_site_ns;		/* and lead up to or lie in the same call site */
};

/* Adds a stretch whose approximate path is SEGMENTS. */
void distance_add(struct distance *distance, const struct stretch *stretch, const struct definitions *known,
    const struct segments *segments);
double distance_share(const struct distance *distance, int64_t same_ns);

#endif
