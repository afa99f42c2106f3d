/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a folder of shards: trace.5, SHARDS. */
#ifndef SHARD_FILES_H
#define SHARD_FILES_H

#include "../stream/stream.h"
#include "../team/team.h"

/*
 * Makes the folder, removes shards from it, and refuses a folder with any other file. Returns on
 * all members when this is done.
 */
void shards_prepare(const char *folder, const struct team *team);
/* Opens the empty file of shard NUMBER; later errors name it. */
int shard_create(const char *folder, uint32_t number);
/* Writes the shard's first message. */
void shard_write(struct writer *out, const struct shard_head *head);
/* The shards of a member of the team: FIRST to END - 1. */
void shards_of_member(const struct team *team, int member, uint32_t count, uint32_t *first,
    uint32_t *end);
/* "shard.000012" */
enum { SHARD_NAME = 16 };
void shard_name(char name[SHARD_NAME], uint32_t number);

#endif
