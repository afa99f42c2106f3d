/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages in wrong order: a receive that waited although another message, received after it, had been sent
 * before. So the last late messages of each location are remembered, with what has been counted of their waits.
 * A call that completes several requests, or a receive of any message, had no other order to choose; with
 * every_order they count, too, as Scalasca counts them.
 */
#ifndef LATE_H
#define LATE_H

#include "imbalance.h"

struct late {
	int64_t sent_ns;		/* when the send was entered */
	int64_t direct_ns, indirect_ns;	/* of it, as counted under its state */
	uint32_t origin;		/* the wait, whose cause is who sent the message */
	uint32_t comm;
	uint16_t call;
	bool explained;
};

void late_begin(struct imbalance *im);
/* Rows have been settled and calls counted: what no receive to come can change is not remembered any more. */
void late_settle(struct imbalance *im);
/* All that is remembered is certain. */
void late_forget(struct imbalance *im);
void late_remember(struct imbalance *im, const struct wait *wait, int64_t sent_ns);
/* A message was received: waits for those that were sent after it are of another state. */
void late_check(struct imbalance *im, uint32_t location, const struct wait_row *receive);
/* The wait, where it may still turn out to be of another state and was not asked for before; or NULL. */
struct late *late_of(struct imbalance *im, const struct wait *wait);

#endif
