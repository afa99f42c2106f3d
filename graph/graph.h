/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of lp-graph share. Rows are named by location and seq, as in lp-trace(5). */
#ifndef GRAPH_H
#define GRAPH_H

#include "../base/mpi/call_class.h"
#include "../base/stream/calls.h"
#include "../base/run/definitions.h"
#include "../base/run/index.h"
#include "../base/tool/tool.h"

enum { NONE = UINT32_MAX };	/* no operation */

/*
 * An operation that still lacks its other end. It sits in a queue of its channel (next) and, while
 * an edge to it may still come, in the list of its location (older, newer), in order of rows.
 */
struct operation {
	uint64_t seq;		/* of the row that will be the edge's end */
	uint32_t location;
	uint32_t next;
	uint32_t older, newer;	/* NONE, NONE and not listed: no edge can come yet */
	int32_t peer, tag;	/* of receives: as asked for, then as received; world rank */
	uint32_t comm;
	uint32_t candidates;	/* of its row: see struct location */
	uint16_t call;
	uint8_t state;		/* enum receive_state; sends: POSTED, 0 */
	bool listed;
};

/* Dropped: cancelled, it takes no message. A probe sees that of the next receive in its queue. */
enum receive_state { POSTED, COMPLETED, DROPPED, PROBED };

struct location {
	uint64_t next_seq;	/* rows read so far */
	int64_t last_leave_ns;
	int64_t open;		/* requests started and not completed */
	uint32_t candidates;	/* for a synchronisation point, that it has called */
	uint32_t oldest, newest;	/* its listed operations */
	uint32_t held, held_last;	/* receives from anyone, and those that wait for them */
};

struct counts {		/* of uint64_t alone: shards.c adds them up */
	uint64_t messages, collectives, unmatched_sends, unmatched_receives, unmatched_collectives;
	uint64_t refused_pending, refused_overlap, refused_partial;
	uint64_t errors;	/* calls that returned one */
	uint64_t mismatched;	/* instances whose members made different calls */
};

/* A place in the stream that goes out; of shards the round counts, which begins in all of them. */
struct spot {
	uint64_t offset, syncs;	/* in bytes; synchronisation points before it */
	uint64_t round;
};

struct graph {
	struct writer out;
	struct definitions known;
	struct location *locations;	/* known.location_count */
	struct operation *operations;	/* a pool; free ones are linked by next */
	size_t operation_count, operation_capacity;
	uint32_t free_operation;
	struct channels *channels;
	struct requests *requests, *early;
	bool any_early;		/* a completion came before its start: see match_early */
	struct instances *instances;
	struct edges *edges;
	struct active_targets *active;
	struct counts counts;
	struct index index;
	struct spot block;	/* the block of calls being read, with the samples before it */
	bool has_samples;	/* these have come, and the block has not */
	unsigned told;		/* problems named on stderr so far */
	bool nowhere;		/* a collective on no communicator is one of them */
	bool elsewhere;		/* a message to or from another MPI run is */
	struct exchange *exchange;	/* with the graphs of other shards; NULL: all ranks are in this one */
};

static inline int32_t
rank_of(const struct graph *graph, uint32_t location)
{
	return graph->known.location_rank[location];
}

/* The operation's end is in another shard: this graph gets what it says in its parcel. */
struct parcel;

void locations_begin(struct location *locations, uint32_t count);
/* operations.c: the pool and the lists of unresolved rows. */
uint32_t operation_new(struct graph *graph, uint32_t location, uint64_t seq, uint16_t call);
void operation_free(struct graph *graph, uint32_t operation);
void operation_list(struct graph *graph, uint32_t operation);	/* an edge to it is due */
void operation_unlist(struct graph *graph, uint32_t operation);
/* The first row of the location to which an edge may still come. */
uint64_t settled_seq(const struct graph *graph, uint32_t location);

/* match.c, channels.c: point-to-point messages, in posting order. */
void match_begin(struct graph *graph);
void match_send(struct graph *graph, uint32_t location, uint64_t seq, const struct calls *row, size_t i,
    uint16_t call);
/* A receive that is complete in the row that posts it. */
void match_receive(struct graph *graph, uint32_t location, uint64_t seq, const struct calls *row,
    size_t i, uint16_t call);
void match_post(struct graph *graph, uint32_t location, uint64_t seq, const struct calls *row, size_t i,
    uint16_t call);
/* The message that the probe in row START took out is received by the request of row SEQ. */
void match_taken(struct graph *graph, uint32_t prober, uint64_t start, uint32_t location, uint64_t seq,
    const struct calls *row, size_t i, uint16_t call);
