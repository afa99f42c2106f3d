/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash at the end of a message: XXH3, using the widest instructions of the processor. */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_of(const void *bytes, size_t size);
/* on x86-64 with AVX2 */
uint64_t hash_by_avx2(const void *bytes, size_t size);

#endif
