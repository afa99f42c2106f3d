/* SPDX-License-Identifier: BSD-3-Clause */
/* When locations synchronised: the latest enter of the calls. Only causes.c includes this. */
#ifndef SYNCS_H
#define SYNCS_H

#include <string.h>

#include "../tool/hash_table.h"
#include "../tool/tool.h"

/*
 * A rank may receive more messages from a sender that waits for it, and so get ahead of that wait.
 */
enum { KEPT = 7 };	/* times for each key: one cache line */

struct common {
	uint64_t key;			/* 0: free slot */
	int64_t at_ns[KEPT];		/* latest first */
};

struct sync_table;
static int64_t forgotten_of(const struct sync_table *table);

#define HASH(c) mix((c)->key, 0)
#define SAME(a, b) ((a)->key == (b)->key)
#define FREE(c) ((c)->key == 0)
#define MAKE_FREE(c) ((c)->key = 0)
#define RECENT(c) ((c)->at_ns[0] > forgotten_of(table))
HASH_TABLE(sync_table, struct common, HASH, SAME, FREE, MAKE_FREE, RECENT, die("out of memory"))
#undef RECENT

struct syncs {
	struct sync_table table;	/* first */
	/* when the last synchronisation but one of all locations was: nothing before is needed */
	int64_t forgotten_ns;
};

static int64_t
forgotten_of(const struct sync_table *table)
{
	return ((const struct syncs *)(const void *)table)->forgotten_ns;
}

#undef HASH
#undef SAME
#undef FREE
#undef MAKE_FREE

/* Keys: of two locations; of one location in a communicator. */
static inline uint64_t
common_pair(uint32_t a, uint32_t b)
{
	return 1 + ((uint64_t)(a < b ? a : b) << 31 | (a < b ? b : a));
}

static inline uint64_t
common_comm(uint32_t location, uint32_t comm)
{
	return (uint64_t)1 << 62 | (uint64_t)location << 31 | comm;
}

/*
 * The latest time before NOW, since the other location may have noted the explained call already;
 * INT64_MIN if there is none.
 */
static inline int64_t
common_before(const struct syncs *syncs, uint64_t key, int64_t now_ns)
{
	struct common wanted = { .key = key }, *found = sync_table_find(&syncs->table, &wanted);

	for (int i = 0; found != NULL && i < KEPT; i++)
		if (found->at_ns[i] < now_ns)
			return found->at_ns[i];
	return INT64_MIN;
}

static inline void
common_note(struct syncs *syncs, uint64_t key, int64_t at_ns)
{
	struct common new = { .key = key }, *at = sync_table_find(&syncs->table, &new);
	int64_t before[KEPT - 1];

	if (at == NULL) {
		for (int i = 0; i < KEPT; i++)
			new.at_ns[i] = INT64_MIN;
		at = sync_table_add(&syncs->table, &new);
	}
	if (at_ns > at->at_ns[0]) {
		memcpy(before, at->at_ns, sizeof before);
		memcpy(at->at_ns + 1, before, sizeof before);
		at->at_ns[0] = at_ns;
	}
}

#endif