void match_probe(struct graph *graph, uint32_t location, uint64_t seq, const struct calls *row, size_t i,
    uint16_t call);
/*
 * The request started in row START of location STARTER is complete in row SEQ of LOCATION. Where the
 * two differ the start may not have been read yet; then match_early makes up for it when it is.
 */
void match_complete(struct graph *graph, uint32_t starter, uint64_t start, uint32_t location,
    uint64_t seq, const struct calls *row, size_t i);
void match_early(struct graph *graph, uint32_t location, uint64_t seq);
void match_arrived(struct graph *graph, const struct parcel *parcel);
void match_end(struct graph *graph);

/* requests.c: what the rows of completions and starts refer to, by the row that began it. */
void request_begin(struct graph *graph);
void request_open(struct graph *graph, uint32_t location, uint64_t seq, uint32_t receive);
uint32_t request_close(struct graph *graph, uint32_t location, uint64_t seq);	/* or NONE */
/* Completions that came before their start: the operation that stands for them, or NONE. */
void request_early(struct graph *graph, uint32_t location, uint64_t seq, uint32_t completion);
uint32_t request_take_early(struct graph *graph, uint32_t location, uint64_t seq);
/* ORDER: of a collective, among those of its communicator on the rank, from 1. */
void request_init(struct graph *graph, uint32_t location, uint64_t seq, enum call_class class, uint32_t order);
/* The order of what was made there, and which start of it this is; false: it is not known. */
bool request_start(struct graph *graph, uint32_t location, uint64_t seq, uint32_t *order, uint32_t *start);
enum call_class request_init_class(const struct graph *graph, uint32_t location, uint64_t seq);
/* True where the request was an open one, false for an idle persistent one. */
bool request_free(struct graph *graph, uint32_t location, uint64_t seq);

/* collective.c: instances of collective calls and global synchronisation points. */
void collective_begin(struct graph *graph);
void collective_init(struct graph *graph, uint32_t location, uint64_t seq, uint32_t comm);
void collective_member(struct graph *graph, uint32_t location, uint64_t seq, const struct calls *row,
    size_t i);
void collective_arrived(struct graph *graph, const struct parcel *parcel);
/* Was the Nth candidate that is not decided yet crossed by an edge found here, as some before CROSSINGS are. */
size_t collective_crossings(const struct graph *graph);
bool collective_is_crossed(const struct graph *graph, size_t n);
bool collective_has_drifted(const struct graph *graph);
/* The first N are decided. */
void collective_decided(struct graph *graph, size_t n);
void collective_end(struct graph *graph);
/* An edge between rows that have so many candidates before them: those between are crossed. */
void collective_crossed(struct graph *graph, uint32_t from, uint32_t to);

/* epochs.c: MPI_Win_post, start, complete and wait. EXPOSES: on the side of the target. */
void epoch_begin(struct graph *graph);
void epoch_open(struct graph *graph, uint32_t location, uint64_t seq, const struct calls *row,
    size_t i, uint16_t call, bool exposes);
/* The epoch that row OPENING of location OPENER opened ends in row SEQ of LOCATION. */
void epoch_close(struct graph *graph, uint32_t opener, uint64_t opening, uint32_t location,
    uint64_t seq, uint16_t call, bool exposes);
void epoch_arrived(struct graph *graph, const struct parcel *parcel);
void epoch_end(struct graph *graph);

/* edges.c: what goes out. */
void edges_begin(struct graph *graph);
void edge_message(struct graph *graph, uint32_t source, uint64_t send, uint32_t target,
    uint64_t receive);
/* A probe saw what that send sent: behind the edge of the message, where that is received. */
void edge_probe(struct graph *graph, uint32_t source, uint64_t send, uint32_t target, uint64_t probe);
void edge_collective(struct graph *graph, uint32_t members, const uint32_t *locations,
    const uint64_t *seqs);
/* All of them go out; of a shard's round no edge does before. */
void edges_flush(struct graph *graph);
/* Its ENTRY in the index tells where the first block with one of the rows SEQS is, and gets the rest here. */
void write_sync(struct graph *graph, const uint64_t *seqs, struct index_entry entry);
void write_settled(struct graph *graph);
void write_settled_at(struct graph *graph, const uint64_t *seqs);
/* The counts as a message; and as a line for people. */
void write_matching(struct graph *graph);
void note_matching(const struct counts *counts, uint64_t syncs);

/* One line about a row that cannot be matched; after the tenth only counting goes on. */
void tell(struct graph *graph, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
