/* SPDX-License-Identifier: BSD-3-Clause */
/* What msgpack's markers are followed by, where bytes are looked at and nothing is unpacked. */
#ifndef MARKER_H
#define MARKER_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t
big_endian(const unsigned char *bytes, size_t count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

#endif
