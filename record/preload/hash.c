/* SPDX-License-Identifier: BSD-3-Clause */
#include "pack.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t
hash_of(const void *bytes, size_t size)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return hash_by_avx2(bytes, size);
#endif
	return XXH3_64bits(bytes, size);
}
