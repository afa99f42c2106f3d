/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The older rows of a window, packed: each row as its differences from the row before it, in
 * chunks of consecutive calls. A request for a row unpacks its chunk into a slot. If the chunk
 * changes, it is packed again before the slot is reused. Packed rows beyond a limit go to a
 * temporary file. Memory: the given limit, and 32 bytes a chunk.
 */
#ifndef PACKED_H
#define PACKED_H

#include "window.h"

/* Pointers to rows that are valid at a time. */
enum { LEAST_SLOTS = 64 };

/* Rows of ROW_BYTES: common fields, then words of 8 bytes: WIDE numbers, then pairs of 4 bytes. */
struct packed *packed_new(uint32_t locations, size_t row_bytes, unsigned wide, size_t bytes);
void packed_free(struct packed *packed);
/* Appends rows of whole calls; the first is FIRST, the next row of the location. */
void packed_add(struct packed *packed, uint32_t location, uint64_t first, const char *rows,
    size_t count);
/* Forgets the rows before SEQ. */
void packed_drop(struct packed *packed, uint32_t location, uint64_t seq);
/*
 * A row, and the number of consecutive rows from it; NULL: not kept. CHANGES: the caller changes
 * it. The rows stay in place until LEAST_SLOTS / 2 others have been requested.
 */
void *packed_rows(struct packed *packed, uint32_t location, uint64_t seq, bool changes,
    size_t *left);
/* Keeps the chunk requested last unpacked, and its rows in place, until another is pinned. */
void packed_pin(struct packed *packed);

/* ---- packed_rows.c: rows as bytes, each as its differences from the row before ---- */

enum { MOST_WORDS = 16 };		/* of a row */

struct row_shape {
	unsigned words, mark_bytes;	/* of a row; marks: a bit for each field that changed */
	uint32_t wide;			/* a bit for each word that is one number, not two halves */
};

/* The shape of rows of ROW_BYTES, with a struct row and WIDE numbers of 8 bytes first. */
struct row_shape row_shape(size_t row_bytes, unsigned wide);
/* An upper bound of the packed bytes of COUNT rows. */
size_t rows_most_bytes(const struct row_shape *shape, size_t count);
/* Returns the number of bytes written to TO. */
size_t rows_pack(const struct row_shape *shape, uint8_t *to, const char *rows, size_t count);
void rows_unpack(const struct row_shape *shape, const uint8_t *from, char *rows, size_t count);

#endif
