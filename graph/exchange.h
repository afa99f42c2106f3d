/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs of the shards of one run, each with the ranks of its own. What a row says about ranks of another
 * shard goes there as a parcel: a send to the shard of its target, one end of an epoch to that of the
 * target, a member of a collective to the shard that its instance falls to.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "../base/team/team.h"
#include "graph.h"

enum parcel_kind { PARCEL_SEND, PARCEL_EPOCH, PARCEL_MEMBER };

struct parcel {
	uint64_t seq;
	int64_t enter_ns, leave_ns;	/* of a member; of an epoch the time of its end: enter */
	int64_t open;			/* of a member: requests pending */
	uint32_t location, comm;
	uint32_t index;			/* of the epoch of the pair; of the collective of the communicator */
	uint32_t order;			/* of a persistent collective, of which INDEX counts the starts; or 0 */
	uint32_t candidates;		/* of the row: see struct location */
	uint32_t to;			/* shard */
	int32_t source, target, tag;	/* world ranks; source of an epoch: its origin */
	uint16_t call;
	uint8_t kind, end;		/* end: of an epoch, see epochs.c */
};

/* A collective of all ranks that may be a synchronisation point, once all know what is pending. */
struct candidate {
	uint64_t number;		/* as ranks count them, from 1 */
	uint64_t round;			/* of the member that came first */
	uint64_t *seqs;			/* by location */
	bool pending, overlaps;
};

struct exchange {
	const uint32_t *of;		/* by rank its shard */
	uint32_t shard, shards;		/* this one, of how many */
	struct parcel *parcels;		/* to go out */
	size_t count, capacity;
	struct candidate *candidates;	/* complete and not decided */
	size_t candidate_count, candidate_capacity;
	uint32_t oldest, newest;	/* listed operations of ranks of other shards */
	char (*lines)[256];		/* what tell had to say */
	size_t line_count, line_capacity;
};

/* Is the rank, or the location, of another shard? */
static inline bool
is_away(const struct graph *graph, int32_t rank)
{
	return graph->exchange != NULL && graph->exchange->of[rank] != graph->exchange->shard;
}

void exchange_post(struct graph *graph, uint32_t to, struct parcel parcel);

/* rounds.c: all shards of the folder become shards of a graph in another, by this team, so many rows at a time; 0: as many as are good. */
struct polls;
void match_shards(const char *from, const char *to, const struct polls *polls, uint64_t round_rows,
    struct team *team, int argc, char **argv);

#endif
