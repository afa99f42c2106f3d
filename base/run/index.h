/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the synchronisation points of a graph lie: trace.5, index. Of a folder of shards each has one;
 * what is read is their sum, whose offsets are places in the folder, as readers of it tell and take
 * them. So who wants to begin at a point does the same with a file and a folder:
 *
 *	index_read(&index, file);
 *	entry = index_before(&index, point);
 *	reader_open(&in, file, READ_FILE), and reads on as far as the definitions go, which is
 *	    while (reader_offset(in) <= index.defined)
 *	reader_jump(in, entry.from);
 *
 * Before what comes now there were entry.before points; the message at entry.at is one that INDEX tells of.
 * An index may lie, with right hashes; who believes it checks that a point is where it was said.
 */
#ifndef INDEX_H
#define INDEX_H

#include "../stream/stream.h"

struct index_entry {			/* a synchronisation point */
	uint64_t rows;			/* before it, on all locations */
	uint64_t from;			/* rows from it on lie in blocks from this offset on */
	uint64_t before;		/* synchronisation points before that offset */
	uint64_t at;			/* offset of its message; 0: see index_settle */
};

struct index {
	uint64_t syncs;			/* synchronisation points of the run */
	uint64_t step;			/* entry i is number (i + 1) step of them, from 1 */
	uint64_t defined;		/* offset of the last definition */
	uint64_t rows;			/* of the run; only read */
	struct index_entry *entries;
	size_t count, most;
};

/* SHARDS: so many indexes are read together, and each is kept short. */
void index_begin(struct index *index, uint32_t shards);
/* The next synchronisation point. Memory stays bounded: where entries are many every second goes. */
void index_add(struct index *index, struct index_entry entry);
/* In a shard that another one tells of points for: those whose messages come before OFFSET there. */
void index_settle(struct index *index, uint64_t offset);
/* Writes it as the last message before the end, which tells where it is. 0 or -1. */
int index_write(const struct index *index, struct writer *out);
/* True and the index of FILE or folder; false where it has none that stands where its end says. */
bool index_read(struct index *index, const char *file);
/* The last entry for a point no later than number POINT, from 1; all 0, the beginning, where there is none. */
struct index_entry index_before(const struct index *index, uint64_t point);
void index_free(struct index *index);

#endif
