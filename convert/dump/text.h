/* SPDX-License-Identifier: BSD-3-Clause */
/* Text on standard output, formatted by hand: printf would be most of the time of lp-dump. */
#ifndef TEXT_H
#define TEXT_H

#include <msgpack.h>
#include <stdint.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 16 };

struct text {
	char bytes[TEXT_BYTES];
	size_t used;
};

/* Hands on what has gathered; dies where standard output does not take it. */
void text_flush(struct text *text);

void text_bytes(struct text *text, const char *bytes, size_t size);
void text_uint(struct text *text, uint64_t value);
void text_int(struct text *text, int64_t value);

static inline void text_char(struct text *text, char c)
{
	if (text->used == TEXT_BYTES)
		text_flush(text);
	text->bytes[text->used++] = c;
}

static inline void text_put(struct text *text, const char *string)
{
	text_bytes(text, string, strlen(string));
}

/* JSON: a string with quotes and escapes, valid UTF-8 whatever its bytes are; any msgpack value. */
void text_string(struct text *text, const char *bytes, size_t size);
void text_value(struct text *text, const msgpack_object *value);
void text_map_key(struct text *text, const msgpack_object *key);

/* JSON: ,"key": and its value; for keys that need no escapes. */
static inline void text_key(struct text *text, const char *key)
{
	text_bytes(text, ",\"", 2);
	text_put(text, key);
	text_bytes(text, "\":", 2);
}

static inline void text_pair(struct text *text, const char *key, uint64_t value)
{
	text_key(text, key);
	text_uint(text, value);
}

static inline void text_signed_pair(struct text *text, const char *key, int64_t value)
{
	text_key(text, key);
	text_int(text, value);
}

#endif
