/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A folder of shards as one stream (trace.5, SHARDS). shards_open.c finds and opens them, shards.c
 * reads their messages and moves to other places.
 */
#ifndef SHARDS_H
#define SHARDS_H

#include "reader.h"

enum state { BLOCK, OTHER, ENDED };

/* One shard. */
struct part {
	struct reader *in;
	char *path;
	struct message head;		/* its next message, or the end of its samples */
	enum state state;
	bool has_head;			/* false after samples that no block follows */
	int64_t enter_ns;		/* of a block: gives its order among the others */
	int64_t location;
	unsigned char *samples;		/* before the head: the size and the bytes of each */
	size_t sample_at, sample_end, sample_capacity;
	uint32_t number;
};

struct shards {
	struct reader *in;		/* of the folder */
	char *folder;
	enum reading how;
	struct part *parts;
	uint32_t count;			/* present shards */
	uint32_t *heap;			/* indices of the shards whose head is a block */
	uint32_t heap_count;
	struct part *current;		/* its message was returned last; NULL: none */
	uint64_t defined;		/* definitions of the first shard that are still to come */
	bool defined_all;		/* the other shards have skipped theirs */
	uint32_t other;			/* it gives its other messages now; COUNT: blocks come */
	msgpack_unpacked unpacked;	/* of samples, or of a header or an end */
	uint64_t place, skip_to;	/* of the next message (trace.5, SHARDS); first wanted */
	uint64_t last_place, last_offset;	/* of the last message; in its file; 0: none */
	uint64_t round;			/* the next to begin; 0: unknown */
	uint32_t passed;		/* shards that have reached its beginning */
	uint64_t next_place;		/* the sum of their offsets there */
	struct writer header;		/* READ_ANY: the header, then the end; else empty */
	bool end_given;
	char **lost;
	size_t lost_count;
	struct shard_head head;
};

/* Opens the folder's shards as IN->shards. 0 or -1. */
int shards_open(struct reader *in, const char *folder, enum reading how);
void shards_close(struct reader *in);
int shards_next(struct shards *s, struct message *message);
/* Continues at PLACE: by the shards' indexes if a round begins there, else by reading. */
void shards_jump(struct reader *in, uint64_t place);
int shards_rewind(struct reader *in);

/* Reads a message of kind shard. 0 or -1. */
int shard_read(struct reader *in, const struct message *message, struct shard_head *head);
/* A damaged shard ends the reading, or with READ_PARTIAL only itself. 0 or -1. */
int shard_damaged(struct shards *s, struct part *part);
/* An error in a shard is an error of the whole. -1. */
int shard_fail(struct shards *s, const struct part *part);

#endif
