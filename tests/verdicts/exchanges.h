/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges of all ranks, of which random programs are made. In some of them the late rank computes
 * in between. Buffers, peers and tag are set before each.
 */
#ifndef EXCHANGES_H
#define EXCHANGES_H

#include "planted.h"

static const double LATE_S = 0.02;

/* Room for DOUBLES from each rank; a message is of `count`. */
enum { DOUBLES = 20000 };
static double *in, *out, *shared;
static int count;
#define OUT out, count, MPI_DOUBLE
#define IN in, count, MPI_DOUBLE
static MPI_Comm comm, circle, half;
static MPI_File file;
static MPI_Win window;
static int root, next, previous, tag;
static int late_rank;
static bool late_between, late_here;

static __attribute__((noinline)) void
late_part(void)
{
	if (!without)
		compute(LATE_S);
}

/* Between the start and the end of an exchange. */
static void
between(void)
{
	if (late_here && late_between && rank == late_rank)
		late_part();
}

static void
wait(MPI_Request *requests, int n)
{
	between();
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void
wait_any(MPI_Request *requests, int n)
{
	int which;

	between();
	for (int i = 0; i < n; i++)
		MPI_Waitany(n, requests, &which, MPI_STATUS_IGNORE);
}

static void
poll(MPI_Request *requests, int n)
{
	int done = 0;

	between();
	while (!done)
		MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
}

static void
wait_some(MPI_Request *requests, int n)
{
	int which[2], done, left = n;

	between();
	for (; left > 0; left -= done)
		MPI_Waitsome(n, requests, &done, which, MPI_STATUSES_IGNORE);
}

/* The send first, each by itself. */
static void
wait_each(MPI_Request *requests, int n)
{
	between();
	while (n-- > 0)
		MPI_Wait(&requests[n], MPI_STATUS_IGNORE);
}

static void
poll_any(MPI_Request *requests, int n)
{
	between();
	for (int which, done = 0; n > 0; n -= done)
		MPI_Testany(2, requests, &which, &done, MPI_STATUS_IGNORE);
}

static void
look_each(MPI_Request *requests, int n)
{
	between();
	for (int done; n-- > 0; MPI_Wait(&requests[n], MPI_STATUS_IGNORE))
		for (done = 0; !done;)
			MPI_Request_get_status(requests[n], &done, MPI_STATUS_IGNORE);
}

static void
ring(void (*complete)(MPI_Request *, int))
{
	MPI_Request requests[2];

	MPI_Irecv(IN, previous, tag, comm, &requests[0]);
	MPI_Isend(OUT, next, tag, comm, &requests[1]);
	complete(requests, 2);
}

static void ring_waitall(void) { ring(wait); }
static void ring_waitany(void) { ring(wait_any); }
static void ring_waitsome(void) { ring(wait_some); }
static void ring_wait(void) { ring(wait_each); }
static void ring_testall(void) { ring(poll); }
static void ring_testany(void) { ring(poll_any); }
static void ring_get_status(void) { ring(look_each); }

/* The receive is posted late. */
static void
ring_late(void)
{
	MPI_Request request;

	MPI_Isend(OUT, next, tag, comm, &request);
	between();
	MPI_Recv(IN, previous, tag, comm, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
ring_issend(void)
{
	MPI_Request requests[2];

	MPI_Issend(OUT, next, tag, comm, &requests[1]);
	MPI_Irecv(IN, previous, tag, comm, &requests[0]);
	wait(requests, 2);
}

static void
ring_replace(void)
{
	MPI_Sendrecv_replace(OUT, next, tag, previous, tag, comm, MPI_STATUS_IGNORE);
}

static void
ring_sendrecv(void)
{
	MPI_Sendrecv(OUT, next, tag, IN, previous, tag, comm, MPI_STATUS_IGNORE);
}

static void
ring_persistent(void)
{
	MPI_Request requests[2];

	MPI_Recv_init(IN, previous, tag, comm, &requests[0]);
	MPI_Send_init(OUT, next, tag, comm, &requests[1]);
	MPI_Startall(2, requests);
	wait(requests, 2);
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void
to_root(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm), bool any)
{
	if (rank != root)
		send(OUT, root, tag, comm);
	for (int r = 0; rank == root && r < ranks; r++)
		if (r != root)
			MPI_Recv(IN, any ? MPI_ANY_SOURCE : r, tag, comm, MPI_STATUS_IGNORE);
}

static void sends_to_root(void) { to_root(MPI_Send, false); }
static void sends_to_any(void) { to_root(MPI_Send, true); }
static void ssends_to_root(void) { to_root(MPI_Ssend, true); }

static void
from_root(void)
{
	for (int r = 0; rank == root && r < ranks; r++)
		if (r != root)
			MPI_Send(OUT, r, tag, comm);
	if (rank != root)
		MPI_Recv(IN, root, tag, comm, MPI_STATUS_IGNORE);
}

/* The root polls for a message of any rank, and then receives it. */
static void
to_polls(void)
{
	if (rank != root)
		MPI_Send(OUT, root, tag, comm);
	for (int left = rank == root ? ranks - 1 : 0; left > 0; left--) {
		MPI_Status status;
		int there = 0;

		while (!there)
			MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &there, &status);
		MPI_Recv(IN, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE);
	}
}

static void
to_mprobe(void)
{
	if (rank != root)
		MPI_Send(OUT, root, tag, comm);
	for (int left = rank == root ? ranks - 1 : 0; left > 0; left--) {
		MPI_Message message;

		MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(IN, &message, MPI_STATUS_IGNORE);
	}
}

/* The others poll for a message of the root, and take it. */
static void
to_improbe(void)
{
	MPI_Message message = MPI_MESSAGE_NULL;
	int there = 0;

	for (int r = 0; rank == root && r < ranks; r++)
		if (r != root)
			MPI_Send(OUT, r, tag, comm);
	if (rank == root)
		return;
	while (!there)
		MPI_Improbe(root, tag, comm, &there, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(IN, &message, MPI_STATUS_IGNORE);
}

/* From rank to rank, beginning with the root. */
static void
chain(void)
{
	if (rank != root)
		MPI_Recv(IN, previous, tag, comm, MPI_STATUS_IGNORE);
	if (next != root)
		MPI_Send(OUT, next, tag, comm);
}

static void barrier(void) { MPI_Barrier(comm); }
static void bcast(void) { MPI_Bcast(OUT, root, comm); }
static void reduce(void) { MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, comm); }
static void allreduce(void) { MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm); }
static void gather(void) { MPI_Gather(OUT, IN, root, comm); }
static void scatter(void) { MPI_Scatter(OUT, IN, root, comm); }
static void allgather(void) { MPI_Allgather(OUT, IN, comm); }
static void alltoall(void) { MPI_Alltoall(OUT, IN, comm); }
static void scan(void) { MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, comm); }
static void exscan(void) { MPI_Exscan(out, in, count, MPI_DOUBLE, MPI_SUM, comm); }

