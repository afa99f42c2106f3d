/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans messages of a raw trace, one by one, into the data of its rank. */
#ifndef SCAN_H
#define SCAN_H

#include "merge.h"

/* The raw trace being read. */
struct scan {
	struct input *input;
	struct reader *in;
	const char *file;	/* lives as long as the process */
	struct rank *rank;	/* NULL until the message of kind rank */
	uint64_t messages;	/* of this raw trace so far */
	uint64_t traces;	/* of this file so far */
	struct calls calls;	/* a block, when read */
	bool again;		/* messages that a process has kept after checking them */
};

/*
 * Reads a number that the rank assigns itself, from MIN on. Ranks number almost without gaps, so
 * the number can index an array. Returns 0 or -1.
 */
int own_number(struct scan *scan, const struct message *message, const char *key, int64_t min,
    uint32_t *number);

/* Each returns 0, or -1 with the reason in the reader. */
int scan_communicator(struct scan *scan, const struct message *message);
int scan_module(struct scan *scan, const struct message *message);
int scan_site(struct scan *scan, const struct message *message);
int scan_region_name(struct scan *scan, const struct message *message);
int scan_cores(struct scan *scan, const struct message *message);
/* When the rank died; the open call, in a block or alone. */
int scan_died(struct scan *scan, const struct message *message);
int scan_open(struct scan *scan, const struct message *message, struct thread *thread);
/* Skips unknown kinds. */
int scan_message(struct scan *scan, const struct message *message);

#endif
