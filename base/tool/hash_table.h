/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables of structs by open addressing with linear probing, one type a table, all inlined.
 *
 *	HASH_TABLE(name, slot, HASH, SAME, FREE, MAKE_FREE, KEEP, NO_MEMORY)
 *
 * defines struct name and the functions below. A slot holds key and value. HASH(slot *) is 64 bits,
 * with well mixed low bits; SAME(a, b) compares keys; FREE(slot *) is true for an empty slot, and
 * MAKE_FREE(slot *) makes one. A growing table keeps only slots with KEEP(slot *) true. NO_MEMORY
 * is a statement. If it returns, name_begin returns false and the table must not be used; name_add
 * returns NULL and leaves the table unchanged.
 *
 *	name_begin(table, size)		an empty table; size is a power of two
 *	name_find(table, &key)		the slot, or NULL
 *	name_add(table, &slot)		the slot of that key, unchanged if there was one,
 *					otherwise a copy of the given slot
 *	name_remove(table, found)	empties a slot; others may move
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

#define HASH_TABLE(name, slot, HASH, SAME, FREE, MAKE_FREE, KEEP, NO_MEMORY) \
	struct name { slot *slots; size_t count, size; }; \
	\
	static bool name##_begin(struct name *table, size_t size) \
	{ \
		*table = (struct name){ .slots = malloc(size * sizeof *table->slots) }; \
		if (table->slots == NULL) { \
			NO_MEMORY; \
			return false; \
		} \
		table->size = size; \
		for (size_t i = 0; i < size; i++) \
			MAKE_FREE(&table->slots[i]); \
		return true; \
	} \
	\
	/* The slot with the key, or the empty slot where it belongs. */ \
	static inline slot *name##_at(const struct name *table, const slot *key) \
	{ \
		size_t at = HASH(key) & (table->size - 1); \
		\
		while (!FREE(&table->slots[at]) && !SAME(&table->slots[at], key)) \
			at = (at + 1) & (table->size - 1); \
		return &table->slots[at]; \
	} \
	\
	static inline slot *name##_find(const struct name *table, const slot *key) \
	{ \
		slot *found = name##_at(table, key); \
		\
		return FREE(found) ? NULL : found; \
	} \
	\
	static bool name##_grow(struct name *table) \
	{ \
		struct name old = *table; \
		size_t kept = 0, size = old.size; \
		\
		for (size_t i = 0; i < old.size; i++) \
			kept += !FREE(&old.slots[i]) && KEEP(&old.slots[i]); \
		while (size < 4 * kept) \
			size *= 2; \
		if (!name##_begin(table, size)) { \
			*table = old; \
			return false; \
		} \
		for (size_t i = 0; i < old.size; i++) \
			if (!FREE(&old.slots[i]) && KEEP(&old.slots[i])) \
				*name##_at(table, &old.slots[i]) = old.slots[i]; \
		table->count = kept; \
		free(old.slots); \
		return true; \
	} \
	\
	static inline slot *name##_add(struct name *table, const slot *add) \
	{ \
		slot *at = name##_at(table, add); \
		\
		if (!FREE(at)) \
			return at; \
		if (2 * (table->count + 1) > table->size) { \
			if (!name##_grow(table)) \
				return NULL; \
			at = name##_at(table, add); \
		} \
		table->count++; \
		*at = *add; \
		return at; \
	} \
	\
	/* Later slots move up if they may, so that a search never meets a hole. */ \
	static inline void name##_remove(struct name *table, slot *found) \
	{ \
		size_t mask = table->size - 1, hole = (size_t)(found - table->slots); \
		\
		for (size_t i = (hole + 1) & mask; !FREE(&table->slots[i]); i = (i + 1) & mask) \
			if (((i - HASH(&table->slots[i])) & mask) >= ((i - hole) & mask)) { \
				table->slots[hole] = table->slots[i]; \
				hole = i; \
			} \
		MAKE_FREE(&table->slots[hole]); \
		table->count--; \
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
