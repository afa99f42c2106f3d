/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of call frame information, and the numbers in them: cfi.c. */
#ifndef CFI_BYTES_H
#define CFI_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const unsigned char *at, *end;
	bool bad;		/* more was taken than is there */
};

static inline uint64_t
take(struct bytes *b, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(b->end - b->at) < size) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&value, b->at, size);	/* least significant first */
	b->at += size;
	return value;
}

/* Seven bits a byte, the low ones first; IS_SIGNED: the last one's highest is that of all above. */
static inline uint64_t
take_leb(struct bytes *b, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = take(b, 1);
		value |= shift < 64 ? (byte & 127) << shift : 0;
		shift += 7;
	} while (byte & 128);
	if (is_signed && shift < 64 && (byte & 64))
		value |= ~UINT64_C(0) << shift;
	return value;
}

static inline uint64_t take_uleb(struct bytes *b) { return take_leb(b, false); }
static inline int64_t take_sleb(struct bytes *b) { return (int64_t)take_leb(b, true); }

#endif
