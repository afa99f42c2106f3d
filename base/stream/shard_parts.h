/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A folder of shards as its files see it: shards_open.c (which there are), shards.c (their messages),
 * shards_place.c (going elsewhere).
 */
#ifndef SHARD_PARTS_H
#define SHARD_PARTS_H

#include "shards.h"

enum state { BLOCK, OTHER, ENDED };

/* One of the shards. */
struct part {
	struct reader *in;
	char *path;
	struct message head;		/* the next one, or the end of its samples */
	enum state state;
	bool has_head;			/* false behind samples that no block follows */
	int64_t enter_ns;		/* of a block: its place among the others' */
	int64_t location;
	unsigned char *samples;		/* that stand before the head: each its size, then its bytes */
	size_t sample_at, sample_end, sample_capacity;
	uint32_t number;
};

struct shards {
	char *folder;
	enum reading how;
	struct part *parts;
	uint32_t count, all;		/* that are there; of the run */
	uint32_t *heap;			/* indices of those whose head is a block */
	uint32_t heap_count;
	struct part *current;		/* whose message was returned last; NULL: none */
	uint64_t defined;		/* definitions that are still to come, from the first one */
	bool defined_all;		/* the others have passed theirs over */
	uint32_t other;			/* whose other messages come now; COUNT: blocks do */
	struct reader *replay;		/* samples, and an end that is made */
	uint64_t place, skip_to;	/* of the next message; those before are not wanted */
	uint64_t last_place, last_offset;	/* of the message returned last, and in its file; 0: none yet */
	uint64_t round;			/* that begins next; 0: not known */
	uint32_t passed;		/* shards that have come to its beginning */
	uint64_t next_place;		/* the sum of where that is in them */
	struct writer header;		/* READ_ANY: the message, then the end; others: empty */
	bool end_given;
	char **lost;
	size_t lost_count;
	struct shard_head head;
};

/* Its next message, behind its samples, becomes the head. 0 or -1. */
int shard_advance(struct reader *in, struct part *part);
/* A shard that is damaged ends the reading, or, where the rest will do, ends here itself. 0 or -1. */
int shard_damaged(struct reader *in, struct part *part);
/* What is wrong with a shard is wrong with the whole. -1. */
int shard_fail(struct reader *in, const struct part *part);

#endif
