/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The msgpack encodings that the recorder writes, at *AT, which advances. All lengths go through
 * put_length, so that none is written in too few bytes. A hash is at the end of each message.
 */
#ifndef PACK_H
#define PACK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PACK_HEAD = 5 };		/* bytes of the longest marker with its length */

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

/*
 * Markers of strings, bins, arrays and maps: SHORT | size if size < BELOW, else the marker for 1, 2
 * or 4 bytes of length. MARKER_1 is 0 if there is no marker for 1 byte.
 */
static inline void
put_length(unsigned char **at, size_t size, size_t below, unsigned short_marker, unsigned marker_1,
    unsigned marker_2, unsigned marker_4)
{
	if (size < below)
		put_byte(at, short_marker | (unsigned)size);
	else if (marker_1 != 0 && size <= UINT8_MAX) {
		put_byte(at, marker_1);
		put_big(at, size, 1);
	} else if (size <= UINT16_MAX) {
		put_byte(at, marker_2);
		put_big(at, size, 2);
	} else {
		put_byte(at, marker_4);
		put_big(at, size, 4);
	}
}

static inline void
put_string_head(unsigned char **at, size_t size)
{
	put_length(at, size, 32, 0xa0, 0xd9, 0xda, 0xdb);
}

static inline void
put_bin_head(unsigned char **at, size_t size)
{
	put_length(at, size, 0, 0, 0xc4, 0xc5, 0xc6);
}

static inline void
put_array_head(unsigned char **at, size_t count)
{
	put_length(at, count, 16, 0x90, 0, 0xdc, 0xdd);
}

static inline void
put_map_head(unsigned char **at, size_t pairs)
{
	put_length(at, pairs, 16, 0x80, 0, 0xde, 0xdf);
}

static inline void
put_text(unsigned char **at, const char *text)
{
	size_t size = strlen(text);

	put_string_head(at, size);
	memcpy(*at, text, size);
	*at += size;
}

/* A pair whose value has room for 32 bits; the value may change in place later. */
static inline void
put_u32(unsigned char **at, const char *key, uint32_t value)
{
	put_text(at, key);
	put_byte(at, 0xce);
	put_big(at, value, 4);
}

/* XXH3, using the widest instructions of the processor; the second one on x86-64 with AVX2. */
uint64_t hash_of(const void *bytes, size_t size);
uint64_t hash_by_avx2(const void *bytes, size_t size);

#endif
