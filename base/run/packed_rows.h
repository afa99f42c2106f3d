/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a window as bytes: each as its differences from the row before. */
#ifndef PACKED_ROWS_H
#define PACKED_ROWS_H

#include <stddef.h>
#include <stdint.h>

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
