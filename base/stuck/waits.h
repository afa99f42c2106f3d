/* SPDX-License-Identifier: BSD-3-Clause */
/* The basis of a verdict: waits.c, operations.c and mismatch.c find it. */
#ifndef WAITS_H
#define WAITS_H

#include "look.h"

#define FINALIZE UINT32_MAX		/* instead of the number of a collective */

struct findings {
	struct look *look;
	struct verdict verdict;
	const struct thread *at;	/* of a mismatch: one of the collectives */
	bool over;			/* no process lives */
	bool proved;			/* rows show that nothing is on its way */
	bool may;	/* it includes what an implementation alone may wait for */
	int64_t still_ns;		/* since the last event */
};

/* operations.c: finds the operations that the thread's call waits for. */
void find_ops(const struct look *look, struct rank *rank, struct thread *thread);
void add_op(struct thread *thread, struct row op);
bool sends(const struct row *op);
/* A standard send may end before it is received, so long as nothing shows that it has not. */
bool is_buffered(const struct row *op);
/* A call that ends when processes do something that the traces of this run do not show. */
bool waits_outside(unsigned call);
bool receives(const struct row *op);
/* Whether the other side of a message of rank OWN is open in rank OTHER, too. */
bool is_met(const struct look *look, int32_t own, const struct row *op, int32_t other);
/* windows.c: the ranks that the call of an epoch of MPI waits for; a lock's by whose it is. */
void find_epoch(const struct look *look, struct rank *rank, struct thread *thread);
bool is_of_window(const struct row *op);
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
/* waits.c: no process of the run lives. */
bool is_over(const struct look *look);
/* Nothing has moved in any look since SEEN_NS. The verdict has no sentence yet. */
struct findings waits_judge(struct look *look, int64_t after_ns, int64_t seen_ns);
/* sentence.c: the verdict in words, and its kind. */
char *sentence_of(const struct findings *f);
extern const char *const kind_names[];

#endif
