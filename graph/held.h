/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages held back in memory until it is certain what their rows become. */
#ifndef HELD_H
#define HELD_H

#include "../base/stream/calls.h"

struct held {
	struct held *next, *next_block;	/* of all; of the same location */
	struct message message;		/* without bytes and body */
	msgpack_unpacked unpacked;	/* has the body */
	uint64_t first;			/* of a block: its first row */
	uint32_t location;
	size_t count;			/* rows */
	bool is_block, changed;
	size_t moved_from;		/* rows from here on become polls without time */
	int64_t moved_to_ns;
	unsigned char *bytes;		/* columns, then the message */
	size_t size, plain_size;	/* of the bytes; and without compression */
};

/* A copy of the message, with the rows of CALLS unless that is NULL; packed where that is less. */
struct held *held_new(const struct message *message, struct calls *calls, bool packed);
/*
 * Reads the rows into CALLS, or the message's body. The bytes of the message lie in what it
 * returns: to be freed if it is not h->bytes.
 */
unsigned char *held_read(struct held *h, struct calls *calls);
void held_free(struct held *h);

#endif