static void
reduce_scatter(void)
{
	MPI_Reduce_scatter_block(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
}

#define STARTED(name, complete, start, ...) \
static void name(void) { MPI_Request r; start(__VA_ARGS__, &r); complete(&r, 1); }

STARTED(ibarrier, wait, MPI_Ibarrier, comm)
STARTED(ibarrier_polled, poll, MPI_Ibarrier, comm)
STARTED(ibcast, wait, MPI_Ibcast, OUT, root, comm)
STARTED(ibcast_polled, poll, MPI_Ibcast, OUT, root, comm)
STARTED(ireduce, wait, MPI_Ireduce, out, in, count, MPI_DOUBLE, MPI_SUM, root, comm)
STARTED(iallreduce, wait, MPI_Iallreduce, out, in, count, MPI_DOUBLE, MPI_SUM, comm)
STARTED(iallreduce_polled, poll, MPI_Iallreduce, out, in, count, MPI_DOUBLE, MPI_SUM, comm)
STARTED(igather, wait, MPI_Igather, OUT, IN, root, comm)
STARTED(iscatter, wait, MPI_Iscatter, OUT, IN, root, comm)
STARTED(iallgather, wait, MPI_Iallgather, OUT, IN, comm)
STARTED(ialltoall, wait, MPI_Ialltoall, OUT, IN, comm)
STARTED(iscan, wait, MPI_Iscan, out, in, count, MPI_DOUBLE, MPI_SUM, comm)

static void around(void) { MPI_Neighbor_alltoall(OUT, IN, circle); }
STARTED(iaround, wait, MPI_Ineighbor_alltoall, OUT, IN, circle)
STARTED(iaround_polled, poll, MPI_Ineighbor_alltoall, OUT, IN, circle)
static void allreduce_half(void) { MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, half); }
STARTED(ibarrier_half, wait, MPI_Ibarrier, half)

static void
duplicate(void)
{
	MPI_Comm copy;

	MPI_Comm_dup(comm, &copy);
	MPI_Comm_free(&copy);
}

