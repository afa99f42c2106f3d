/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passive targets (MPI 3.1, section 11.5.3). Who wants a lock that cannot be shared waits until the
 * rank that has it unlocks. MPI_Win_lock waits for that; or it returns at once and leaves the wait
 * to the first MPI_Win_flush or MPI_Win_unlock behind an operation. MPI allows both. The edge leads
 *
 *	from the last MPI_Win_unlock, of those that cannot share, that began within the call
 *	-> to the call
 *
 * That MPI_Win_lock waited for this unlock is certain where MPI_Win_lock returns with the lock: the
 * other rank had it until then, and this one had it afterwards. Of a later call it is believed only
 * if the other rank had made operations, its MPI_Win_lock had returned when the call began, and its
 * unlock when the call ended. That never happens where MPI_Win_lock returns with the lock. Where it
 * does not, an unlock may by chance begin within an MPI_Win_lock, which is short.
 *
 * MPI_Win_lock_all is a lock of each target, which shares with all but exclusive ones; in large
 * windows it is left out (holds.c). A call that waits for the locks of several targets may get
 * several edges. No edge leads past a candidate for a synchronisation point, across which nobody
 * can wait. Memory: the locks that ranks have; and the calls since the last candidate, or since the
 * time until which all rows are known.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "../base/tool/search.h"
#include "graph.h"

enum lock_end { LOCK_WAITS, LATER_WAITS, UNLOCK_ENDS };	/* what the row of a parcel does */
enum { EXCLUSIVE = 1 };					/* tag of MPI_Win_lock */

/* An origin's lock of a target. */
struct lock {
	uint32_t win;
	int32_t origin, target;		/* world ranks; origin -1: free slot */
	int64_t locked_ns;
	bool shared;
	bool used, had;			/* an operation was made; and a call since then */
};

#define HASH(l) mix((l)->win, (uint64_t)(uint32_t)(l)->origin << 32 | (uint32_t)(l)->target)
#define SAME(a, b) ((a)->win == (b)->win && (a)->origin == (b)->origin && \
	(a)->target == (b)->target)
HASH_TABLE_BY(held_locks, struct lock, HASH, SAME, origin, -1)

/* A call that may wait for a lock, or unlocks. */
struct lock_call {
	int64_t enter_ns, leave_ns, locked_ns;
	uint32_t win, operation;
	int32_t origin, target;
	bool shared, used, later;	/* see struct lock; LATER_WAITS */
};

struct lock_calls {
	struct lock_call *at;
	size_t count, capacity;
};

/* Those between two candidates for a synchronisation point. */
struct lock_stretch {
	struct lock_calls waiters, unlocks;
};

struct locks {
	struct held_locks *held;
	struct lock_stretch *stretches;		/* the first one is behind DECIDED candidates */
	size_t count, capacity;
	uint32_t decided;
};

void
locks_begin(struct graph *graph)
{
	graph->locks = zalloc(1, sizeof *graph->locks);
}

/* ---- the calls, at the origin and then at the target ---- */

static void
post(struct graph *graph, const struct graph_row *row, const struct lock *lock, enum lock_end end)
{
	parcel_to_target(graph, row, &(struct parcel){ .kind = PARCEL_LOCK, .comm = lock->win,
	    .source = lock->origin, .target = lock->target,
	    .enter_ns = row->calls->enter_ns[row->i], .leave_ns = row->calls->leave_ns[row->i],
	    .since_ns = lock->locked_ns, .shared = lock->shared, .used = lock->used,
	    .end = (uint8_t)end });
}

void
lock_row(struct graph *graph, const struct graph_row *row, int32_t peer)
{
	const enum one_sided_kind kind = call_one_sided(row->call);
	const bool locks = kind == LOCKS || kind == LOCKS_ALL;
	const bool unlocks = kind == UNLOCKS || kind == UNLOCKS_ALL;
	struct held_locks **held = &graph->locks->held;
	struct lock key = { .win = row->comm, .origin = row->rank,
	    .locked_ns = row->calls->leave_ns[row->i],
	    .shared = row->tag != EXCLUSIVE };	/* MPI_Win_lock_all has no tag */
	struct lock *lock;

	if (!locks && held_locks_count(*held) == 0)
		return;
	if ((key.target = world_rank(&graph->known, row->comm, row->rank, peer)) < 0)
		return;
	if (locks) {
		*held_locks_add(held, &key) = key;
		post(graph, row, &key, LOCK_WAITS);
		return;
	}
	if ((lock = held_locks_find(*held, &key)) == NULL)
		return;
	if ((kind == FLUSHES || kind == FLUSHES_ALL || unlocks) && lock->used && !lock->had) {
		lock->had = true;
		post(graph, row, lock, LATER_WAITS);
	}
	lock->used |= kind == ACCESSES;
	if (unlocks) {
		post(graph, row, lock, UNLOCK_ENDS);
		held_locks_remove(*held, lock);
	}
}

