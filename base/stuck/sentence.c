/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict in a sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "waits.h"

enum { MOST_TOLD = 8 };

const char *const kind_names[] = { "none", "deadlock", "mismatch", "waiting", "gone" };

static void
add_place(FILE *text, const struct look *look, int32_t rank, uint64_t address)
{
	const struct site place = look_place(look, &look->ranks[rank], address);
	char *name = place_text(&place);

	if (name != NULL)
		fprintf(text, " (%s)", name);
	free(name);
}

static void
add_peer(FILE *text, const struct look *look, const struct rank *rank, const struct row *op)
{
	const int32_t world = world_peer(look, rank, op->comm, op->peer);

	if (op->peer == ANY_PEER)
		fprintf(text, " from any rank");
	else if (world >= 0)
		fprintf(text, " %s %d", sends(op) ? "to" : "from", world);
	if (op->tag >= 0)
		fprintf(text, " tag %d", op->tag);
}

/* "MPI_Win_lock of rank 0, locked by rank 1 since 2.0 s", "MPI_Win_wait for rank 1" */
static void
add_target(FILE *text, const struct look *look, struct rank *rank, const struct row *op)
{
	const uint32_t group = group_of(rank, op->comm);
	int32_t *holders;
	size_t count;

	if (op->peer >= 0)
		fprintf(text, " %s rank %d", op->class == CLASS_RMA ? "of" : "for",
		    world_peer(look, rank, op->comm, op->peer));
	if (op->class != CLASS_RMA)
		return;
	count = lock_holders(look, (int32_t)(rank - look->ranks), group, op->peer, &holders);
	if (count > 0)
		fprintf(text, ", locked by rank %d%s since %.1f s", holders[0],
		    count > 1 ? " and others" : "",
		    (double)(look->now_ns - locked_since(look, &look->ranks[holders[0]], group,
		    op->peer, true)) / 1e9);
	free(holders);
}

/* "MPI_Ssend to 1 tag 5 (talk a.c:12)" */
static void
add_call(FILE *text, const struct look *look, const struct thread *thread)
{
	struct rank *rank = &look->ranks[thread->rank];
	const char *between = call_class(thread->call) == CLASS_COMPLETE ? " for a message" : "";
	bool told = false;

	fprintf(text, "%s", call_name(thread->call));
	if (thread->open.collective > 0 && is_collective(call_class(thread->call)))
		fprintf(text, " #%u of communicator %u",
		    thread->open.collective - 1, thread->open.comm);
	for (size_t i = 0; i < thread->op_count && i < 2; i++)
		if (is_of_window(&thread->ops[i]))
			add_target(text, look, rank, &thread->ops[i]);
		else if (!is_collective(thread->ops[i].class) &&
		    thread->ops[i].class != CLASS_LOCAL) {
			fprintf(text, "%s%s", told ? " and" : "", between);
			add_peer(text, look, rank, &thread->ops[i]);
			told = true;
		}
	if (thread->op_count > 2 && !is_collective(call_class(thread->call)))
		fprintf(text, " and %zu more", (call_class(thread->call) == CLASS_COMPLETE ?
		    thread->open.requests : thread->op_count) - 2);
	add_place(text, look, thread->rank, thread->open.address);
}

/* The thread to name for a rank: one that ended the run; one that does not wait, if others do. */
static const struct thread *
told_thread(const struct rank *rank)
{
	for (size_t t = 0; t < rank->thread_count; t++)
		if (call_aborts(rank->threads[t].call))
			return &rank->threads[t];
	for (size_t t = 0; t < rank->thread_count; t++)
		if (!rank->threads[t].waits)
			return &rank->threads[t];
	return rank->threads;
}

static void
add_channel(FILE *text, const struct rank *rank)
{
	if (rank->wchan[0] != '\0')
		fprintf(text, ", in %s", rank->wchan);
}

static void
add_state(FILE *text, const struct look *look, int32_t r)
{
	const struct rank *rank = &look->ranks[r];
	const struct thread *thread = rank->thread_count > 0 ? told_thread(rank) : NULL;

	fprintf(text, "rank %d ", r);
	if (thread == NULL && !rank->outside) {
		fprintf(text, "has not left MPI_Init");
		return;
	}
	if (rank->state == 'T' || rank->state == 't')
		fprintf(text, "is stopped, ");
	if (rank->outside) {
		fprintf(text, "has not called MPI_Init");
		add_channel(text, rank);
		return;
	}
	if (thread->polls != 0 && (thread->call == 0 || call_polls(thread->call))) {
		fprintf(text, "polls without success, last in %s", call_name(thread->polls));
		add_place(text, look, r, thread->open.address);
		fprintf(text, " since %.1f s or more",
		    (double)(look->now_ns - thread->moved_ns) / 1e9);
		return;
	}
	if (thread->call != 0) {
		fprintf(text, "is in ");
		add_call(text, look, thread);
		fprintf(text, call_meets(thread->call) ? ", for another MPI_COMM_WORLD," : "");
	} else {
		fprintf(text, rank->life == ALIVE && rank->state != 'R' && rank->state != 'T' ?
		    "is outside of MPI and off its core" : "computes");
		if (thread->open.address != 0) {
			fprintf(text, " after its call");
			add_place(text, look, r, thread->open.address);
		}
	}
	fprintf(text, " since %.1f s", thread->since_ns == INT64_MIN ? 0 :
	    (double)(look->now_ns - thread->since_ns) / 1e9);
	add_channel(text, rank);
}

