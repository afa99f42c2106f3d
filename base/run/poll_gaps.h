/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a thread sleep between polls that find nothing? As measured: lp-trace(5), poll_gaps. */
#ifndef POLL_GAPS_H
#define POLL_GAPS_H

#include "../stream/stream.h"

struct poll_gaps {
	uint32_t location, site;	/* of the poll after the gap, which found nothing */
	int64_t count, apart_ns, awake_ns;
};

/* 0, or -1 with the reason in the reader. */
int poll_gaps_read(struct poll_gaps *gaps, struct reader *in, const struct message *message);
/* By location, then site, for qsort. */
int poll_gaps_order(const void *left, const void *right);

#endif
