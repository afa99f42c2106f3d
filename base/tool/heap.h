/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binary heaps in arrays, one type a heap, all inlined.
 *
 *	HEAP(name, item, BEFORE)
 *
 * BEFORE(a, b), with pointers to items, is true if a belongs nearer to the top than b. The caller
 * owns the array and its count.
 *
 *	name_down(items, count, at)	sifts items[at] down
 *	name_up(items, at)		sifts items[at] up
 *	name_make(items, count)		makes a heap of items in any order
 *	name_push(items, &count, item)	adds an item; the array must have room
 *	name_pop(items, &count)		removes and returns the top
 */
#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>

#define HEAP(name, item, BEFORE) \
	static inline void name##_down(item *items, size_t count, size_t at) \
	{ \
		item const moved = items[at]; \
		\
		for (size_t child; (child = 2 * at + 1) < count; at = child) { \
			if (child + 1 < count && BEFORE(&items[child + 1], &items[child])) \
				child++; \
			if (!BEFORE(&items[child], &moved)) \
				break; \
			items[at] = items[child]; \
		} \
		items[at] = moved; \
	} \
	\
	static inline void name##_up(item *items, size_t at) \
	{ \
		item const moved = items[at]; \
		\
		for (; at > 0 && BEFORE(&moved, &items[(at - 1) / 2]); at = (at - 1) / 2) \
			items[at] = items[(at - 1) / 2]; \
		items[at] = moved; \
	} \
	\
	static inline __attribute__((unused)) void name##_make(item *items, size_t count) \
	{ \
		for (size_t i = count / 2; i-- > 0; ) \
			name##_down(items, count, i); \
	} \
	\
	static inline __attribute__((unused)) void name##_push(item *items, size_t *count, \
	    item added) \
	{ \
		items[*count] = added; \
		name##_up(items, (*count)++); \
	} \
	\
	static inline __attribute__((unused)) item name##_pop(item *items, size_t *count) \
	{ \
		item const top = items[0]; \
		\
		items[0] = items[--*count]; \
		if (*count > 0) \
			name##_down(items, *count, 0); \
		return top; \
	}

#endif
