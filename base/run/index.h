/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places of the synchronisation points of a graph: trace.5, index. Each shard of a folder has
 * an index; index_read returns their sum, whose offsets are places in the folder, as its readers
 * use them. So a tool starts at a point in the same way in a file and in a folder:
 *
 *	index_read(&index, file);
 *	entry = one of index.entries
 *	reader_open(&in, file, READ_STREAM), and reads on as far as the definitions go, which is
 *	    while (reader_offset(in) <= index.defined)
 *	reader_jump(in, entry.from);
 *
 * entry.before points come before this place; the message at entry.at is a point in INDEX. An
 * index may be wrong although its hashes are right, so check that the point is there.
 */
#ifndef INDEX_H
#define INDEX_H

#include "../stream/stream.h"

struct index_entry {			/* a synchronisation point */
	uint64_t rows;			/* before it, on all locations */
	uint64_t from;			/* rows after it lie in blocks from this offset on */
	uint64_t before;		/* synchronisation points before that offset */
	uint64_t at;			/* offset of its message; 0: see index_settle */
};

struct index {
	uint64_t syncs;			/* synchronisation points of the run */
	uint64_t step;			/* entry i is point number (i + 1) * step, from 1 */
	uint64_t defined;		/* offset of the last definition */
	uint64_t rows;			/* of the run; only read */
	struct index_entry *entries;
	size_t count, most;
};

/* SHARDS: the number of indexes that are read together; each is kept correspondingly short. */
void index_begin(struct index *index, uint32_t shards);
/* The next synchronisation point. To bound memory, drops every second of many entries. */
void index_add(struct index *index, struct index_entry entry);
/* In a shard whose points another shard writes: points without an offset get this one. */
void index_settle(struct index *index, uint64_t offset);
/* Writes the index as the last message before the end, which has its offset. 0 or -1. */
int index_write(const struct index *index, struct writer *out);
/* Reads the index of FILE or a folder; false: there is none at the offset that its end gives. */
bool index_read(struct index *index, const char *file);
void index_free(struct index *index);

#endif
