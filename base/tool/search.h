/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking up in ordered arrays by bisection, inlined, one function a type of item and key.
 *
 *	SEARCH(name, item, key, BEFORE)
 *
 *	name(items, count, sought)	index of the first item that is not before SOUGHT; COUNT: all are
 *
 * BEFORE(a, sought), with a pointer to an item: its items stand in front of all others.
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
