/* SPDX-License-Identifier: BSD-3-Clause */
/* The one layout of a message of kind spare that is written: trace.5, RAW TRACES. */
#ifndef SPARE_H
#define SPARE_H

#include <stdint.h>
#include <string.h>

enum {
	SPARE_HEAD = 32,	/* bytes before its data */
	SPARE_MESSAGES_AT = 18,
	SPARE_LENGTH_AT = 28,	/* of its data: 4 bytes, most significant first */
	SPARE_TAIL = 14,	/* bytes behind its data: those that any message with a hash ends with */
};

/* The first bytes of those of the tail; the hash itself may be anything. */
static const unsigned char spare_tail[6] = { 0xa4, 'x', 'x', 'h', '3', 0xcf };

static inline void
spare_head(unsigned char *head, uint32_t messages, uint32_t length)
{
	static const unsigned char form[SPARE_HEAD + 1] =
	    "\x92\xa5spare\x83\xa8messages\xce\0\0\0\0\xa4" "data\xc6\0\0\0\0";

	memcpy(head, form, SPARE_HEAD);
	for (int i = 0; i < 4; i++) {
		head[SPARE_MESSAGES_AT + i] = (unsigned char)(messages >> (24 - 8 * i));
		head[SPARE_LENGTH_AT + i] = (unsigned char)(length >> (24 - 8 * i));
	}
}

#endif
