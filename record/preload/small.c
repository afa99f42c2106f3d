/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small messages: definitions, clock samples, header and end. They are built inside the struct, or,
 * if too large, in allocated memory. Without memory, recording ends.
 */
#include <errno.h>
#include <stdlib.h>

#include "pack.h"
#include "recorder.h"
#include "small.h"

enum { TAIL_BYTES = 20 };	/* the hash: "xxh3" and 64 bits */

void
small_begin(struct small *small, const char *kind, unsigned pairs)
{
	unsigned char *at = small->own;

	small->bytes = small->own;
	small->capacity = sizeof small->own;
	small->full = false;
	put_array_head(&at, 2);
	put_text(&at, kind);
	put_map_head(&at, pairs + 1);
	small->size = (size_t)(at - small->bytes);
}

void
small_free(struct small *small)
{
	if (small->bytes != small->own)
		free(small->bytes);
	small->bytes = small->own;
}

/* Makes room for SIZE more bytes and the hash. */
static bool
small_room(struct small *small, size_t size)
{
	size_t needed = small->size + size + TAIL_BYTES;
	unsigned char *more;

	if (small->full || needed <= small->capacity)
		return !small->full;
	more = small->bytes == small->own ? malloc(2 * needed) : realloc(small->bytes, 2 * needed);
	if (more == NULL) {
		small->full = true;
		out_of_memory();
		return false;
	}
	if (small->bytes == small->own)
		memcpy(more, small->own, small->size);
	small->bytes = more;
	small->capacity = 2 * needed;
	return true;
}

/* Appends a pair: the key, then what is from HEAD to END, then SIZE bytes of the value. */
static void
put_pair(struct small *small, const char *key, const unsigned char *head, const unsigned char *end,
    const void *value, size_t size)
{
	const size_t head_size = (size_t)(end - head);
	unsigned char *at;

	if (!small_room(small, PACK_HEAD + strlen(key) + head_size + size))
		return;
	at = small->bytes + small->size;
	put_text(&at, key);
	memcpy(at, head, head_size);
	if (size > 0)
		memcpy(at + head_size, value, size);
	small->size = (size_t)(at - small->bytes) + head_size + size;
}

static void
put_eight(struct small *small, const char *key, unsigned marker, uint64_t value)
{
	unsigned char bytes[1 + sizeof value], *end = bytes;

	put_byte(&end, marker);
	put_big(&end, value, sizeof value);
	put_pair(small, key, bytes, end, NULL, 0);
}

void
small_uint(struct small *small, const char *key, uint64_t value)
{
	put_eight(small, key, 0xcf, value);
}

void
small_int(struct small *small, const char *key, int64_t value)
{
	put_eight(small, key, 0xd3, (uint64_t)value);
}

void
small_string(struct small *small, const char *key, const char *value)
{
	unsigned char head[PACK_HEAD], *end = head;

	put_string_head(&end, strlen(value));
	put_pair(small, key, head, end, value, strlen(value));
}

void
small_strings(struct small *small, const char *key, const char *only)
{
	unsigned char head[2 * PACK_HEAD], *end = head;

	put_array_head(&end, 1);
	put_string_head(&end, strlen(only));
	put_pair(small, key, head, end, only, strlen(only));
}

void
small_bytes(struct small *small, const char *key, const void *bytes, size_t size)
{
	unsigned char head[PACK_HEAD], *end = head;

	put_bin_head(&end, size);
	put_pair(small, key, head, end, bytes, size);
}

void
small_true(struct small *small, const char *key)
{
	static const unsigned char is_true = 0xc3;

	put_pair(small, key, &is_true, &is_true + 1, NULL, 0);
}
