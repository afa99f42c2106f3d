/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory: if there is none, the tool ends with a line that says so. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

void *need(void *pointer);
void *zalloc(size_t count, size_t size);	/* zeroed; the product is checked for overflow */
char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));	/* to be freed */
/* at least doubles */
void *grow(void *pointer, size_t *capacity, size_t wanted, size_t size);
/* The same, but grows by half, for many small arrays. */
void *grow_little(void *pointer, size_t *capacity, size_t wanted, size_t size);

#endif
