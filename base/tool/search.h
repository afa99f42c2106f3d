/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binary search in ordered arrays, inlined, one function for each type of item and key.
 *
 *	SEARCH(name, item, key, BEFORE)
 *
 *	name(items, count, sought)	index of the first item not before SOUGHT; or COUNT
 *
 * BEFORE(a, sought) takes a pointer to an item; it is true up to some place, then false.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include <stddef.h>

#define SEARCH(name, item, key, BEFORE) \
	static inline size_t name(const item *items, size_t count, key sought) \
	{ \
		size_t low = 0, high = count; \
		\
		while (low < high) { \
			const size_t middle = low + (high - low) / 2; \
			\
			if (BEFORE(&items[middle], sought)) \
				low = middle + 1; \
			else \
				high = middle; \
		} \
		return low; \
	}

#endif
