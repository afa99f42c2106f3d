/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The older rows of a window, packed: a row as its differences from the row before it, in chunks of
 * calls that lie side by side. A chunk is unpacked into one of some slots when one of its rows is asked for,
 * and packed anew if that was changed when the slot is needed for another. Packed rows beyond a limit
 * are in a temporary file. Memory: what is asked for, and 32 bytes a chunk.
 */
#ifndef PACKED_H
#define PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows that may be pointed to at a time. */
enum { LEAST_SLOTS = 64 };

struct packed;

/* Rows of ROW_BYTES, the common ones and behind them words of 8 bytes: WIDE numbers, then pairs of 4 bytes. */
struct packed *packed_new(uint32_t locations, size_t row_bytes, unsigned wide, size_t bytes);
void packed_free(struct packed *packed);
/* Appends rows, whole calls, of which the first is FIRST: those behind the ones that are there. */
void packed_add(struct packed *packed, uint32_t location, uint64_t first, const char *rows, size_t count);
/* Forgets the rows before SEQ. */
void packed_drop(struct packed *packed, uint32_t location, uint64_t seq);
/* The first row that is there, or END where there is none. */
uint64_t packed_first(const struct packed *packed, uint32_t location, uint64_t end);
/* A row and how many follow side by side, it among them; NULL: it is not there. It will be changed if CHANGES. */
void *packed_rows(struct packed *packed, uint32_t location, uint64_t seq, bool changes, size_t *left);
/* The chunk asked for last stays unpacked until another is to; so its rows stay where they are. */
void packed_pin(struct packed *packed);

#endif
