/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many sequences of numbers that grow at the same time and are later read from the beginning. Long
 * sequences go to a temporary file. Memory: a buffer for each sequence, 16 MB in all, or 128 bytes
 * each for more than 131072 sequences.
 */
#ifndef SPILL_H
#define SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill {
	int fd;				/* -1: all numbers are in the buffers */
	uint64_t end;			/* of the file */
	uint32_t buffer_size;
	size_t count;
	struct spill_lane *lanes;
};

struct spill_lane {
	uint8_t *buffer;		/* NULL: empty */
	/* reading: AT to FILLED - 1 are not taken yet; writing: FILLED are not written yet */
	uint32_t at, filled;
	/* offsets in the file; an extent has the next offset and SIZE bytes; 0: none */
	uint64_t first, extent;
	uint32_t extent_size, extent_at;
	uint64_t in_file;		/* bytes written; then bytes still to be read */
};

void spill_begin(struct spill *spill, size_t lanes);
void spill_put(struct spill *spill, size_t lane, uint64_t number);
void spill_read(struct spill *spill);			/* after the last put: starts reading */
bool spill_any(struct spill *spill, size_t lane);	/* is there another number? */
uint64_t spill_next(struct spill *spill, size_t lane);	/* the next number; it stays */
uint64_t spill_take(struct spill *spill, size_t lane);	/* removes it; there must be one */
void spill_free(struct spill *spill);

/* Maps signed numbers to unsigned numbers of about the same size. */
static inline uint64_t
fold_sign(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static inline int64_t
unfold_sign(uint64_t number)
{
	return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

#endif
