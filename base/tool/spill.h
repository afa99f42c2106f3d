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
#include <string.h>

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
void spill_read(struct spill *spill);			/* after the last put: starts reading */
bool spill_any(struct spill *spill, size_t lane);	/* is there another number? */
uint64_t spill_next(struct spill *spill, size_t lane);	/* the next number; it stays */
void spill_free(struct spill *spill);

enum { SPILL_LONGEST = 10 };	/* bytes of a number */
void spill_room(struct spill *spill, struct spill_lane *lane);	/* makes room for one */

static inline void
spill_put(struct spill *spill, size_t which, uint64_t number)
{
	struct spill_lane *lane = &spill->lanes[which];

	if (lane->buffer == NULL || lane->filled + SPILL_LONGEST > spill->buffer_size)
		spill_room(spill, lane);
	for (; number >= 0x80; number >>= 7)
		lane->buffer[lane->filled++] = (uint8_t)(number | 0x80);
	lane->buffer[lane->filled++] = (uint8_t)number;
}

static inline uint64_t
spill_number(const struct spill_lane *lane, uint32_t *at)
{
	uint64_t number = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = lane->buffer[(*at)++];

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
}

/* Removes the next number; there must be one. */
static inline uint64_t
spill_take(struct spill *spill, size_t which)
{
	struct spill_lane *lane = &spill->lanes[which];

	if (lane->filled - lane->at < SPILL_LONGEST)
		spill_any(spill, which);
	return spill_number(lane, &lane->at);
}

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

/*
 * A struct as differences to the one before: LAST, which becomes this one. LAST is zero before the
 * first is put, and before the first is taken. SIZE, at most 128, in steps of 8, is constant.
 */
enum { RECORD_WORDS = 16 };

static inline void
spill_put_record(struct spill *spill, size_t lane, void *last, const void *record, size_t size)
{
	uint64_t before[RECORD_WORDS], now[RECORD_WORDS], differ = 0;

	memcpy(before, last, size);
	memcpy(now, record, size);
	memcpy(last, record, size);
	for (size_t i = 0; i < size / sizeof *now; i++)
		differ |= (uint64_t)(now[i] != before[i]) << i;
	spill_put(spill, lane, differ);
	for (size_t i = 0; i < size / sizeof *now; i++)
		if (differ >> i & 1)
			spill_put(spill, lane, fold_sign((int64_t)(now[i] - before[i])));
}

static inline void
spill_take_record(struct spill *spill, size_t lane, void *last, size_t size)
{
	const uint64_t differ = spill_take(spill, lane);
	uint64_t words[RECORD_WORDS];

	memcpy(words, last, size);
	for (size_t i = 0; i < size / sizeof *words; i++)
		if (differ >> i & 1)
			words[i] += (uint64_t)unfold_sign(spill_take(spill, lane));
	memcpy(last, words, size);
}

#endif
