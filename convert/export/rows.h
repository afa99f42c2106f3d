/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows with their edges, for formats in which a call is written when all its edges are there. */
#ifndef ROWS_H
#define ROWS_H

#include "../../base/run/segments.h"
#include "../../base/run/window.h"
#include "export.h"

struct kept_row {		/* begins what a format keeps of a row */
	struct row row;
	uint64_t sent, received;
	int32_t tag;
	uint32_t folded;
};

struct rows {
	struct reader *in;
	struct definitions known;
	struct window window;
	struct edge_block edges;
	uint64_t *seqs;		/* of sync and settled */
	bool begun;		/* a block has come, so ranks and communicators are defined */
};

struct rows_user {		/* what a format does; NULL: nothing */
	size_t row_bytes;
	void (*run)(struct rows *rows);				/* the message of that kind has come */
	void (*other)(struct rows *rows, const struct message *message);
	void (*begin)(struct rows *rows);			/* before the first block */
	void (*message)(struct rows *rows, size_t i);		/* of the edges */
	void (*collectives)(struct rows *rows);			/* of the edges */
	void (*settle)(struct rows *rows, uint32_t location, uint64_t seq);	/* rows before have all edges */
	void (*settled)(struct rows *rows);			/* that was done for all locations */
	void (*segment)(struct rows *rows, const struct segment *segment);
};

void rows_open(struct rows *rows, const char *file);
/* Up to the end, where all rows are settled; begins in any case. */
void rows_read(struct rows *rows, const struct rows_user *user);

#endif
