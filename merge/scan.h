/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a raw trace, one by one, into what is known of its rank. */
#ifndef SCAN_H
#define SCAN_H

#include "merge.h"

/* What is known of the raw trace being read. */
struct scan {
	struct input *input;
	struct reader *in;
	const char *file;	/* lives as long as the process */
	struct rank *rank;	/* NULL until the message of kind rank */
	uint64_t messages;	/* of this raw trace so far */
	uint64_t traces;	/* of this file so far */
	struct calls calls;		/* a block, where it is read */
	bool again;		/* messages that a process has kept, which were good */
};

/* 0, or -1 with the reason in the reader. Kinds that are not known are passed over. */
int scan_message(struct scan *scan, const struct message *message);

#endif
