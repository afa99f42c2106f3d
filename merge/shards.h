/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace as a folder of shards: base/run/shard_files.h. */
#ifndef MERGE_SHARDS_H
#define MERGE_SHARDS_H

#include "../base/run/shard_files.h"
#include "merge.h"

/* How many, and what they are divided by. */
struct shard_wish {
	const char *folder;	/* NULL: one stream */
	uint32_t count;		/* 0: one a node */
};

/* Which shard each rank is in: ranges of ranks that are as long as each other, or the ranks of a node. */
struct shard_plan plan_shards(const struct input *input, uint32_t count);
/* The shards of this member of the team; what they define is named by the first member, if NAMES. */
void write_shards(struct input *input, const struct shard_wish *wish, const struct team *team, bool names,
    int argc, char **argv);

#endif
