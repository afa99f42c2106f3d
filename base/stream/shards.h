/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A folder of shards as the one stream that they are pieces of (trace.5, SHARDS). shards_open.c:
 * which there are; shards.c: their messages; shards_place.c: going elsewhere.
 */
#ifndef SHARDS_H
#define SHARDS_H

#include "reader.h"

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
	/* that stand before the head: each its size, then its bytes */
	unsigned char *samples;
	size_t sample_at, sample_end, sample_capacity;
	uint32_t number;
};

struct shards {
	struct reader *in;		/* of the folder */
	char *folder;
	enum reading how;
	struct part *parts;
	uint32_t count;			/* that are there */
	uint32_t *heap;			/* indices of those whose head is a block */
	uint32_t heap_count;
	struct part *current;		/* whose message was returned last; NULL: none */
	uint64_t defined;		/* definitions that are still to come, from the first one */
	bool defined_all;		/* the others have passed theirs over */
	uint32_t other;			/* whose other messages come now; COUNT: blocks do */
	msgpack_unpacked unpacked;	/* of samples, or of a header or an end */
	/* of the next message (trace.5, SHARDS); those before are not wanted */
	uint64_t place, skip_to;
	/* of the message returned last, and in its file; 0: none yet */
	uint64_t last_place, last_offset;
	uint64_t round;			/* that begins next; 0: not known */
	uint32_t passed;		/* shards that have come to its beginning */
	uint64_t next_place;		/* the sum of where that is in them */
	struct writer header;		/* READ_ANY: the message, then the end; others: empty */
	bool end_given;
	char **lost;
	size_t lost_count;
	struct shard_head head;
};

/* The folder's shards, as IN->shards. 0 or -1. */
int shards_open(struct reader *in, const char *folder, enum reading how);
void shards_close(struct reader *in);
int shards_next(struct shards *s, struct message *message);
/* How much of the shards has been read. */
double shards_share(const struct shards *s);
/* Goes on at that place: by the indexes of the shards where a round begins there, else by
 * reading. */
void shards_jump(struct reader *in, uint64_t place);
int shards_rewind(struct reader *in);

/* What a message of kind shard says. 0 or -1. */
int shard_read(struct reader *in, const struct message *message, struct shard_head *head);
/* Its next message, behind its samples, becomes the head. 0 or -1. */
int shard_advance(struct shards *s, struct part *part);
/* A shard that is damaged ends the reading, or, where the rest will do, ends here itself. 0 or
 * -1. */
int shard_damaged(struct shards *s, struct part *part);
/* What is wrong with a shard is wrong with the whole. -1. */
int shard_fail(struct shards *s, const struct part *part);

#endif