static void
split(void)
{
	MPI_Comm part;

	MPI_Comm_split(comm, rank % 2, 0, &part);
	MPI_Comm_free(&part);
}

static void
write_all(void)
{
	MPI_File_write_at_all(file, rank * 8, out, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
}

static void
fence(void)
{
	MPI_Win_fence(0, window);
	between();
	MPI_Put(OUT, next, 0, count, MPI_DOUBLE, window);
	MPI_Win_fence(0, window);
}

static void
epochs(void)
{
	MPI_Group all, to, from;

	MPI_Comm_group(comm, &all);
	MPI_Group_incl(all, 1, &next, &to);
	MPI_Group_incl(all, 1, &previous, &from);
	MPI_Win_post(from, 0, window);
	MPI_Win_start(to, 0, window);
	MPI_Put(OUT, next, 0, count, MPI_DOUBLE, window);
	between();
	MPI_Win_complete(window);
	MPI_Win_wait(window);
	MPI_Group_free(&all);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
}

static void
get(void)
{
	MPI_Win_fence(0, window);
	MPI_Get(IN, previous, 0, count, MPI_DOUBLE, window);
	between();
	MPI_Win_fence(0, window);
}

static void
accumulate(void)
{
	MPI_Win_lock(MPI_LOCK_SHARED, root, 0, window);
	MPI_Accumulate(OUT, root, 0, count, MPI_DOUBLE, MPI_SUM, window);
	between();
	MPI_Win_unlock(root, window);
}

static void
fetch(void)
{
	MPI_Win_lock_all(0, window);
	MPI_Fetch_and_op(out, in, MPI_DOUBLE, root, 0, MPI_SUM, window);
	MPI_Win_flush_all(window);
	between();
	MPI_Win_unlock_all(window);
}

static void
rput(void)
{
	MPI_Request request;

	MPI_Win_lock_all(0, window);
	MPI_Rput(OUT, next, 0, count, MPI_DOUBLE, window, &request);
	wait(&request, 1);
	MPI_Win_unlock_all(window);
}

/* All want the root's lock, which the late rank holds in between. */
static void
locks(void)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, root, 0, window);
	between();
	MPI_Put(OUT, root, 0, count, MPI_DOUBLE, window);
	MPI_Win_unlock(root, window);
}

static void
flushes(void)
{
	MPI_Win_lock_all(0, window);
	MPI_Put(OUT, next, 0, count, MPI_DOUBLE, window);
	between();
	MPI_Win_flush(next, window);
	MPI_Win_unlock_all(window);
}

/* Without what comes between its start and its end, or with it. */
#define WHOLE(function) { #function, function, false }
#define SPLIT(function) { #function, function, true }

static const struct kind {
	const char *name;
	void (*run)(void);
	bool split;
} kinds[] = {
	SPLIT(ring_waitall), SPLIT(ring_waitany), SPLIT(ring_testall),
	SPLIT(ring_persistent), WHOLE(ring_sendrecv), WHOLE(sends_to_root),
	WHOLE(sends_to_any), WHOLE(ssends_to_root), WHOLE(from_root), WHOLE(to_polls),
	WHOLE(to_mprobe), WHOLE(chain), WHOLE(barrier), WHOLE(bcast), WHOLE(reduce),
	WHOLE(allreduce), WHOLE(gather), WHOLE(scatter), WHOLE(allgather), WHOLE(alltoall),
	WHOLE(scan), WHOLE(exscan), WHOLE(reduce_scatter), SPLIT(ibarrier),
	SPLIT(ibarrier_polled), SPLIT(ibcast), SPLIT(ibcast_polled), SPLIT(ireduce),
	SPLIT(iallreduce), SPLIT(iallreduce_polled), SPLIT(igather), SPLIT(iscatter),
	SPLIT(iallgather), SPLIT(ialltoall), SPLIT(iscan), SPLIT(fence), SPLIT(epochs),
	SPLIT(locks), SPLIT(flushes), SPLIT(ring_waitsome), SPLIT(ring_wait),
	SPLIT(ring_testany), SPLIT(ring_get_status), SPLIT(ring_late), SPLIT(ring_issend),
	SPLIT(iaround), SPLIT(iaround_polled), SPLIT(ibarrier_half), SPLIT(get),
	SPLIT(accumulate), SPLIT(fetch), SPLIT(rput), WHOLE(ring_replace),
	WHOLE(to_improbe), WHOLE(around), WHOLE(allreduce_half), WHOLE(duplicate),
	WHOLE(split), WHOLE(write_all),
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

#endif
