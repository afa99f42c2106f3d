/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of lp-graph. Rows are named by location and seq, as in lp-trace(5). */
#ifndef GRAPH_H
#define GRAPH_H

#include "../base/mpi/call_class.h"
#include "../base/run/definitions.h"
#include "../base/run/index.h"
#include "../base/run/shard_files.h"
#include "../base/stream/calls.h"
#include "../base/team/team.h"
#include "../base/tool/tool.h"

enum { NONE = UINT32_MAX };	/* no operation */

/* The row being matched: number I of a block. */
struct graph_row {
	const struct calls *calls;
	size_t i;
	uint64_t seq, start;	/* start: row of location STARTER that this one refers to */
	uint32_t location, starter;
	uint32_t candidates;	/* before it: see struct location */
	uint32_t comm;
	int32_t rank, peer, tag;
	uint16_t call;		/* of a part: that of its call */
	bool refers;
};

/*
 * An operation that lacks its other end. It is in a queue of its channel (next). While an edge to
 * it may come, it is also in the list of its location (older, newer), in order of rows.
 */
struct operation {
	uint64_t seq;		/* of the row that will be the edge's end */
	uint32_t location;
	uint32_t next;
	uint32_t older, newer;	/* NONE, NONE and not listed: no edge can come yet */
	int32_t peer, tag;	/* of receives: as posted, later as received; world rank */
	uint32_t comm;
	uint32_t candidates;	/* before its row: see struct location */
	uint32_t answer;	/* of a receive: first row that found it complete, or NONE */
	uint16_t call;
	uint8_t state;		/* enum receive_state; sends: POSTED, 0 */
	bool listed, overdue;
};

/*
 * DROPPED: cancelled, it takes no message. A probe sees the message of the next receive in its
 * queue.
 */
enum receive_state { POSTED, COMPLETED, DROPPED, PROBED };

struct location {
	uint64_t next_seq;	/* rows taken so far */
	uint64_t read_seq;	/* rows read so far: see order.c */
	int64_t last_leave_ns;	/* of these */
	int64_t open;		/* requests started and not completed */
	uint32_t candidates;	/* collectives called so far that may be synchronisation points */
	struct list { uint32_t oldest, newest; } listed;	/* its operations */
	uint32_t due;		/* the first of these that is not overdue */
	uint32_t held, held_last;	/* receives from any source, and those that wait for them */
	struct computings {		/* see holds.c; in order of time */
		struct computing *at;
		size_t begin, end, capacity;
		size_t to_come;		/* the last ones: their rows have not been matched */
		int64_t last_leave_ns;	/* of the rows seen */
		int64_t all_ns;		/* sum of those matched that are in no wait by polls */
		bool in_wait;		/* the last one matched is part of a wait by polls */
	} computings;
	/* Collectives that it has started and not completed: see background.c. */
	struct started {
		uint64_t seq;
		int64_t leave_ns, computed_ns;	/* of the start; computings.all_ns then */
		uint32_t comm, order, index;	/* as of a parcel */
		bool near;			/* of a neighbourhood */
	} *started;
	size_t started_count, started_capacity;
};

struct counts {		/* uint64_t only: shards.c sums them */
	uint64_t messages, collectives, unmatched_sends, unmatched_receives, unmatched_collectives;
	uint64_t refused_pending, refused_overlap, refused_partial;
	uint64_t errors;	/* calls that returned one */
	uint64_t mismatched_collectives;	/* whose members made different calls */
	uint64_t syncs;		/* synchronisation points; set at the end */
	uint64_t waits, absorbed;	/* waits made of polls, and failed polls in them */
};

/* Undecided candidates for a synchronisation point. */
struct crossings {
	bool drifted;		/* ranks count candidates differently: none is valid */
	uint32_t decided;	/* candidates before these */
	bool *crossed;		/* by an edge found here */
	size_t count, capacity;
};

/* A place in the output; in a shard the round, which begins in all shards. */
struct spot {
	uint64_t offset, syncs;	/* in bytes; synchronisation points before it */
	uint64_t round;
};

