/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronised starts, and timing. */
#include <stdlib.h>

#include "measure.h"

enum { PING_PONGS = 100, BATCH = 16, TRIES = 1000, BARRIERS = 200 };

const char *const sync_names[] = { "dissemination", "barrier", "window", NULL };

/*
 * The dissemination barrier: D. Hensgen, R. Finkel, U. Manber, Int. J. Parallel Prog. 17 (1988). It
 * uses only messages, so it does not depend on the library's barrier.
 */
static void
disseminate(const struct sync *s)
{
	int32_t mine = 0, other;

	for (int distance = 1; distance < s->ranks; distance *= 2)
		MPI_Sendrecv(&mine, 4, MPI_BYTE, (s->rank + distance) % s->ranks, 0, &other, 4,
		    MPI_BYTE, (s->rank + s->ranks - distance) % s->ranks, 0, s->comm,
		    MPI_STATUS_IGNORE);
}

/*
 * Rank 0's clock minus the own, from the shortest ping-pong: the other clock was read in its
 * middle, up to half its length. (SKaMPI: T. Worsch et al., Euro PVM/MPI 2002.)
 */
static int64_t
offset_to(const struct sync *s, int rank)
{
	int64_t least = INT64_MAX, offset = 0;

	for (int i = 0; i < PING_PONGS; i++) {
		int64_t sent = now_ns(), other, took;

		if (s->rank == 0) {
			MPI_Recv(&other, 1, MPI_INT64_T, rank, 0, s->comm, MPI_STATUS_IGNORE);
			other = now_ns();
			MPI_Send(&other, 1, MPI_INT64_T, rank, 0, s->comm);
			continue;
		}
		MPI_Send(&sent, 1, MPI_INT64_T, 0, 0, s->comm);
		MPI_Recv(&other, 1, MPI_INT64_T, 0, 0, s->comm, MPI_STATUS_IGNORE);
		took = now_ns() - sent;
		if (took < least) {
			least = took;
			offset = other - (sent + took / 2);
		}
	}
	return offset;
}

void
sync_clocks(struct sync *s)
{
	for (int rank = 1; rank < s->ranks; rank++)
		if (s->rank == 0 || s->rank == rank)
			s->offset_ns = offset_to(s, rank);
	if (s->rank == 0)
		s->offset_ns = 0;
}

static void
time_one(struct timed *t)
{
	int64_t part_ns = -1, begin;
	struct call call = *t->call;

	call.part_ns = &part_ns;
	begin = now_ns();
	t->run(&call);
	t->ns = part_ns >= 0 ? part_ns : now_ns() - begin;
}

/*
 * Calls at START + i windows on rank 0's clock. Returns the number of calls that all ranks began in
 * time. A call that overruns its window counts, but the next begins late, and the rest is lost.
 */
static int
time_windows(const struct sync *s, struct timed *calls, int count, int64_t lead_ns)
{
	int64_t start = now_ns() + lead_ns;
	int in_time = count, all_in_time;

	MPI_Bcast(&start, 1, MPI_INT64_T, 0, s->comm);
	for (int i = 0; i < count; i++) {
		int64_t begin = start + i * s->window_ns - s->offset_ns;

		if (now_ns() > begin && in_time > i)
			in_time = i;
		while (now_ns() < begin)
			;
		time_one(&calls[i]);
	}
	MPI_Allreduce(&in_time, &all_in_time, 1, MPI_INT, MPI_MIN, s->comm);
	return all_in_time;
}

static void
time_by_windows(struct sync *s, struct timed *calls, size_t count)
{
	int64_t lead_ns = 2 * s->window_ns;

	for (size_t done = 0, tries = 0; done < count; ) {
		int batch = count - done < BATCH ? (int)(count - done) : BATCH;
		int good = time_windows(s, calls + done, batch, lead_ns);

		done += (size_t)good;
		s->dropped += (uint64_t)(batch - good);
		tries = good > 0 ? 0 : tries + 1;
		if (tries == TRIES)
			die("windows of %lld us are too short", (long long)s->window_ns / 1000);
		if (good == 0 && lead_ns < 1000000000)
			lead_ns *= 2;
	}
}

void
time_calls(struct sync *s, struct timed *calls, size_t count)
{
	int64_t *ns = zalloc(count, sizeof *ns);

	if (s->kind == WINDOW)
		time_by_windows(s, calls, count);
	else
		for (size_t i = 0; i < count; i++) {
			if (s->kind == DISSEMINATION)
				disseminate(s);
			else
				MPI_Barrier(s->comm);
			time_one(&calls[i]);
		}
	for (size_t i = 0; i < count; i++)
		ns[i] = calls[i].ns;
	MPI_Allreduce(MPI_IN_PLACE, ns, (int)count, MPI_INT64_T, MPI_MAX, s->comm);
	for (size_t i = 0; i < count; i++)
		calls[i].ns = ns[i];
	free(ns);
}

static void
run_dissemination(const struct call *call)
{
	const struct sync s = { .comm = call->comm, .rank = call->rank, .ranks = call->ranks };

	disseminate(&s);
}

static void
run_barrier(const struct call *call)
{
	MPI_Barrier(call->comm);
}

void
time_barrier(struct sync *s, int64_t *median_ns, int64_t *spread_ns)
{
	const struct call call = { .comm = s->comm, .rank = s->rank, .ranks = s->ranks };
	struct timed *calls = zalloc(BARRIERS, sizeof *calls);
	struct sample times = { zalloc(BARRIERS, sizeof(double)), BARRIERS };

	for (size_t i = 0; i < BARRIERS; i++) {
		calls[i].run = s->kind == MPI_BARRIER ? run_barrier : run_dissemination;
		calls[i].call = &call;
	}
	time_calls(s, calls, BARRIERS);
	time_calls(s, calls, BARRIERS);		/* the first time is a warm-up */
	for (size_t i = 0; i < BARRIERS; i++)
		times.at[i] = (double)calls[i].ns;
	*median_ns = (int64_t)median(times);
	*spread_ns = (int64_t)quartile_distance(times);
	free(times.at);
	free(calls);
}
