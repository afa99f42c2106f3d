/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Orders for qsort and bsearch: by one key, then by others.
 *
 *	ORDER(by_time, struct place, MOST(ns) BY(rank) BY_TEXT(file))
 *
 * Keys are members. BY: the smaller one first; MOST: the larger one first. A key that must be
 * computed is COMPARED(f(a), f(b)), of the items A and B.
 */
#ifndef TOOL_ORDER_H
#define TOOL_ORDER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ORDER(name, type, keys) \
	static int \
	name(const void *left, const void *right) \
	{ \
		const type *a = left; \
		const type *b = right; \
		\
		return keys 0; \
	}
#define COMPARED(x, y) (x) < (y) ? -1 : (x) > (y) ? 1 :
#define BY(member) COMPARED(a->member, b->member)
#define MOST(member) COMPARED(b->member, a->member)
#define BY_TEXT(member) COMPARED(strcmp(a->member, b->member), 0)
/* The same for strings that may be NULL, which comes first; needs text.h. */
#define BY_ANY_TEXT(member) COMPARED(text_compare(a->member, b->member), 0)

/* Also of no items, whose address may be NULL. */
#define SORT(items, count, order) \
	((count) > 0 ? qsort((items), (count), sizeof *(items), (order)) : (void)0)

/*
 * Sorts items and makes one of those that the order finds equal. Returns how many are left.
 *
 *	FOLD(fold_costs, struct cost, by_rank, to->cost_ns += more->cost_ns;)
 */
#define FOLD(name, type, order, add) \
	static size_t \
	name(type *items, size_t count) \
	{ \
		size_t kept = 0; \
		\
		SORT(items, count, order); \
		for (size_t i = 0; i < count; i++) { \
			type *to = &items[kept > 0 ? kept - 1 : 0]; \
			const type *more = &items[i]; \
			\
			if (kept == 0 || order(to, more) != 0) \
				items[kept++] = *more; \
			else { \
				add \
			} \
		} \
		return kept; \
	}

static inline int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t
larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif
