/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits.h"

#include <stdlib.h>
#include <string.h>

void
pool_give(struct item_pool *pool, size_t bytes, uint32_t number)
{
	memcpy(pool_at(pool, bytes, number), &pool->free, sizeof pool->free);
	pool->free = number;
}

uint32_t
pool_take(struct item_pool *pool, size_t bytes)
{
	const size_t first = pool->count << POOL_SHIFT;
	uint32_t number;

	if (pool->free == 0) {
		if (first + POOL_MASK > UINT32_MAX)
			die("out of memory");
		*APPEND(pool->blocks, pool->count, pool->capacity) =
		    need(malloc(bytes << POOL_SHIFT));
		/* number 0 means none */
		for (size_t i = POOL_MASK + 1, last = first == 0 ? 1 : 0; i-- > last; )
			pool_give(pool, bytes, (uint32_t)(first + i));
	}
	number = pool->free;
	memcpy(&pool->free, pool_at(pool, bytes, number), sizeof pool->free);
	if (pool->free != 0)	/* it was given back long ago */
		__builtin_prefetch(pool_at(pool, bytes, pool->free), 1);
	return number;
}
