/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder of shards that is being written: trace.5, SHARDS. */
#ifndef SHARD_FILES_H
#define SHARD_FILES_H

#include "../stream/stream.h"
#include "../team/team.h"

/* How a run is divided. */
struct shard_plan {
	uint64_t run;		/* a number that only the shards of this run share */
	uint32_t count, ranks;
	uint32_t *of;		/* by rank: its shard */
};

/*
 * Makes the folder, takes shards away that are there, and refuses one with anything else in it; all of
 * the team come back when it is done.
 */
void shards_prepare(const char *folder, const struct team *team);
/* The file of shard NUMBER, open and empty; errors are told of it from now on. */
int shard_create(const char *folder, uint32_t number);
/* The shard's first message: DEFINED messages that all shards have follow. */
void shard_write(struct writer *out, const struct shard_plan *plan, uint32_t number, uint64_t defined);
/* The shards of a member of the team are FIRST to before END. */
void shards_of_member(const struct team *team, int member, uint32_t count, uint32_t *first, uint32_t *end);
/* "shard.000012" */
enum { SHARD_NAME = 16 };
void shard_name(char name[SHARD_NAME], uint32_t number);

#endif
