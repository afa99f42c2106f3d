/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The older rows of a window, packed: each row as its differences from the row before it, in
 * chunks of consecutive calls. A request for a row unpacks its chunk into a slot. If the chunk
 * changes, it is packed again before the slot is reused. Packed rows beyond a limit go to a
 * temporary file. Memory: the given limit, and 24 bytes a chunk.
 */
#ifndef PACKED_H
#define PACKED_H

#include "window.h"

/* Pointers to rows that are valid at a time. */
enum { LEAST_SLOTS = 64 };

/* Rows of ROW_BYTES: common fields, then words of 8 bytes: WIDE numbers, then pairs of 4 bytes. */
struct packed *packed_new(uint32_t locations, size_t row_bytes, unsigned wide, size_t bytes);
/* A place for one unpacked chunk of each location, which packed_rows_in_turn uses. */
void packed_add_fronts(struct packed *packed);
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
/* The same. These rows stay in place until the next call of this function. */
void *packed_rows_in_turn(struct packed *packed, uint32_t location, uint64_t seq, bool changes,
    size_t *left);

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

/* ---- packed_parts.c: packed bytes ---- */

/*
 * Packed bytes in parts of 1 MB. Those beyond a limit are in a temporary file. A part is reused
 * when none of its pieces is needed.
 */
enum { PART = 1 << 20 };

struct part {
	uint8_t *bytes;			/* NULL: in the file, or not in use */
	uint32_t live;			/* bytes of needed pieces */
};

struct parts {
	struct part *of;
	size_t count, capacity;
	uint32_t filled, current;	/* bytes in the part that is filled */
	uint32_t *unused;		/* parts without needed pieces */
	size_t unused_count, unused_capacity;
	size_t in_memory, most;		/* parts */
	uint32_t next_filed;
	int fd;				/* -1: none yet */
};

/* BYTES is the limit. */
void parts_begin(struct parts *all, size_t bytes);
void parts_free(struct parts *all);
/* Returns where the piece is; it is no longer than a part. */
uint64_t put_piece(struct parts *all, const uint8_t *bytes, uint32_t size);
/* The piece; SPACE may hold it. Valid until another is put. */
const uint8_t *get_piece(const struct parts *all, uint64_t offset, uint32_t size, uint8_t *space);
void forget_piece(struct parts *all, uint64_t offset, uint32_t size);

#endif
