/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of a run: some stretches that follow each other, for one of several processes. It begins where
 * the index of the graph tells of a synchronisation point: reading begins in the blocks that hold the point's
 * calls, and counting behind these. It ends with the calls of the point where the next part begins, if
 * nothing reaches across that; else it goes on into the next part, whose process then worked in vain.
 */
#ifndef PART_H
#define PART_H

#include "imbalance.h"

struct border {			/* where a part begins */
	uint64_t at;		/* offset of the message of kind sync; 0: the begin of the run */
	uint64_t from;		/* its calls and later ones are in blocks behind this */
};

struct part {
	const struct border *borders;	/* of all parts */
	size_t count;
	uint64_t defined;	/* no definition comes after this offset */
	size_t first;		/* the own one */
	size_t end;		/* the first that is not read as well */
	bool begun, ended;
};

/* The borders of at most COUNT parts of FILE, with about equally many rows; one where it has no index. */
struct border *part_borders(const char *file, size_t count, size_t *parts, uint64_t *defined);

/* Before a message is read: goes to where the part begins. */
void part_go(const struct part *part, struct reader *in);
/* The message lies before the part, and only its definitions are wanted. */
bool part_skips(const struct part *part, struct reader *in, const struct message *message);
/* A message of kind sync, in place of order_sync; or settled. */
void part_sync(struct imbalance *im, const struct message *message);
/* The stream has ended. */
void part_check_end(const struct part *part, struct reader *in);

#endif
