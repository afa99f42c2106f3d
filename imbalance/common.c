/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "../base/tool/hash_table.h"
#include "../base/stream/stream.h"
#include "../base/tool/tool.h"
#include "common.h"

/* One rank may go on receiving what another sent that waits for it, and so get ahead of its wait. */
enum { KEPT = 4 };

struct common {
	uint64_t key;			/* 0: free slot */
	int64_t at_ns[KEPT];		/* latest first */
};

/* One analysis a process. Until then nothing is asked for again: all synchronised twice since. */
static int64_t forgotten_ns;

#define HASH(c) mix((c)->key, 0)
#define SAME(a, b) ((a)->key == (b)->key)
#define FREE(c) ((c)->key == 0)
#define MAKE_FREE(c) ((c)->key = 0)
#define RECENT(c) ((c)->at_ns[0] > forgotten_ns)
HASH_TABLE(table, struct common, HASH, SAME, FREE, MAKE_FREE, RECENT, die("out of memory"))
#undef HASH
#undef SAME
#undef FREE
#undef MAKE_FREE

static struct table commons;

void
common_begin(void)
{
	table_begin(&commons, 1024);
	forgotten_ns = INT64_MIN;
}

void
common_forget(int64_t at_ns)
{
	if (at_ns > forgotten_ns)
		forgotten_ns = at_ns;
}

uint64_t
common_pair(uint32_t a, uint32_t b)
{
	return 1 + ((uint64_t)(a < b ? a : b) << 31 | (a < b ? b : a));
}

uint64_t
common_comm(uint32_t location, uint32_t comm)
{
	return (uint64_t)1 << 62 | (uint64_t)location << 31 | comm;
}

int64_t
common_before(uint64_t key, int64_t now_ns)
{
	struct common wanted = { .key = key }, *found = table_find(&commons, &wanted);

	for (int i = 0; found != NULL && i < KEPT; i++)
		if (found->at_ns[i] < now_ns)
			return found->at_ns[i];
	return INT64_MIN;
}

void
common_note(uint64_t key, int64_t at_ns)
{
	struct common new = { .key = key }, *at;

	for (int i = 0; i < KEPT; i++)
		new.at_ns[i] = INT64_MIN;
	at = table_add(&commons, &new);
	if (at_ns > at->at_ns[0]) {
		memmove(at->at_ns + 1, at->at_ns, (KEPT - 1) * sizeof at->at_ns[0]);
		at->at_ns[0] = at_ns;
	}
}
