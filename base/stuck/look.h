/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that the threads of a run are in, from its raw traces, and which of them can go on.
 */
#ifndef LOOK_H
#define LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "../mpi/call_class.h"
#include "../run/meetings.h"
#include "../stream/calls.h"
#include "../stream/open_call.h"
#include "../symbols/symbols.h"
#include "unreturned.h"

/* A message, a collective or a part of an epoch that a call waits for. */
struct row {
	enum call_class class;
	unsigned call;			/* index of call_name */
	uint32_t comm;
	int32_t peer, tag;
	uint32_t collective;		/* its number on comm; 0: not known */
	bool may;			/* MPI lets the call end without the other side */
	uint32_t node;			/* of the wait-for graph, that it waits for; or NO_NODE */
};

/* A block of calls in a trace. */
struct block {
	const char *file;
	uint64_t offset, first, count;
};

struct thread {
	int32_t rank;
	uint32_t location;
	struct open_call open;
	unsigned call;			/* index of call_name; 0: computing */
	uint64_t rows;
	int64_t since_ns;		/* enter of the call, or last leave; on the rank's clock */
	/* the same without failed tests and probes; at least the begin of the blocks read */
	int64_t moved_ns;
	unsigned polls;	/* index of call_name of its newest row, if that is one of these; or 0 */
	struct block *blocks;
	size_t block_count, block_capacity;
	uint32_t node;			/* of the wait-for graph */
	struct row *ops;		/* it waits for these: messages, collectives */
	size_t op_count;
	bool either;			/* one of them is enough */
	bool unknown;			/* there are more */
	bool waits;			/* it cannot go on by itself */
	struct calls calls;		/* some of its rows, or all */
};

enum life { ABSENT, ALIVE, REMOTE, DEAD, ENDED };	/* REMOTE: on another host, state unknown */

struct site_place { uint64_t address; uint32_t site; };
struct module_place { struct module module; uint64_t base, bytes; };
/* By a rank's own number: its communicator, its rank and side in it, its sources there. */
struct member { uint32_t group; int32_t rank; int side; int32_t *sources; uint32_t source_count; };

struct rank {
	enum life life;
	int64_t pid;
	char *host, *program;
	struct thread *threads;		/* by location */
	size_t thread_count, thread_capacity;
	struct site_place *sites;
	size_t site_count, site_capacity;
	struct module_place *modules;
	size_t module_count, module_capacity;
	int32_t world;
	struct membership *comms;	/* as it has defined them */
	size_t comm_count, comm_capacity;
	struct kernel_clock *kernels;
	size_t kernel_count, kernel_capacity;
	struct member *members;
	size_t member_count, member_capacity;
	/* only its process shows it, or nothing: it has not called MPI_Init */
	bool outside;
	bool ended, died;
	int64_t died_ns;		/* as the recorder saw it; 0: unknown */
	char state;			/* from /proc: R, S, D, T, ...; 0: unknown */
	char wchan[40];			/* its wait channel in the kernel; empty: unknown */
	uint32_t node;
	bool awaited;			/* somebody waits for it: graph_mark_awaited() */
	bool blamed;
};

/* A communicator, of all ranks that know it: members by side and rank in it; -1: unknown. */
struct group {
	uint64_t id;
	int32_t size, remote_size;	/* of side 0; of side 1 of an intercommunicator */
	int32_t *of[2];			/* NULL: the first MPI_COMM_WORLD */
};

/* An MPI_COMM_WORLD: ranks FIRST to FIRST + RANKS - 1 of the look. */
struct world {
	uint64_t run;
	int32_t first, ranks;
	const char *file;		/* its first trace, and the offset of the rank there */
	uint64_t offset;
};

#define STILL_NS 10000000000	/* if nothing has moved for so long it counts as stuck */

