/* SPDX-License-Identifier: BSD-3-Clause */
/* One shard on its way through lp-graph: read up to a time, matched as far as its own ranks go, written. */
#ifndef FEED_H
#define FEED_H

#include "../base/run/shard_files.h"
#include "exchange.h"
#include "polls.h"

struct held_samples;

struct feed {
	struct graph graph;
	struct exchange exchange;
	struct polls polls;
	struct reader *in, *ahead;	/* the second one only looks when blocks begin */
	struct message head;		/* read and not taken */
	bool has_head, ended;
	struct calls calls;
	struct held_samples *samples;	/* that stand before the next block */
	size_t sample_count, sample_capacity;
	uint64_t taken_rows, ahead_rows;
	uint64_t next_rows;		/* of the block that AHEAD stands behind */
	int64_t next_ns;		/* and when it begins; INT64_MAX: there are no more */
	int64_t begun_ns;		/* the latest that any block taken so far begins */
	bool looked;
	struct round {
		uint64_t at;		/* offset of its first message in the file that is written */
		uint64_t syncs;		/* points before it */
	} *rounds;
	size_t round_count, round_capacity;
};

/*
 * Opens shard NUMBER of FROM and begins that of TO; KNOWN and LOCATIONS are the same for all of the run.
 */
void feed_open(struct feed *feed, const char *from, const char *to, uint32_t number,
    const struct definitions *known, struct location *locations, const struct polls *polls, int argc,
    char **argv);
/* The next round begins, from 1. */
void feed_begin_round(struct feed *feed);
/* The next synchronisation point, some members of which are in ROUND; SEQS: the shard tells of it. */
void feed_take_sync(struct feed *feed, uint64_t round, const uint64_t *seqs);
/*
 * When the first block begins behind so many more rows; INT64_MAX: the shard ends before. Where blocks are not in
 * order none counts as beginning before another that stands before it.
 */
int64_t feed_look(struct feed *feed, uint64_t rows);
/* Takes all blocks that begin no later than that. */
void feed_read(struct feed *feed, int64_t until_ns);
void feed_close(struct feed *feed);

#endif