struct graph {
	struct reader *in;
	struct writer out;
	struct definitions known;
	struct location *locations;	/* known.location_count */
	struct operation *operations;	/* a pool; free ones are linked by next */
	size_t operation_count, operation_capacity;
	uint32_t free_operation;
	struct channels *channels;
	struct requests *requests, *early;
	struct counters *counters;
	bool any_early;		/* a completion came before its start: see match_early */
	struct instances *instances;
	struct backgrounds *backgrounds;
	struct comm_ranks *ranks;	/* scratch of these; NULL at first */
	int64_t next_background_ns;	/* until then none can be decided */
	struct crossings crossings;
	struct edges *edges;
	struct epochs *epochs;
	struct locks *locks;
	struct overdue *overdue;	/* of all shards here; NULL: no marks yet */
	uint64_t overdue_count;		/* operations that are overdue now */
	struct order *order;	/* NULL: ranks have one thread each */
	bool followed;		/* the run is in progress: blocks are in order step by step */
	struct open_handovers *handovers;
	uint16_t thread_numbers[2];	/* in the stream, of thread_wait and thread_signal */
	struct holds *holds;
	struct counts counts;
	struct index index;
	struct spot block;	/* the block of calls being read, with the samples before it */
	int64_t block_ns;	/* its first enter: earlier rows have all been read */
	bool has_samples;	/* the samples have come, and the block has not */
	unsigned told;		/* problems named on stderr so far */
	bool nowhere;		/* one of them: a collective without a communicator */
	bool elsewhere;		/* one of them: a message to or from another MPI run */
	/* with the graphs of other shards; NULL: all ranks are in this one */
	struct exchange *exchange;
};

static inline int32_t
rank_of(const struct graph *graph, uint32_t location)
{
	return graph->known.location_rank[location];
}

/*
 * graph.c: begins an empty graph; adds locations once their number is known; handles the rest at
 * the end.
 */
void graph_begin(struct graph *graph, uint32_t shards);
struct location *locations_new(uint32_t count);
void graph_end(struct graph *graph);
/* Passes a message on; CALLS: NULL, or its block, written anew if CHANGED. */
void pass_on(struct graph *graph, const struct message *message, const struct calls *calls,
    bool changed);

/* ---- shards -------------------------------------------------------------------------- */

/*
 * Each shard of a run has its own graph. An operation on another shard goes there as a parcel. A
 * send goes to the shard of its target, and so do a send that may be held up, an end of an epoch
 * and a call of a lock. A member of a collective goes to the shard that counts this instance, and
 * so do its completion, and calls after computations before that (background.c).
 */
enum parcel_kind {
	PARCEL_SEND, PARCEL_EPOCH, PARCEL_LOCK, PARCEL_HOLD, PARCEL_MEMBER, PARCEL_END, PARCEL_BACK
};

struct parcel {
	uint64_t seq;
	int64_t enter_ns, leave_ns;	/* of a member; of an epoch the enter of its end */
	int64_t open;			/* of a member: requests pending */
	int64_t since_ns;	/* of a lock: when MPI_Win_lock returned; back: see background.c */
	int64_t called_ns;		/* back: likewise */
	uint32_t location, comm;
	uint32_t index;	/* of the epoch of the pair; of the collective of the communicator */
	uint32_t order;	/* of a persistent collective, whose starts INDEX counts; or 0 */
	uint32_t candidates;		/* before the row: see struct location */
	uint32_t to;			/* shard */
	int32_t source, target, tag;	/* world ranks; source of an epoch: its origin */
	uint16_t call;
	uint8_t kind, end;		/* end: of an epoch, see epochs.c; of a lock, locks.c */
	bool shared, used;		/* lock: see locks.c */
	bool only;			/* hold: see holds.c */
	bool in_background, has_data;	/* member: see background.c */
	bool near;			/* end and back: likewise */
};

/*
 * A collective of all ranks that may be a synchronisation point, once all pending operations are
 * known.
 */
struct candidate {
	uint64_t number;		/* as ranks count them, from 1 */
	uint64_t round;			/* of the member that came first */
	uint64_t *seqs;			/* by location */
	bool pending, overlaps;
};

