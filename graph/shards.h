/* SPDX-License-Identifier: BSD-3-Clause */
/* The shards of a run, matched in rounds: shards.c drives them, shard.c reads and writes each. */
#ifndef SHARDS_H
#define SHARDS_H

#include "held.h"

struct shard {
	struct graph graph;
	struct exchange exchange;
	struct polls polls;
	struct reader *ahead;		/* the graph's shard again: looks when blocks begin */
	bool ended;			/* the graph's reader has */
	struct calls calls;
	uint64_t taken_rows, ahead_rows;
	int64_t *begins;		/* of blocks between both readers; INT64_MAX: no more */
	size_t begin_count, begin_capacity;
	uint64_t next_rows;		/* of the last one */
	int64_t next_ns;		/* and when it begins */
	struct spot *rounds;		/* where each begins in the written file */
	size_t round_count, round_capacity;
};

struct rounds;
/* Opens the own shard NUMBER and begins the one that is written. */
void shard_open(struct rounds *rounds, uint32_t number);
/* Begins the next round, from 1. */
void shard_begin_round(struct shard *shard);
/* When the first block after ROWS more rows begins; INT64_MAX: the shard ends before. */
int64_t shard_look(struct shard *shard, uint64_t rows);
/* Takes all blocks that begin no later than that. */
void shard_take(struct shard *shard, int64_t until_ns);
void shard_close(struct shard *shard);

struct rounds {
	const char *from, *to;		/* folders */
	const struct polls *polls;	/* as asked for */
	struct team *team;
	int argc;
	char **argv;
	struct definitions known;
	struct location *locations;	/* one array for all shards */
	struct post parcels;		/* to other shards */
	uint32_t count, first, end;	/* shards of the run; the own ones: [first, end) */
	int *member_of;			/* by shard */
	struct shard *own, *own_end;
	struct graph *last;		/* of the last shard, for all; NULL: another member's */
	uint64_t *seqs;			/* by location: see find_settled */
	struct overdue *overdue;	/* of all graphs here */
	bool has_overdue;		/* some member's had rows that are */
	uint64_t *early;		/* by location: see overdue_pass */
	int64_t *shared;		/* room for these while they are shared */
	/* of the round: last begin of its blocks; INT64_MAX: takes the rest */
	int64_t until_ns;
	int64_t come_ns;		/* rows that were not taken are not entered before */
	int64_t looked;			/* rows of all rounds, about */
	uint64_t syncs;			/* points so far */
	uint64_t rows;			/* that each shard looks ahead in a round */
};

static inline struct shard *
own_shard(const struct rounds *r, uint32_t number)
{
	return number >= r->first && number < r->end ? &r->own[number - r->first] : NULL;
}

/*
 * shard_syncs.c: sets r->seqs, by location, to the first row to which an edge from any member may
 * still come. NEXT_NS: how far own shards want to go in the next round; becomes the minimum of all
 * members.
 */
void find_settled(struct rounds *rounds, int64_t *next_ns);
/* Then decides which candidates of the round are synchronisation points. */
void decide_syncs(struct rounds *rounds);
/* First rows that are not overdue, for write_settled; NULL: none is overdue. */
const uint64_t *find_early(struct rounds *rounds);

#endif
