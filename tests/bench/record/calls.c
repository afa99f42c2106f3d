/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a cheap MPI call in nanoseconds: one line "NAME NS" for each kind, the median of
 * BATCHES means. Two ranks; bench-record runs it bare and under every recorder in turn.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../../record/longpole.h"

enum { BATCHES = 31, CALLS = 4000 };

static int rank;

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void
self_allreduce(void)
{
	double in = 1, out;

	MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void
self_message(void)
{
	MPI_Request requests[2];
	double in, out = 1;

	MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[0]);
	MPI_Isend(&out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[1]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void
self_iprobe(void)
{
	int flag;

	MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void
self_barrier(void)
{
	MPI_Barrier(MPI_COMM_SELF);
}

static void
self_sendrecv(void)
{
	double in, out = 1;

	MPI_Sendrecv(&out, 1, MPI_DOUBLE, 0, 3, &in, 1, MPI_DOUBLE, 0, 3, MPI_COMM_SELF,
	    MPI_STATUS_IGNORE);
}

/* Four pairs, completed together: 9 calls. */
static void
self_waitall(void)
{
	MPI_Request requests[8];
	double in[4], out = 1;

	for (int i = 0; i < 4; i++) {
		MPI_Irecv(&in[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, &requests[i]);
		MPI_Isend(&out, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, &requests[4 + i]);
	}
	MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* Not a call: named by longpole.h. */
static void
region(void)
{
	longpole_begin("region");
	longpole_end("region");
}

static MPI_Request posted;	/* a receive without a sender */

static void
self_test(void)
{
	int flag;

	MPI_Test(&posted, &flag, MPI_STATUS_IGNORE);
}

static void
ping_pong(void)
{
	double value = 1;

	if (rank == 0) {
		MPI_Send(&value, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
		MPI_Recv(&value, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&value, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&value, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
	}
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
measure(const char *name, void (*what)(void), int calls_each)
{
	double times[BATCHES];

	for (int b = -2; b < BATCHES; b++) {	/* two batches of warm-up */
		double begin = now_ns();

		for (int i = 0; i < CALLS; i++)
			what();
		times[b < 0 ? 0 : b] = (now_ns() - begin) / CALLS / calls_each;
	}
	qsort(times, BATCHES, sizeof times[0], compare);
	if (rank == 0)
		printf("%s %.1f\n", name, times[BATCHES / 2]);
}

int
main(int argc, char **argv)
{
	double in;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	/* One rank at a time: the other would take a core, or half of one. */
	for (int turn = 0; turn < 2; turn++) {
		if (turn == rank && rank == 0) {
			measure("self_allreduce", self_allreduce, 1);
			measure("region", region, 1);
			measure("self_message", self_message, 4);
			measure("self_iprobe", self_iprobe, 1);
			measure("self_barrier", self_barrier, 1);
			measure("self_sendrecv", self_sendrecv, 1);
			measure("self_waitall", self_waitall, 9);
			MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 8, MPI_COMM_SELF, &posted);
			measure("self_test", self_test, 1);
			MPI_Cancel(&posted);
			MPI_Wait(&posted, MPI_STATUS_IGNORE);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	measure("ping_pong", ping_pong, 2);
	MPI_Finalize();
	return 0;
}
