/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What several processes counted of parts of a run becomes the whole, with the first one. All of it are sums
 * of whole numbers, the largest of something, or the first or last in time, so that it does not matter
 * where the parts begin. Memory: what a part has, and some thousands of its numbers at a time.
 */
#ifndef JOIN_H
#define JOIN_H

#include "../base/team/team.h"
#include "imbalance.h"

/* Each member of the team has counted its im->part, or nothing where that is NULL. */
void join_parts(struct imbalance *im, const struct team *team);

#endif
