/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites of one name. A compiler may make several sites of a line, each for other ranks or
 * steps: the first of them that is met stands for all.
 */
#ifndef SAME_SITE_H
#define SAME_SITE_H

#include "definitions.h"

struct same_sites {		/* begins as zeros */
	uint32_t *first;	/* by site: 1 + the one that stands for it; 0: not met */
	size_t capacity;
	struct site_names *names;
};

/* A site without a name stands for itself. */
uint32_t first_of_name(struct same_sites *sites, const struct definitions *known, uint32_t site);
/* Is one of them the other, or of the same name? */
bool is_same_site(const struct definitions *known, uint32_t site, uint32_t other);

#endif
