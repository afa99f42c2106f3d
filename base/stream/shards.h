/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder of shards as the one stream that they are pieces of (trace.5, SHARDS). Part of the reader. */
#ifndef SHARDS_H
#define SHARDS_H

#include "reader.h"

/* The folder's shards; PARTIAL: those that are there and whole enough to begin. 0 or -1. */
int shards_open(struct reader *in, const char *folder, enum reading how);
void shards_close(struct reader *in);
int shards_next(struct reader *in, struct message *message);
/* The offset of the message given last in its shard's file; false: no message has come yet. */
bool shards_place(const struct reader *in, uint64_t *offset);
/* The place of the next message (trace.5, SHARDS); and how much of the shards has been read. */
uint64_t shards_offset(const struct reader *in);
double shards_share(const struct reader *in);
/* Goes on at that place: by the indexes of the shards where a round begins there, else by reading. */
void shards_jump(struct reader *in, uint64_t place);
int shards_rewind(struct reader *in);
const char *shards_lost(const struct reader *in, size_t i);

const struct shard_head *shards_head(const struct reader *in);

/* What a message of kind shard says. 0 or -1. */
int shard_read(struct reader *in, const struct message *message, struct shard_head *head);

#endif