struct look {
	int32_t rank_count;
	struct rank *ranks;
	struct world *worlds;
	size_t world_count, world_capacity;
	struct group *groups;	/* 0: none, 1: the first MPI_COMM_WORLD, 2: MPI_COMM_SELF */
	size_t group_count, group_capacity;
	uint16_t *names;		/* by a stream's number of a call: the index of call_name */
	int64_t now_ns;			/* on this host's clock, or the time of the last event */
	int64_t killed_ns;	/* when the recorder saw the last process gone; 0: unknown */
	bool live;		/* processes of the run may live */
	bool elsewhere;			/* some ranks have another host's clock */
	bool starting;	/* traces show who has called MPI_Init, and none that a rank has left it */
	uint64_t rows;			/* of all threads */
	struct symbol_files *names_of;	/* for names of places; NULL: they stay unnamed */
};

enum state { ENDED_WELL, MOVING, STUCK, KILLED };	/* KILLED: while it moved */
enum kind { NO_KIND, DEADLOCK, MISMATCH, WAITING, GONE };

/*
 * look.c: reads the traces in these files; the last may be beginnings of traces, which vanish when
 * these get their names. LIVE: their processes may live; else all that have not ended are dead.
 */
void look_read(struct look *look, char **files, size_t count, bool live,
    struct symbol_files *names_of);
void look_free(struct look *look);
/* The threads of all ranks, one after another: the first for NULL, and NULL behind the last. */
struct thread *next_thread(const struct look *look, const struct thread *thread);
/* rows.c: appends the block's rows. */
bool block_read(const struct block *block, struct calls *calls);
/* All rows of a thread, in calls; false: there are too many. */
bool rows_load(struct thread *thread);
/* Frees the rows of all threads. */
void rows_forget(struct look *look);
/* The start of a persistent collective. */
bool starts_persistent(unsigned call);
/* A row of a thread; false: not available. */
bool row_read(const struct look *look, struct thread *thread, uint64_t seq, struct row *row);
/*
 * Returns the last leave, and sets the thread's moved_ns and polls, and its call if that is
 * MPI_Abort, which has its row before it. Reads the newest block, and those before it while they
 * have failed tests and probes only, for BACK_NS.
 */
int64_t rows_last(const struct look *look, struct thread *thread, int64_t back_ns);
/* Whether one of its rows from FROM on is not a failed test or probe. */
bool rows_moved(const struct look *look, struct thread *thread, uint64_t from);
/* The number of collectives that the thread called on COMM up to row SEQ; 0: unknown. */
uint32_t rows_collectives(const struct look *look, struct thread *thread, uint32_t comm,
    uint64_t seq);
/* Messages of a channel in the rows of one rank; TAG -1: any. False: too many rows to read. */
struct channel { uint32_t comm; int32_t peer, tag; };
struct traffic { uint64_t sent, received, posted; };
bool rows_count(const struct look *look, struct rank *rank, struct channel channel,
    struct traffic *traffic);
/* members.c: joins the communicators as the ranks define them. Group 0 is none. */
void members_join(struct look *look);
uint32_t group_of(const struct rank *rank, uint32_t comm);
/* The rank's own number of a communicator, an index of its members; 0: it does not know it. */
uint32_t comm_of(const struct rank *rank, uint32_t group);
bool is_inter(const struct look *look, uint32_t group);
int32_t side_size(const struct look *look, uint32_t group, int side);
/* The world rank of the member; -1: unknown. */
int32_t member_at(const struct look *look, uint32_t group, int side, int32_t i);
/* In an intercommunicator peers are in the other group. */
int peers_side(const struct look *look, const struct rank *rank, uint32_t comm);
int32_t world_peer(const struct look *look, const struct rank *rank, uint32_t comm, int32_t peer);
/* Function, file and line of the call before the address, until the next call. */
struct site look_place(const struct look *look, const struct rank *rank, uint64_t address);
/* process.c: whether the rank's process lives, and its state. */
void process_look(const struct look *look, struct rank *rank);
/* Which ranks of the first MPI_COMM_WORLD are outside, and their processes on this host. */
void find_outside(struct look *look);

#endif
