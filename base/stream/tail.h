/* SPDX-License-Identifier: BSD-3-Clause */
/* The index of a stream in a file (trace.5, index), found from the file's end. */
#ifndef TAIL_H
#define TAIL_H

#include "stream.h"

/* No index has more rows. */
enum { INDEX_ROWS = 1 << 14 };

struct tail {
	msgpack_unpacked unpacked;
	unsigned char *bytes;	/* of the index */
	struct message index;	/* of kind index, its hash checked */
	uint64_t offset;	/* of the index, as the end says */
	uint64_t rows;		/* in all blocks of the stream */
	size_t count;		/* rows of the index */
};

/* False: FILE has no index at the offset that its end gives. Close it in any case. */
bool tail_open(struct tail *tail, const char *file);
void tail_close(struct tail *tail);
/* A column of the index: tail->count numbers. 0 or -1. */
int tail_column(struct tail *tail, const char *key, uint64_t *to);

#endif
