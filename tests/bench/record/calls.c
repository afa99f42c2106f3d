/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a cheap MPI call takes, in nanoseconds: one line "NAME NS" for each kind, the median of BATCHES
 * means. Two ranks; bench-record runs it bare and under every recorder in turn.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

	for (int b = -2; b < BATCHES; b++) {	/* two batches warm up */
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
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	/* One rank at a time: the other would take a core, or half of one. */
	for (int turn = 0; turn < 2; turn++) {
		if (turn == rank && rank == 0) {
			measure("self_allreduce", self_allreduce, 1);
			measure("self_message", self_message, 4);
			measure("self_iprobe", self_iprobe, 1);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	measure("ping_pong", ping_pong, 2);
	MPI_Finalize();
	return 0;
}
