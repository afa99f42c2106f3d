/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of bytes in a temporary file, in parts of 1 MB. A part is reused when none of its pieces
 * is needed. The first piece creates the file. Memory: the part that is being filled.
 */
#ifndef PACKED_FILE_H
#define PACKED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packed_file {
	int fd;				/* -1: none yet */
	uint8_t *filling;		/* the contents of part CURRENT, not yet written */
	uint32_t filled, current;
	uint32_t *live;			/* by part: bytes of needed pieces */
	size_t parts, capacity;
	uint32_t *unused;		/* parts without needed pieces */
	size_t unused_count, unused_capacity;
};

void packed_file_begin(struct packed_file *file);
void packed_file_end(struct packed_file *file);
/* False: the piece is too long for a part and is not stored. */
bool packed_file_put(struct packed_file *file, const uint8_t *bytes, size_t size, uint64_t *offset);
void packed_file_get(const struct packed_file *file, uint8_t *bytes, size_t size, uint64_t offset);
void packed_file_forget(struct packed_file *file, uint64_t offset, size_t size);

#endif
