/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a file that somebody else writes, without reading all of their bytes. */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {			/* bytes of the file that were read */
	int fd;
	unsigned char bytes[512];
	uint64_t begin;
	size_t size;
};

struct seen {			/* a message */
	uint64_t begin, end;
	int64_t location;	/* of a block of calls; others -1 */
	bool last;		/* of kind end */
};

/* The message at that place; false: there is none yet, or none of this house. */
bool window_message(struct window *w, uint64_t at, struct seen *seen);
/* SIZE bytes from there; false: they are not there. */
bool window_read(int fd, void *bytes, size_t size, uint64_t offset);

#endif
