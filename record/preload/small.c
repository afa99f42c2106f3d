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

/* Writes the key and makes room for a value of VALUE_SIZE bytes. Returns NULL without room. */
static unsigned char *
small_key(struct small *small, const char *key, size_t value_size)
{
	unsigned char *at;

	if (!small_room(small, PACK_HEAD + strlen(key) + PACK_HEAD + value_size))
		return NULL;
	at = small->bytes + small->size;
	put_text(&at, key);
	return at;
}

static void
small_end_value(struct small *small, const unsigned char *at)
{
	small->size = (size_t)(at - small->bytes);
}

static void
small_eight(struct small *small, const char *key, unsigned marker, uint64_t value)
{
	unsigned char *at = small_key(small, key, sizeof value);

	if (at == NULL)
		return;
	put_byte(&at, marker);
	put_big(&at, value, sizeof value);
	small_end_value(small, at);
}

void
small_uint(struct small *small, const char *key, uint64_t value)
{
	small_eight(small, key, 0xcf, value);
}

void
small_int(struct small *small, const char *key, int64_t value)
{
	small_eight(small, key, 0xd3, (uint64_t)value);
}

void
small_string(struct small *small, const char *key, const char *value)
{
	unsigned char *at = small_key(small, key, strlen(value));

	if (at == NULL)
		return;
	put_text(&at, value);
	small_end_value(small, at);
}

void
small_strings(struct small *small, const char *key, const char *only)
{
	unsigned char *at = small_key(small, key, PACK_HEAD + strlen(only));

	if (at == NULL)
		return;
	put_array_head(&at, 1);
	put_text(&at, only);
	small_end_value(small, at);
}

void
small_bytes(struct small *small, const char *key, const void *bytes, size_t size)
{
	unsigned char *at = small_key(small, key, size);

	if (at == NULL)
		return;
	put_bin_head(&at, size);
	if (size > 0)
		memcpy(at, bytes, size);
	small_end_value(small, at + size);
}

void
small_true(struct small *small, const char *key)
{
	unsigned char *at = small_key(small, key, 1);

	if (at == NULL)
		return;
	put_byte(&at, 0xc3);
	small_end_value(small, at);
}
