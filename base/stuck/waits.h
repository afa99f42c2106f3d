/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls wait for, the graph of these waits, and the verdict that follows from it. */
#ifndef WAITS_H
#define WAITS_H

#include "look.h"
#include "solve.h"

/* instead of the number of a collective */
#define FINALIZE UINT32_MAX
#define INITIALIZE (UINT32_MAX - 1)

struct verdict {
	struct look *look;
	enum state state;
	enum kind kind;
	char *sentence;
	const struct thread *at;	/* of a mismatch: one of the collectives */
	bool over;			/* no process lives */
	bool proved;			/* rows show that nothing is on its way */
	bool may;	/* it includes what an implementation alone may wait for */
	int64_t still_ns;		/* since the last event */
};

/* operations.c: finds the operations that the thread's call waits for. */
void find_ops(const struct look *look, struct rank *rank, struct thread *thread);
bool sends(const struct row *op);
/* A standard send may end before it is received, so long as nothing shows that it has not. */
bool is_buffered(const struct row *op);
bool receives(const struct row *op);
/* Whether the other side of a message of rank OWN is open in rank OTHER, too. */
bool is_met(const struct look *look, int32_t own, const struct row *op, int32_t other);
bool is_of_window(const struct row *op);
/* Whether rank OTHER is in the same MPI_Comm_create_group, as far as its arguments tell. */
bool has_joined(const struct look *look, int32_t own, const struct row *op, int32_t other);
/* Whether rank OTHER has done its part of the epoch that OP of rank OWN waits for. */
bool epoch_is_met(const struct look *look, int32_t own, const struct row *op, int32_t other);
/* Those but OWN that have locked the part of TARGET and not unlocked it; to be freed. */
size_t lock_holders(const struct look *look, int32_t own, uint32_t group, int32_t target,
    int32_t **holders);
/* Since when the rank has held such a lock; INT64_MIN: it has none. */
int64_t locked_since(const struct look *look, struct rank *rank, uint32_t group, int32_t target,
    bool any);
/* mismatch.c: one of the threads at a place where others are in another call; NULL: none. */
const struct thread *find_mismatch(const struct look *look);
enum { MOST_CALLS = 16 };
struct same { const struct thread *first; size_t threads; };
/* The different calls there, at most MOST_CALLS; returns their number. */
size_t mismatch_calls(const struct look *look, const struct thread *at, struct same *calls);
/* Whether the thread is there; OTHER: the first one in another call, of a marked rank, or NULL. */
bool mismatch_at(const struct look *look, const struct thread *at, const struct thread *thread,
    const struct thread **other);
/* Marks the ranks in the call that fewer ranks are in; all if the numbers are equal. */
void blame_few(struct look *look, const struct thread *at);
/*
 * Drops operations on their way from those that the thread waits for. False: too many rows to read.
 * KEPT: rows in memory after earlier proofs.
 */
bool drop_arriving(struct look *look, struct thread *thread, bool *dropped, size_t *kept);

/*
 * waitfor.c: the wait-for graph of a look. A rank comes when one of its threads goes on; a thread
 * in a call waits for the ranks that its messages come from or go to, or for a hub: several members
 * of a communicator.
 */
enum hub_rule {
	HUB_ANY,		/* one member of a side will do */
	HUB_ALL,		/* all members of a side that have not called the collective */
	HUB_BEFORE,		/* those before a rank in the communicator */
	HUB_SOURCES,		/* the neighbours that a rank receives from */
	HUB_HOLDERS,		/* one of those that hold a lock of a window */
};
enum { BOTH_SIDES = 2 };

struct hub {
	enum hub_rule rule;
	uint32_t group, collective;
	int side;
	int32_t of;		/* HUB_BEFORE: rank in the communicator; else a world rank */
	int32_t target;		/* HUB_HOLDERS: whose part of the window, a rank in it */
};

struct graph {
	struct look *look;
	/* MPI demands no more of many calls than what the rest waits for; whether what an
	 * implementation may wait for beyond that counts, too */
	bool may;
	struct solve s;
	uint32_t threads;	/* first node behind those */
	struct hub *hubs;
	size_t hub_count, hub_capacity;
	struct hub missing;		/* of the last collective asked for: first_missing() */
};

/* Of the calls that find_ops has found. OVER: no process lives. */
void graph_build(struct graph *g, bool over);
void graph_free(struct graph *g);
/* Marks the ranks that somebody waits for. */
void graph_mark_awaited(const struct graph *g);
/* waits.c: no process of the run lives. */
bool is_over(const struct look *look);
/* Nothing has moved in any look since SEEN_NS. */
struct verdict waits_judge(struct look *look, int64_t after_ns, int64_t seen_ns);
/* sentence.c: the verdict in words, and its kind. */
char *sentence_of(const struct verdict *v);
extern const char *const kind_names[];

#endif