static void
add_waiting(FILE *text, const struct look *look)
{
	const struct thread *first = NULL;
	int waiting = 0;

	for (const struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; )
		if (thread->waits && !look->ranks[thread->rank].blamed) {
			waiting++;
			/* of a lock it is said who has it */
			if (first == NULL || (call_class(first->call) != CLASS_RMA &&
			    call_class(thread->call) == CLASS_RMA))
				first = thread;
		}
	if (first == NULL)
		return;
	if (waiting == 1)
		fprintf(text, "; rank %d waits in ", first->rank);
	else
		fprintf(text, "; %d ranks wait, rank %d in ", waiting, first->rank);
	add_call(text, look, first);
}

static void
add_mismatch(FILE *text, const struct look *look, const struct thread *at)
{
	struct same calls[MOST_CALLS];
	const size_t count = mismatch_calls(look, at, calls);

	for (size_t i = 0; i < count; i++) {
		const struct same *it = &calls[i];

		fprintf(text, "%s", i > 0 ? ", " : "mismatch: ");
		if (it->threads == 1)
			fprintf(text, "rank %d is in ", it->first->rank);
		else
			fprintf(text, "%zu ranks, first %d, are in ", it->threads, it->first->rank);
		add_call(text, look, it->first);
		if (it->first->open.peer >= 0)
			fprintf(text, ", root %d", it->first->open.peer);
	}
}

/* Whether the thread is in the same collective as the other one. */
static bool
in_same(const struct look *look, const struct thread *thread, const struct thread *other)
{
	return thread->call == other->call &&
	    thread->open.collective == other->open.collective &&
	    group_of(&look->ranks[thread->rank], thread->open.comm) ==
	    group_of(&look->ranks[other->rank], other->open.comm);
}

/*
 * "4 ranks, first 0, are in MPI_Barrier since 2.0 s and do not leave it", since the last one came.
 * False: not all that are blamed are in one collective.
 */
static bool
add_all(FILE *text, const struct look *look)
{
	const struct thread *first = NULL;
	int64_t last_ns = INT64_MIN;
	int count = 0;

	for (int32_t r = 0; r < look->rank_count; r++) {
		const struct rank *rank = &look->ranks[r];
		const struct thread *thread = rank->thread_count > 0 ? told_thread(rank) : NULL;

		if (!rank->blamed)
			continue;
		if (thread == NULL || thread->call == 0 || call_polls(thread->call) ||
		    call_meets(thread->call) || rank->state == 'T' ||
		    !is_collective(call_class(thread->call)) ||
		    (first != NULL && !in_same(look, thread, first)))
			return false;
		first = first != NULL ? first : thread;
		last_ns = larger(last_ns, thread->since_ns);
		count++;
	}
	if (count < 2)
		return false;
	fprintf(text, "%d ranks, first %d, are in ", count, first->rank);
	add_call(text, look, first);
	fprintf(text, " since %.1f s and do not leave it", (double)(look->now_ns - last_ns) / 1e9);
	return true;
}

static void
add_blamed(FILE *text, const struct verdict *v)
{
	const struct look *look = v->look;
	const bool deadlock = v->kind == DEADLOCK;
	const bool gone = v->kind == GONE && !v->over;
	const char *between = deadlock ? "," : ";";
	int told = 0, more = 0;

	if (!deadlock && !gone && add_all(text, look))
		return;
	for (int32_t r = 0; r < look->rank_count; r++) {
		const struct rank *rank = &look->ranks[r];

		if (!rank->blamed || (deadlock && rank->thread_count == 0))
			continue;
		if (told == MOST_TOLD) {
			more++;
			continue;
		}
		if (told++ > 0)
			fprintf(text, "%s ", between);
		else if (deadlock)
			fprintf(text, "deadlock: ");
		if (deadlock) {
			fprintf(text, "%d waits in ", r);
			add_call(text, look, rank->threads);
		} else if (gone)
			fprintf(text, rank->life == ENDED ? "rank %d has left MPI_Finalize" :
			    "rank %d is gone without MPI_Finalize", r);
		else
			add_state(text, look, r);
	}
	if (more > 0)
		fprintf(text, "%s and %d more", between, more);
}

static void
add_killed(FILE *text, const struct verdict *v)
{
	fprintf(text, "%.3f s after its last call", (double)v->still_ns / 1e9);
	for (int32_t r = 0; r < v->look->rank_count; r++)
		if (v->look->ranks[r].blamed) {
			fprintf(text, "; ");
			add_blamed(text, v);
			add_waiting(text, v->look);
			return;
		}
}

/* A process may hang, or do other work, after MPI_Finalize. */
static void
add_ended(FILE *text, const struct look *look)
{
	int count = 0;

	fprintf(text, "the run has ended");
	for (int32_t r = 0; r < look->rank_count; r++)
		if (look->ranks[r].state != 0 && count++ == 0) {
			fprintf(text, ", but the process of rank %d goes on", r);
			add_channel(text, &look->ranks[r]);
		}
	if (count > 1)
		fprintf(text, "; and %d more", count - 1);
}

char *
sentence_of(const struct verdict *v)
{
	char *sentence;
	size_t size;
	FILE *text = need(open_memstream(&sentence, &size));

	switch (v->kind) {
	case DEADLOCK: add_blamed(text, v); break;
	case MISMATCH: add_mismatch(text, v->look, v->at); break;
	case WAITING: case GONE:
		add_blamed(text, v);
		add_waiting(text, v->look);
		break;
	case NO_KIND:
		if (v->state == KILLED)
			add_killed(text, v);
		else if (v->state == ENDED_WELL)
			add_ended(text, v->look);
		else
			fprintf(text, "moving");
	}
	if (v->kind == DEADLOCK && !v->proved)
		fprintf(text, "; nothing has moved for %.1f s", (double)v->still_ns / 1e9);
	if (fclose(text) != 0)
		die("out of memory");
	return sentence;
}
