/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small messages of the raw trace: definitions, clock samples, header and end. Their pairs are
 * declared where they are written:
 *
 *	small_append("clock_shared", PAIRS(pair_int("peer", leader)));
 */
#ifndef SMALL_H
#define SMALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
	enum { PAIRS_END, PAIR_UINT, PAIR_INT, PAIR_TEXT, PAIR_TEXTS, PAIR_BYTES, PAIR_TRUE } type;
	const char *key;		/* NULL: it is left out */
	uint64_t number;		/* or the size of BYTES */
	const void *bytes;
};
#define PAIRS(...) (const struct pair[]){ __VA_ARGS__, { .type = PAIRS_END } }

#define PAIR static inline struct pair
PAIR pair_uint(const char *key, uint64_t n) { return (struct pair){ PAIR_UINT, key, n, NULL }; }
PAIR pair_text(const char *key, const char *t) { return (struct pair){ PAIR_TEXT, key, 0, t }; }

PAIR
pair_int(const char *key, int64_t n)
{
	return (struct pair){ PAIR_INT, key, (uint64_t)n, NULL };
}

PAIR
pair_bytes(const char *key, const void *bytes, size_t size)
{
	return (struct pair){ PAIR_BYTES, key, size, bytes };
}

/* There only if THERE is true. */
PAIR
pair_if(bool there, struct pair pair)
{
	pair.key = there ? pair.key : NULL;
	return pair;
}

PAIR pair_unless_0(const char *key, uint64_t n) { return pair_if(n != 0, pair_uint(key, n)); }
PAIR
pair_true(const char *key, bool there)
{
	return pair_if(there, (struct pair){ PAIR_TRUE, key, 0, NULL });
}

/* Without memory, recording ends. */
void small_append(const char *kind, const struct pair *pairs);
/* The same for a caller that holds raw.lock. */
void small_write(const char *kind, const struct pair *pairs);

#endif
