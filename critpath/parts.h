/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the stretches of a run lie in its stream: from its index, or by looking at its messages. */
#ifndef PARTS_H
#define PARTS_H

#include "../base/path/run.h"

struct chunks {
	struct chunk {			/* one stretch, or several that follow each other */
		uint64_t rows;
		uint64_t first;		/* stretch */
		uint64_t at;		/* offset of the synchronisation point that it begins with */
		uint64_t offset;	/* its rows do not begin before */
		uint64_t stretch;	/* that the stream is in at the offset */
	} *at;
	size_t count, capacity;
	uint64_t stretches;		/* of the run */
	uint64_t defined;		/* no definition comes after */
};

void chunks_read(struct chunks *chunks, const char *file);
void chunks_free(struct chunks *chunks);
/* Part INDEX of COUNT with about equally many rows, and these; some are empty where chunks are few. */
struct part chunks_part(const struct chunks *chunks, int index, int count, uint64_t *rows);

#endif