struct exchange {
	const uint32_t *of;		/* shard by rank */
	uint32_t shard, shards;		/* this shard, and the number of shards */
	const int *member_of;		/* of the team, by shard */
	struct post *parcels;		/* of all shards of this member, to be sent */
	struct candidate *candidates;	/* complete and not decided */
	size_t candidate_count, candidate_capacity;
	struct list listed;		/* operations of ranks of other shards */
	char (*lines)[256];		/* kept by tell */
	size_t line_count, line_capacity;
};

/* Whether the rank is in another shard; -1, of a location that nothing defines: in none. */
static inline bool
is_away(const struct graph *graph, int32_t rank)
{
	const struct exchange *x = graph->exchange;

	return x != NULL && (rank < 0 || x->of[rank] != x->shard);
}

/*
 * shards.c: sends the parcel, which gets the row's place and call, to shard TO, where it arrives at
 * the end of the round; or delivers it to this graph, at once. parcel_to_target: to the shard of
 * its target.
 */
void parcel_post(struct graph *graph, const struct graph_row *row, uint32_t to,
    struct parcel *parcel);
void parcel_to_target(struct graph *graph, const struct graph_row *row, struct parcel *parcel);

struct polls;		/* held.h */
/*
 * Matches all shards of a folder into shards of a graph in another, ROUND_ROWS at a time; 0: chosen
 * here.
 */
void match_shards(const char *from, const char *to, const struct polls *polls, uint64_t round_rows,
    struct team *team, int argc, char **argv);

/* ---- matching ------------------------------------------------------------------------ */

/* rows.c: matches rows of a location, which come in order. */
void take_rows(struct graph *graph, const struct calls *calls, size_t from, size_t to);

/*
 * order.c: rows of ranks with several threads, which are taken in the order of their enters. Begins
 * once the locations are known.
 */
void order_begin(struct graph *graph);
/* By location the next one of its rank, or NONE. Locations of ranks are the first ones. */
uint32_t *next_threads(const struct definitions *known);
/* Does another thread of its rank make calls, too? NEXT: of next_threads. */
static inline bool
is_one_of_several(const uint32_t *next, const struct definitions *known, uint32_t location)
{
	return next[location] != NONE || location >= (uint32_t)known->ranks;
}
bool order_keep(struct graph *graph, const struct calls *calls);	/* false: take them now */
/* All rows entered before have been read: takes them. */
void order_take(struct graph *graph, int64_t until_ns);

/* operations.c: the pool and the lists of unresolved rows. */
uint32_t operation_new(struct graph *graph, const struct graph_row *row);
uint32_t operation_of_parcel(struct graph *graph, const struct parcel *parcel);	/* and lists it */
void operation_free(struct graph *graph, uint32_t operation);
void operation_list(struct graph *graph, uint32_t operation);	/* an edge to it is due */
/* Appends it to the queue from FIRST to LAST, or NONE. */
void queue_add(struct graph *graph, uint32_t *first, uint32_t *last, uint32_t operation);
/* The first row of the location to which an edge may still come. */
uint64_t settled_seq(const struct graph *graph, uint32_t location);
static inline void
lower(uint64_t *seq, uint64_t other)
{
	if (other < *seq)
		*seq = other;
}

/* match.c: what later rows refer to, by the row that began it. */
struct request {
	uint64_t seq;
	uint32_t location;	/* NONE: free slot */
	uint32_t operation;	/* an open receive; NONE: a persistent request, or an epoch */
	enum call_class class;
	uint32_t order;		/* of a persistent collective, or what it starts; of an epoch */
	uint32_t starts;	/* of a persistent collective */
	uint32_t comm;		/* of a send; the MPI window of an epoch */
	int32_t peer;		/* the other rank there */
};
struct request *request_find(const struct graph *graph, uint32_t location, uint64_t seq);
void request_open(struct graph *graph, const struct graph_row *row, struct request request);
void request_close(struct graph *graph, struct request *request);
/* True if the request was open, false if it was an idle persistent one. */
bool request_free(struct graph *graph, uint32_t location, uint64_t seq);
/* Returns the count so far: of collectives of a rank, or epochs of a pair. */
enum counter_kind { COUNT_COLLECTIVES, COUNT_INITS, COUNT_POSTS, COUNT_ACCESSES };
uint32_t count_one(struct graph *graph, enum counter_kind kind, uint32_t comm, int32_t rank,
    int32_t peer);