void
lock_arrived(struct graph *graph, const struct parcel *p)
{
	struct locks *locks = graph->locks;
	struct lock_stretch *stretch;
	struct lock_calls *calls;
	size_t at;

	if (p->candidates < locks->decided)
		return;
	at = p->candidates - locks->decided;
	GROW(locks->stretches, locks->capacity, at + 1);
	while (locks->count <= at)
		locks->stretches[locks->count++] = (struct lock_stretch){ 0 };
	stretch = &locks->stretches[at];
	calls = p->end == UNLOCK_ENDS ? &stretch->unlocks : &stretch->waiters;
	*APPEND(calls->at, calls->count, calls->capacity) = (struct lock_call){ p->enter_ns,
	    p->leave_ns, p->since_ns, p->comm, operation_of_parcel(graph, p), p->source, p->target,
	    p->shared, p->used, p->end == LATER_WAITS };
}

/* ---- who waited for whom ---- */

/* By window, target and time. */
static int
compare(const struct lock_call *a, const struct lock_call *b, int64_t a_ns, int64_t b_ns)
{
	return BY(win) BY(target) COMPARED(a_ns, b_ns) 0;
}

ORDER(by_target, struct lock_call, BY(win) BY(target) BY(enter_ns) BY(origin))

#define BEFORE(at, waiter) (compare(at, waiter, (at)->enter_ns, (waiter)->leave_ns) < 0)
SEARCH(unlock_at, struct lock_call, const struct lock_call *, BEFORE)
#undef BEFORE

/* The last of the sorted unlocks that blocked it; NULL: none. */
static const struct lock_call *
blocked_by(const struct lock_calls *unlocks, const struct lock_call *waiter)
{
	for (size_t i = unlock_at(unlocks->at, unlocks->count, waiter); i-- > 0;) {
		const struct lock_call *unlock = &unlocks->at[i];

		if (compare(unlock, waiter, unlock->enter_ns, waiter->enter_ns) <= 0)
			return NULL;
		if (unlock->shared && waiter->shared)
			continue;
		if (!waiter->later || (unlock->used && unlock->locked_ns <= waiter->enter_ns &&
		    unlock->leave_ns <= waiter->leave_ns))
			return unlock;
	}
	return NULL;
}

/* Keeps the calls that have an end behind UNTIL, and the unlocks that one of them may wait for. */
static void
decide(struct graph *graph, struct lock_stretch *stretch, int64_t until_ns)
{
	struct lock_calls *waiters = &stretch->waiters, *unlocks = &stretch->unlocks;
	int64_t first_ns = until_ns;
	size_t kept = 0;

	SORT(unlocks->at, unlocks->count, by_target);
	for (size_t i = 0; i < waiters->count; i++) {
		const struct lock_call *waiter = &waiters->at[i], *unlock;

		if (waiter->leave_ns > until_ns) {
			if (waiter->enter_ns < first_ns)
				first_ns = waiter->enter_ns;
			waiters->at[kept++] = *waiter;
			continue;
		}
		if ((unlock = blocked_by(unlocks, waiter)) != NULL)
			edge_add(graph, EDGE_LOCK, unlock->operation, waiter->operation);
		operation_free(graph, waiter->operation);
	}
	waiters->count = kept;
	kept = 0;
	for (size_t i = 0; i < unlocks->count; i++)
		if (unlocks->at[i].enter_ns >= first_ns && until_ns < INT64_MAX)
			unlocks->at[kept++] = unlocks->at[i];
		else
			operation_free(graph, unlocks->at[i].operation);
	unlocks->count = kept;
}

void
locks_decide(struct graph *graph, uint32_t before, int64_t until_ns)
{
	struct locks *locks = graph->locks;
	size_t done = 0;

	for (; done < locks->count && locks->decided + done < before; done++) {
		decide(graph, &locks->stretches[done], INT64_MAX);
		free(locks->stretches[done].waiters.at);
		free(locks->stretches[done].unlocks.at);
	}
	if (done > 0)
		memmove(locks->stretches, locks->stretches + done,
		    (locks->count - done) * sizeof *locks->stretches);
	locks->count -= done;
	if (before != NONE && before > locks->decided)
		locks->decided = before;
	for (size_t i = 0; until_ns > INT64_MIN && i < locks->count; i++)
		decide(graph, &locks->stretches[i], until_ns);
}
