/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between two ranks, as lp-network analyses them; see catalogue.h. */
#include <time.h>

#include "measure.h"

enum { LATE_NS = 50000 };		/* delay of a receive, beyond the time of three messages */

void
run_Pingpong(const struct call *c)
{
	for (int i = 0; i < PINGPONG_MESSAGES && c->ranks > 1 && c->rank < 2; i++)
		if (c->rank == i % 2)
			MPI_Send(SEND, 1 - c->rank, 0, c->comm);
		else
			MPI_Recv(RECV, 1 - c->rank, 0, c->comm, MPI_STATUS_IGNORE);
}

void
run_Exchange(const struct call *c)
{
	for (int i = 0; i < PINGPONG_MESSAGES && c->ranks > 1 && c->rank < 2; i++) {
		MPI_Request requests[2];

		MPI_Irecv(RECV, 1 - c->rank, 0, c->comm, &requests[0]);
		MPI_Isend(SEND, 1 - c->rank, 0, c->comm, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
}

void
run_Burst(const struct call *c)
{
	for (int i = 0; i < PINGPONG_MESSAGES && c->ranks > 1 && c->rank < 2; i++)
		if (c->rank == 0)
			MPI_Send(SEND, 1, 0, c->comm);
		else
			MPI_Recv(RECV, 0, 0, c->comm, MPI_STATUS_IGNORE);
	if (c->ranks > 1 && c->rank == 0)
		MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, c->comm, MPI_STATUS_IGNORE);
	else if (c->rank == 1)
		MPI_Send(NULL, 0, MPI_BYTE, 0, 1, c->comm);
}

void
run_Combine(const struct call *c)
{
	for (int i = 0; i < PINGPONG_MESSAGES; i++)
		MPI_Reduce_local(c->send, c->recv, c->count, c->type, c->op);
}

/* The fastest of some round trips, on rank 1. */
static int64_t
round_trip_ns(const struct call *c)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < 4; i++) {
		int64_t begin = now_ns();

		if (c->rank == 1)
			MPI_Send(SEND, 0, 1, c->comm);
		MPI_Recv(RECV, 1 - c->rank, 1, c->comm, MPI_STATUS_IGNORE);
		if (c->rank == 0)
			MPI_Send(SEND, 1, 1, c->comm);
		if (now_ns() - begin < least)
			least = now_ns() - begin;
	}
	return least;
}

/*
 * A message that had the time of three before its receive begins: the time that one end spends on
 * it, median of several. The receiver sleeps until then, since the sender may need its core.
 */
static void
run_late(const struct call *c, bool sends)
{
	double took[PINGPONG_MESSAGES] = { 0 };
	int64_t late_ns;

	if (c->ranks > 1 && c->rank < 2) {
		late_ns = round_trip_ns(c) * 3 / 2 + LATE_NS;
		for (int i = 0; i < PINGPONG_MESSAGES; i++) {
			const struct timespec late = { late_ns / 1000000000, late_ns % 1000000000 };
			int64_t begin;

			if (c->rank == 1) {
				MPI_Send(NULL, 0, MPI_BYTE, 0, 2, c->comm);
				nanosleep(&late, NULL);
			} else
				MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, c->comm, MPI_STATUS_IGNORE);
			begin = now_ns();
			if (c->rank == 0)
				MPI_Send(SEND, 1, 0, c->comm);
			else
				MPI_Recv(RECV, 0, 0, c->comm, MPI_STATUS_IGNORE);
			took[i] = (double)(now_ns() - begin);
		}
	}
	if (c->part_ns != NULL)
		*c->part_ns = c->rank < 2 && (c->rank == 0) == sends ? PINGPONG_MESSAGES *
		    (int64_t)median((struct sample){ took, PINGPONG_MESSAGES }) : 0;
}

void
run_Send(const struct call *c)
{
	run_late(c, true);
}

void
run_Recv(const struct call *c)
{
	run_late(c, false);
}
