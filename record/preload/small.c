/* SPDX-License-Identifier: BSD-3-Clause */
/* Small messages: definitions, clock samples, header and end. One that gets too long is dropped. */
#include "pack.h"
#include "recorder.h"

static void
small_room(struct small *small, size_t size)
{
	small->full |= small->size + size > sizeof small->bytes;
}

void
small_begin(struct small *small, const char *kind, unsigned pairs)
{
	unsigned char *at = small->bytes;

	small->full = false;
	put_byte(&at, 0x92);
	put_text(&at, kind);
	put_byte(&at, 0x80 | (pairs + 1));
	small->size = (size_t)(at - small->bytes);
}

static unsigned char *
small_key(struct small *small, const char *key, size_t value_size)
{
	unsigned char *at = small->bytes + small->size;

	small_room(small, strlen(key) + 1 + value_size + 20);	/* and the hash */
	if (small->full)
		return NULL;
	put_text(&at, key);
	return at;
}

static void
small_end_value(struct small *small, const unsigned char *at)
{
	small->size = (size_t)(at - small->bytes);
}

void
small_uint(struct small *small, const char *key, uint64_t value)
{
	unsigned char *at = small_key(small, key, 9);

	if (at == NULL)
		return;
	put_byte(&at, 0xcf);
	put_big(&at, value, 8);
	small_end_value(small, at);
}

void
small_int(struct small *small, const char *key, int64_t value)
{
	unsigned char *at = small_key(small, key, 9);

	if (at == NULL)
		return;
	put_byte(&at, 0xd3);
	put_big(&at, (uint64_t)value, 8);
	small_end_value(small, at);
}

void
small_string(struct small *small, const char *key, const char *value)
{
	unsigned char *at = small_key(small, key, strlen(value) + 3);

	if (at == NULL)
		return;
	put_text(&at, value);
	small_end_value(small, at);
}

void
small_strings(struct small *small, const char *key, const char *only)
{
	unsigned char *at = small_key(small, key, strlen(only) + 4);

	if (at == NULL)
		return;
	put_byte(&at, 0x91);
	put_text(&at, only);
	small_end_value(small, at);
}

void
small_bytes(struct small *small, const char *key, const void *bytes, size_t size)
{
	unsigned char *at = small_key(small, key, size + 2);

	if (at == NULL)
		return;
	put_byte(&at, 0xc4);
	put_big(&at, size, 1);
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
