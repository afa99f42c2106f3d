/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the synchronisation points of a graph stream lie in its file: trace.5, index. */
#ifndef INDEX_H
#define INDEX_H

#include "../stream/stream.h"

struct index_entry {			/* a synchronisation point */
	uint64_t rows;			/* before it, on all locations */
	uint64_t from;			/* rows from it on lie in blocks from this offset on */
	uint64_t before;		/* synchronisation points before that offset */
	uint64_t at;			/* offset of its message */
};

struct index {
	uint64_t syncs;			/* synchronisation points of the run */
	uint64_t step;			/* entry i is number (i + 1) step of them, from 1 */
	uint64_t defined;		/* offset of the last definition */
	uint64_t rows;			/* of the run; only read */
	struct index_entry *entries;
	size_t count;
};

void index_begin(struct index *index);
/* The next synchronisation point. Memory stays bounded: where entries are many every second goes. */
void index_add(struct index *index, struct index_entry entry);
/* Writes it as the last message before the end, which tells where it is. 0 or -1. */
int index_write(const struct index *index, struct writer *out);
/* True and the index of FILE; false where it has none that stands where its end says. */
bool index_read(struct index *index, const char *file);
void index_free(struct index *index);

#endif
