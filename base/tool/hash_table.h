/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables of structs by open addressing with linear probing, one type a table, all inlined.
 *
 *	HASH_TABLE(name, slot, HASH, SAME, FREE, MAKE_FREE, KEEP, NO_MEMORY)
 *
 * defines struct name and the functions below. A table is a pointer to it: NULL is an empty one,
 * and free() ends it. A slot holds key and value. HASH(slot *) is 64 bits, with well mixed low
 * bits; SAME(a, b) compares keys; FREE(slot *) is true for an empty slot, and MAKE_FREE(slot *)
 * makes one. A growing table keeps only slots with KEEP(slot *) true. NO_MEMORY is a statement. If
 * it returns, name_add returns NULL and leaves the table unchanged.
 *
 *	name_find(table, &key)		the slot, or NULL
 *	name_add(&table, &slot)		the slot of that key, unchanged if there was one,
 *					otherwise a copy of the given slot
 *	name_remove(table, found)	empties a slot; others may move
 *	name_next(table, slot)		the taken slot behind SLOT; the first one behind NULL
 *	name_count(table)		how many are taken
 *	name_sorted(table, order)	a copy of these in that order: free() it
 *
 * A pointer to a slot is valid until the next name_add or name_remove. At most half of the slots
 * are taken, so that searches are short.
 */
#ifndef HASH_TABLE_H
#define HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Mixes two keys into 64 bits. */
static inline uint64_t
mix(uint64_t a, uint64_t b)
{
	a = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	a = (a ^ a >> 32) * 0xc4ceb9fe1a85ec53u;
	return a ^ a >> 29;
}

static inline uint64_t
hash_of_text(const char *text)		/* NULL: as "" */
{
	uint64_t hash = 0;

	for (; text != NULL && *text != '\0'; text++)
		hash = mix(hash, (unsigned char)*text);
	return hash;
}

static inline uint64_t
hash_of_numbers(const uint32_t *numbers, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++)
		hash = mix(hash, numbers[i]);
	return hash;
}

#ifndef HASH_LEAST_SIZE
#define HASH_LEAST_SIZE 1024		/* slots: a power of two, as all sizes */
#endif

#define HASH_TABLE(name, slot, HASH, SAME, FREE, MAKE_FREE, KEEP, NO_MEMORY) \
	struct name { size_t count, mask; slot slots[]; };	/* MASK: their number - 1 */ \
	\
	static inline slot *name##_next(const struct name *table, const slot *before) \
	{ \
		const slot *s; \
		\
		if (table == NULL) \
			return NULL; \
		for (s = before != NULL ? before + 1 : table->slots; \
		    s <= &table->slots[table->mask]; s++) \
			if (!FREE(s)) \
				return (slot *)s; \
		return NULL; \
	} \
	\
	static inline size_t name##_count(const struct name *table) \
	{ \
		return table != NULL ? table->count : 0; \
	} \
	\
	/* The slot with the key, or the empty slot where it belongs. */ \
	static inline slot *name##_at(const struct name *table, const slot *key) \
	{ \
		const size_t mask = table->mask; \
		size_t at = HASH(key) & mask; \
		slot *found = (slot *)&table->slots[at]; \
		\
		while (!FREE(found) && !SAME(found, key)) { \
			at = (at + 1) & mask; \
			found = (slot *)&table->slots[at]; \
		} \
		return found; \
	} \
	\
	static inline slot *name##_find(const struct name *table, const slot *key) \
	{ \
		slot *found; \
		\
		if (table == NULL) \
			return NULL; \
		found = name##_at(table, key); \
		return FREE(found) ? NULL : found; \
	} \
	\
	static bool name##_grow(struct name **table) \
	{ \
		struct name *old = *table, *new; \
		size_t kept = 0, size = old != NULL ? old->mask + 1 : HASH_LEAST_SIZE; \
		\
		for (const slot *s = NULL; (s = name##_next(old, s)) != NULL; ) \
			kept += KEEP(s); \
		while (size < 4 * kept) \
			size *= 2; \
		if ((new = malloc(sizeof *new + size * sizeof *new->slots)) == NULL) { \
			NO_MEMORY; \
			return false; \
		} \
		new->count = kept; \
		new->mask = size - 1; \
		for (size_t i = 0; i < size; i++) \
			MAKE_FREE(&new->slots[i]); \
		for (const slot *s = NULL; (s = name##_next(old, s)) != NULL; ) \
			if (KEEP(s)) \
				*name##_at(new, s) = *s; \
		free(old); \
		*table = new; \
		return true; \
	} \
	\
	static inline slot *name##_add(struct name **table, const slot *add) \
	{ \
		slot *at = *table != NULL ? name##_at(*table, add) : NULL; \
		\
		if (at != NULL && !FREE(at)) \
			return at; \
		if (at == NULL || 2 * (*table)->count + 1 > (*table)->mask) { \
			if (!name##_grow(table)) \
				return NULL; \
			at = name##_at(*table, add); \
		} \
		(*table)->count++; \
		*at = *add; \
		return at; \
	} \
	\
	/* Later slots move up if they may, so that a search never meets a hole. */ \
	static inline void name##_remove(struct name *table, slot *found) \
	{ \
		size_t mask = table->mask, hole = (size_t)(found - table->slots); \
		\
		for (size_t i = (hole + 1) & mask; !FREE(&table->slots[i]); i = (i + 1) & mask) \
			if (((i - HASH(&table->slots[i])) & mask) >= ((i - hole) & mask)) { \
				table->slots[hole] = table->slots[i]; \
				hole = i; \
			} \
		MAKE_FREE(&table->slots[hole]); \
		table->count--; \
	} \
	\
	static inline slot *name##_sorted(const struct name *table, \
	    int (*order)(const void *, const void *)) \
	{ \
		const size_t count = name##_count(table); \
		slot *sorted = malloc(count * sizeof *sorted + 1), *to = sorted; \
		\
		if (sorted == NULL) { \
			NO_MEMORY; \
			return NULL; \
		} \
		for (const slot *s = NULL; (s = name##_next(table, s)) != NULL; ) \
			*to++ = *s; \
		qsort(sorted, count, sizeof *sorted, order); \
		return sorted; \
	}

#define HASH_KEEP_ALL(slot) 1

/* The same for tools: MEMBER is NONE in an empty slot, all are kept, no memory ends the tool. */
#define HASH_TABLE_BY(name, slot, HASH, SAME, member, none) \
	static inline bool name##_is_free(const slot *s) { return s->member == (none); } \
	static inline void name##_make_free(slot *s) { s->member = (none); } \
	HASH_TABLE(name, slot, HASH, SAME, name##_is_free, name##_make_free, HASH_KEEP_ALL, \
	    die("out of memory"))

/* The same with two integers as the key. */
#define HASH_TABLE_OF(name, slot, first, second, member, none) \
	static inline uint64_t name##_hash(const slot *s) \
	{ \
		return mix((uint64_t)s->first, (uint64_t)s->second); \
	} \
	static inline bool name##_same(const slot *a, const slot *b) \
	{ \
		return a->first == b->first && a->second == b->second; \
	} \
	HASH_TABLE_BY(name, slot, name##_hash, name##_same, member, none)

/* The same with a string as the key; NULL in an empty slot. */
#define HASH_TABLE_OF_TEXT(name, slot, member) \
	static inline uint64_t name##_hash(const slot *s) { return hash_of_text(s->member); } \
	static inline bool name##_same(const slot *a, const slot *b) \
	{ \
		return strcmp(a->member, b->member) == 0; \
	} \
	HASH_TABLE_BY(name, slot, name##_hash, name##_same, member, NULL)

#endif
