/* SPDX-License-Identifier: BSD-3-Clause */
#include "pack.h"

#ifdef __x86_64__
#pragma GCC target("avx2")
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t
hash_by_avx2(const void *bytes, size_t size)
{
	return XXH3_64bits(bytes, size);
}
#endif
