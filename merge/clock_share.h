/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of a run that several processes merge. */
#ifndef CLOCK_SHARE_H
#define CLOCK_SHARE_H

#include "../base/team/team.h"
#include "merge.h"

/* What messages tell of clocks and order has been worked out by the first of the team; now all know it. */
void share_clocks(struct input *input, const struct team *team);

#endif
