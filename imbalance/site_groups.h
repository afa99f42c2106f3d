/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SITE_GROUPS_H
#define SITE_GROUPS_H

#include "imbalance.h"

/*
 * Sites of one name are one: a compiler may make several of a line, each for other ranks. Each is told by
 * the lowest of them.
 */
struct site_groups {
	uint32_t *of;			/* by site */
	int64_t **compute_ns;		/* by group, then rank; NULL: nothing */
	size_t count;
};

struct site_groups site_groups(const struct imbalance *im);
void site_groups_free(struct site_groups *groups);

#endif
