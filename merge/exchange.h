/* SPDX-License-Identifier: BSD-3-Clause */
/* The survey by several processes. */
#ifndef MERGE_EXCHANGE_H
#define MERGE_EXCHANGE_H

#include "../base/team/team.h"
#include "merge.h"

/*
 * The first pass over all files, each by one of the team; then all know what each of them found, in the
 * order in which one process would have found it.
 */
void survey(struct input *input, const struct team *team);

#endif