/* Point-to-point messages, in posting order. */
void match_send(struct graph *graph, const struct graph_row *row);
void match_receive(struct graph *graph, const struct graph_row *row, enum receive_state state);
/* The request of this row receives the message that the probe it refers to took out. */
void match_taken(struct graph *graph, const struct graph_row *row);
/* The row found the request that it refers to complete. */
void match_answer(struct graph *graph, const struct graph_row *row);
/* FOUND: it says so. */
void match_probe(struct graph *graph, const struct graph_row *row, bool found);
/*
 * The row completes the request that it refers to. If another thread started it and that row is not
 * read yet, match_early completes it later.
 */
void match_complete(struct graph *graph, const struct graph_row *row);
void match_early(struct graph *graph, uint32_t location, uint64_t seq);
void match_end(struct graph *graph);

/*
 * channels.c: MPI receives the messages of one channel (communicator, source, destination, tag) in
 * the order of their sends, by receives in the order of their posts. So a channel is two queues
 * whose heads match. Ranks are of the world.
 */
/* A send that has arrived, or a receive of RANK: appended to its channel, which is matched. */
void channel_send(struct graph *graph, const struct parcel *parcel);
void channel_receive(struct graph *graph, int32_t rank, uint32_t receive);
/* A receive in its channel has completed or is dropped. */
void channel_again(struct graph *graph, int32_t rank, uint32_t receive);
void channels_end(struct graph *graph);

/* The key of an instance of a collective call, for hash tables: as in a parcel. */
#define INSTANCE_HASH(i) mix((uint64_t)(i)->order << 32 | (i)->comm, (i)->index)
#define SAME_INSTANCE(a, b) \
	((a)->comm == (b)->comm && (a)->order == (b)->order && (a)->index == (b)->index)

/* collective.c: instances of collective calls and global synchronisation points. */
void collective_init(struct graph *graph, const struct graph_row *row);
void collective_member(struct graph *graph, const struct graph_row *row);
void collective_arrived(struct graph *graph, const struct parcel *parcel);
/* Of a communicator or MPI window; 0: it is not known. */
uint32_t member_count(const struct graph *graph, uint32_t comm);
/* Where the instance is counted. */
uint32_t collective_shard(const struct graph *graph, const struct parcel *parcel);
/* Decides the first candidate: whether an edge crossed it. */
bool crossing_take(struct crossings *crossings);
void collective_end(struct graph *graph);
/* An edge whose ends have FROM and TO candidates before them crosses the candidates between. */
void crossing_mark(struct crossings *crossings, uint32_t from, uint32_t to);

/*
 * background.c: completions of collectives that a member held up which MPI does not let them wait
 * for. A row starts such a collective, maybe; or completes it, false: it started something else; or
 * ends a computation that began at FROM_NS. BEFORE, UNTIL_NS: as for locks.
 */
void background_open(struct graph *graph, const struct graph_row *row, struct parcel *start);
bool background_close(struct graph *graph, const struct graph_row *row);
void background_back(struct graph *graph, const struct graph_row *row, int64_t from_ns);
void background_started(struct graph *graph, const struct parcel *parcel, uint32_t size);
void background_ended(struct graph *graph, const struct parcel *parcel);
void background_returned(struct graph *graph, const struct parcel *parcel);
void backgrounds_decide(struct graph *graph, uint32_t before, int64_t until_ns);

/* epochs.c: MPI_Win_post, start, complete and wait. CLASS: of the call. */
void epoch_open(struct graph *graph, const struct graph_row *row, enum call_class class);
void epoch_close(struct graph *graph, const struct graph_row *row, enum call_class class);
void epoch_arrived(struct graph *graph, const struct parcel *parcel);
void epoch_end(struct graph *graph);

