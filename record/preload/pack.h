/* SPDX-License-Identifier: BSD-3-Clause */
/* The few msgpack encodings that the recorder writes, at *AT, which moves on. */
#ifndef PACK_H
#define PACK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void
put_byte(unsigned char **at, unsigned value)
{
	*(*at)++ = (unsigned char)value;
}

/* The low BYTES of VALUE, most significant first. */
static inline void
put_big(unsigned char **at, uint64_t value, int bytes)
{
	while (bytes-- > 0)
		put_byte(at, (unsigned)(value >> 8 * bytes) & 0xff);
}

static inline void
put_text(unsigned char **at, const char *text)
{
	size_t size = strlen(text);

	if (size < 32)
		put_byte(at, 0xa0 | (unsigned)size);
	else {
		put_byte(at, 0xda);
		put_big(at, size, 2);
	}
	memcpy(*at, text, size);
	*at += size;
}

#endif
