/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool for many items of one size: contiguous in blocks, numbered with 32 bits from 1. Returned
 * items are used again. Memory: the peak number of items.
 */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>
#include <stdint.h>

enum { POOL_SHIFT = 10, POOL_MASK = (1 << POOL_SHIFT) - 1 };	/* items of a block */

struct item_pool {
	char **blocks;
	size_t count, capacity;		/* blocks */
	uint32_t free;	/* the last freed item, which begins with the next one's number; 0: none */
};

/* An uninitialised item of BYTES: at least 4, and the same in each call. */
uint32_t pool_take(struct item_pool *pool, size_t bytes);
void pool_give(struct item_pool *pool, size_t bytes, uint32_t number);

static inline void *
pool_at(const struct item_pool *pool, size_t bytes, uint32_t number)
{
	return pool->blocks[number >> POOL_SHIFT] + (number & POOL_MASK) * bytes;
}

#endif
