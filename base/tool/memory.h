/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory: if there is none left, the tool ends with an error. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>
#include <string.h>

void *need(void *pointer);
static inline void need_memory(int result)	/* negative: there is none */
{
	if (result < 0)
		need(NULL);
}
void *zalloc(size_t count, size_t size);	/* zeroed; the product is checked for overflow */
char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));	/* free() it */
/* Grows the array to WANTED items or more; at least doubles it. */
void *grow(void *pointer, size_t *capacity, size_t wanted, size_t size);
/* The same; new items are zeroed. */
void *grow_zeroed(void *pointer, size_t *capacity, size_t wanted, size_t size);
/* As grow, but at least by half: for many small arrays. */
void *grow_little(void *pointer, size_t *capacity, size_t wanted, size_t size);

/* Makes room for COUNT items in LIST. */
#define GROW(list, capacity, count) \
	((size_t)(count) <= (capacity) ? (void)0 : \
	(void)((list) = grow((list), &(capacity), (count), sizeof *(list))))
/* The item at INDEX; makes zeroed items up to it and beyond. */
#define AT(list, capacity, index) \
	((size_t)(index) < (capacity) ? (void)0 : (void)((list) = \
	grow_zeroed((list), &(capacity), (size_t)(index) + 1, sizeof *(list))), &(list)[index])
/* A zeroed item behind the COUNT that LIST has: *APPEND(list, count, capacity) = item; */
#define APPEND(list, count, capacity) \
	(GROW(list, capacity, (size_t)(count) + 1), \
	memset(&(list)[count], 0, sizeof *(list)), &(list)[(count)++])

/*
 * A zeroed item behind those from BEGIN to before END, a queue. It moves to the front of LIST where
 * this is full and the larger part of it is gone.
 */
#define ENQUEUE(list, begin, end, capacity) \
	((end) == (capacity) && (begin) > (end) / 2 ? (void)((end) -= (begin), \
	memmove((list), (list) + (begin), (size_t)(end) * sizeof *(list)), (begin) = 0) : (void)0, \
	APPEND(list, end, capacity))

#endif
