/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second pass: the blocks of all locations in order of time, by one cursor a location. Memory:
 * locations, one block, and 8 bytes for each block that lies before another thread's next one.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "source.h"

/* Offsets of blocks that were passed over in search of another thread's; first in, first out. */
struct passed {
	uint64_t *offsets;
	size_t begin, count, capacity;
};

/* When a location goes on: its next row's enter in the trace; at least, where that is not read yet. */
struct next {
	int64_t at_ns;
	uint32_t location;
};

struct cursor {
	int64_t leave_ns;	/* of its last row, own clock */
	uint64_t row;		/* seq of the next one */
	uint64_t rows;		/* of the location */
	uint64_t block;		/* where the next row's block lies, once that is known */
	bool found, read;	/* the block is known; so is the row's enter */
};

struct blocks {
	const struct input *input;
	struct source source;
	struct cursor *cursors;		/* by location */
	struct passed *passed;		/* by location */
	uint64_t *search_from;		/* by rank: where the blocks begin that nobody has looked at */
	struct next *heap;		/* of the locations that have rows left; the earliest first */
	size_t count;
	struct calls calls;		/* the block at hand */
	uint32_t location;		/* whose it is; of none: UINT32_MAX */
};

/* Of the ranks in SHARD, with OF by rank; NULL: of all. */
void blocks_open(struct blocks *blocks, const struct input *input, const uint32_t *of, uint32_t shard);
void blocks_close(struct blocks *blocks);

/*
 * The next block, or slice of one, on the own clock of its location, which is that of the trace.
 * It is the caller's to change until the next call. False: there are no more.
 */
bool blocks_next(struct blocks *blocks, struct calls *slice);

#endif
