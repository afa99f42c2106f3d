/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items of one size, of which there are many: side by side in blocks, named by numbers of 32 bits
 * from 1 on. What is given back is used again. Memory: the most items that there were at a time.
 */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>
#include <stdint.h>

enum { POOL_SHIFT = 10, POOL_MASK = (1 << POOL_SHIFT) - 1 };	/* items of a block */

struct item_pool {
	char **blocks;
	size_t count, capacity;		/* blocks */
	/* given back last; each begins with the number of the next. 0: none */
	uint32_t free;
};

/* An item of BYTES, always the same and 4 at least, with anything in it. */
uint32_t pool_take(struct item_pool *pool, size_t bytes);
void pool_give(struct item_pool *pool, size_t bytes, uint32_t number);

static inline void *
pool_at(const struct item_pool *pool, size_t bytes, uint32_t number)
{
	return pool->blocks[number >> POOL_SHIFT] + (number & POOL_MASK) * bytes;
}

#endif
