/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the ranks of a run in progress have come: a message of kind reached. */
#ifndef REACHED_H
#define REACHED_H

#include "../stream/stream.h"

struct reached {
	int64_t at_ns;
	int64_t *since_ns;	/* by location: the enter of its current call, or at_ns */
	uint16_t *call;		/* index of call_name; 0: none */
};

/* For COUNT locations. Bad input ends the tool. */
void reached_read(struct reached *reached, struct reader *in, const struct message *message,
    uint32_t count);
void reached_free(struct reached *reached);

#endif
