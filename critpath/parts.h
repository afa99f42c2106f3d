/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the stretches of a run lie in its stream, found without reading the blocks of calls. */
#ifndef PARTS_H
#define PARTS_H

#include "run.h"

struct table {
	struct place {
		uint64_t rows;		/* of the stretch */
		uint64_t offset;	/* its rows do not begin before */
		uint64_t end_offset;	/* of the synchronisation point that ends it */
	} *at;
	size_t count, capacity;
	uint64_t defined;		/* no definition comes after */
};

void table_read(struct table *table, const char *file);
/* Part INDEX of COUNT with about equally many rows; some are empty where there are few stretches. */
struct part table_part(const struct table *table, int index, int count);

#endif
