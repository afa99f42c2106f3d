/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers whose bytes lie apart, so that a compressor finds those that are alike together: trace.5, COMPRESSION. */
#ifndef PLANES_H
#define PLANES_H

#include <stddef.h>
#include <stdint.h>

struct plane {			/* a stretch of bytes that is integers */
	uint32_t begin;		/* its first byte */
	uint32_t count, width;	/* how many, and bytes of each */
};
enum { MOST_PLANES = 16 };	/* of a message */

/* ROOM has as many bytes as the integers. */
void planes_apart(unsigned char *bytes, const struct plane *plane, unsigned char *room);
void planes_together(unsigned char *bytes, const struct plane *plane, unsigned char *room);

#endif
