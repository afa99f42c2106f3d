/* SPDX-License-Identifier: BSD-3-Clause */
/* The shards of a run in rounds: rounds.c drives them, decide.c finds what all of them know together. */
#ifndef ROUNDS_H
#define ROUNDS_H

#include "feed.h"

struct rounds {
	struct team *team;
	struct definitions known;
	struct location *locations;
	uint32_t shards, first, end;	/* of the run; the own ones */
	int *member_of;			/* by shard */
	struct feed *feeds;		/* of own shards */
	int64_t *settled;		/* by location: see find_settled; MAX is taken of all members */
	int64_t until_ns;		/* of the round: the last begin of its blocks; INT64_MAX: it takes what is left */
	uint64_t *seqs;			/* the same as rows */
	uint64_t syncs;			/* points so far */
	uint64_t rows;			/* that each shard looks ahead in a round */
};

static inline struct feed *
feed_of(const struct rounds *r, uint32_t shard)
{
	return shard >= r->first && shard < r->end ? &r->feeds[shard - r->first] : NULL;
}

/*
 * decide.c: by location the first row to which an edge may still come goes to r->seqs, from all members; and NEXT_NS
 * of own shards, how far the next round goes, becomes the least of all members'.
 */
void find_settled(struct rounds *rounds, int64_t *next_ns);
/* Then: which of the candidates of the round are synchronisation points; the last shard tells of them. */
void decide(struct rounds *rounds);

#endif
