/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which calls are counted: stretch by stretch of the run, in each by their leaves, then their
 * locations. A stretch ends with a global synchronisation point (trace.5, sync), whose own calls are its last:
 * no message, no request and no wait reaches from one stretch into another. So what is known of a stretch is
 * forgotten at its end, and how the next one is counted depends on nothing before but windows that are still
 * locked (one_sided_is_clear) and when each location left the point.
 */
#ifndef ORDER_H
#define ORDER_H

#include "imbalance.h"

void order_begin(struct imbalance *im);
/* Messages of these kinds: calls that are certain now are counted. */
void order_settled(struct imbalance *im, const struct message *message);
void order_sync(struct imbalance *im, const struct message *message);
/* Such a point, with which a part of the run begins that is read alone: counting begins behind its calls. */
void order_start(struct imbalance *im, const struct message *message);
/* All the rest. */
void order_end(struct imbalance *im);

/* count.c */
void count_call(struct imbalance *im, const struct whole_call *call);

#endif
