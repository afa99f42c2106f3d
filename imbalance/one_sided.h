/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of one-sided communication, which has no edges but those of MPI_Win_post to MPI_Win_wait: who
 * holds a lock, whose memory was accessed when, and when a target made a call. Calls come here in order
 * of their leaves.
 */
#ifndef ONE_SIDED_H
#define ONE_SIDED_H

#include "imbalance.h"

void one_sided_begin(struct imbalance *im);
/* A window is defined: from now on it is kept when ranks are in calls. */
void one_sided_window(struct imbalance *im);
/* The call is counted. */
void one_sided_count(struct imbalance *im, const struct whole_call *call);
/* Nobody will ask for what was before AT, when the last one entered the last call of each. */
void one_sided_forget(struct imbalance *im, int64_t at_ns);
/* No lock is held, so that what was before has no part in what comes. */
bool one_sided_is_clear(const struct imbalance *im);

/* Each adds to the COUNT waits of the call, or divides the first, and returns how many there are. */
int passive_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS]);
int fence_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS],
    int count);
int exposure_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS]);

#endif