/*
 * locks.c: who waits for a lock. Decided are the calls before candidate number BEFORE for a
 * synchronisation point, and those that were left until UNTIL_NS.
 */
void locks_begin(struct graph *graph);
/* A call that locks, unlocks, accesses or flushes PEER, or all and therefore PEER, too. */
void lock_row(struct graph *graph, const struct graph_row *row, int32_t peer);
void lock_arrived(struct graph *graph, const struct parcel *parcel);
void locks_decide(struct graph *graph, uint32_t before, int64_t until_ns);

/*
 * holds.c: which sends lasted until their receiver was in a call again, and which one-sided calls
 * until their target was. BEFORE, UNTIL_NS: as for locks.
 */
void holds_begin(struct graph *graph);
/* Takes the times of a block as recorded, before polls become waits. */
void holds_see(struct graph *graph, const struct calls *calls);
/*
 * The row is being matched: from now on, what its location computed before it counts. Only needed
 * while computations are to come, or the last one is in a wait.
 */
void hold_reached(struct graph *graph, const struct graph_row *row);
/*
 * The row sends to PEER of the communicator or accesses its memory, or completes that. ONLY: the
 * row waits for nothing else.
 */
void hold_row(struct graph *graph, const struct graph_row *row, uint32_t comm, int32_t peer,
    bool only);
void one_sided_row(struct graph *graph, const struct graph_row *row);
void hold_arrived(struct graph *graph, const struct parcel *parcel);
void holds_decide(struct graph *graph, uint32_t before, int64_t until_ns);
/* No edge leads to rows before SEQS, by location, any more. */
void holds_forget(struct graph *graph, const uint64_t *seqs);
/* The first row of the location to which an edge may still lead; UINT64_MAX: none read so far. */
uint64_t hold_settled(const struct graph *graph, uint32_t location);

/*
 * overdue.c: rows that have lacked their other end for so long that reports go on without it. Sets
 * new marks if it is time: many more rows have been read than at the last ones, AT, or the run has
 * gone on for long. Rows still to come are not entered before COME_NS. TEAM: shares the run.
 */
struct overdue *overdue_new(uint32_t locations);
bool overdue_look(struct overdue *overdue, const struct team *team,
    const struct location *locations, int64_t at, bool is_time, int64_t come_ns);
/*
 * Writes rows that have become overdue. Lowers SEQS to the first row of each location that lacks
 * its other end and is not overdue; false: none is overdue.
 */
bool overdue_pass(struct graph *graph, uint64_t *seqs);

/* handovers.c: a wait for another thread and what ended it, two rows with the same tag. */
void handover_row(struct graph *graph, const struct graph_row *row);

/* edges.c: the output. */
void edges_begin(struct graph *graph);
enum edge_kind { EDGE_MESSAGE, EDGE_PROBE, EDGE_LOCK, EDGE_HOLD, EDGE_KINDS };
/*
 * FROM a send, an unlock, or the call that a receiver entered, TO who waited for it. The edge of a
 * message adds that of a probe which saw it, if the receive knows one.
 */
void edge_add(struct graph *graph, enum edge_kind kind, uint32_t from, uint32_t to);
/* The caller fills in the members in order of location; they stay until the next collective. */
void edge_collective(struct graph *graph, uint32_t members, uint32_t **locations, uint64_t **seqs);
struct writer *edges_writer(struct graph *graph);	/* for what goes out with edges */
/* Writes all edges; those of a shard's round come after its blocks. */
void edges_flush(struct graph *graph);
/* FIRST: the block of the first of the rows SEQS, for the index. */
void write_sync(struct graph *graph, const uint64_t *seqs, const struct spot *first);
/* EARLY: the same without rows that are overdue; NULL: there are none. */
void write_settled(struct graph *graph, const uint64_t *seqs, const uint64_t *early);
/* Writes the counts as a message; and as a line for people. */
void write_matching(struct graph *graph);
void note_matching(const struct counts *counts);

/* Reports a row that cannot be matched; of no rank: -1. After the tenth only counts. */
enum { LINES_TOLD = 10 };
void tell(struct graph *graph, int32_t rank, uint64_t seq, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
