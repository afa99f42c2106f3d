/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges like those of two NAS benchmarks, for the causes of waits.
 *
 *  exchanges cg ITERATIONS receive posted, send, wait: sums by recursive doubling within a row of
 *                          ranks, then a swap with the transposed rank, as in CG
 *  exchanges lu SWEEPS     a wave front over a grid of ranks, plane by plane from one corner, then
 *                          back from the other; blocking receives and sends, as in LU
 *  exchanges pingpong N    pairs of ranks send back and forth, without a global call
 *
 * The 4 or 16 ranks form a square grid. Each computes a little more or less each time, by a fixed
 * sequence of numbers, so that most waits come from many small delays of all ranks.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 200, PLANES = 20 };

static int rank, side;
static double here[WORDS], there[WORDS];

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sleeps MICROSECONDS, up to twice that: all ranks of a grid may share one processor. */
static void
compute(double microseconds)
{
	static uint64_t state;
	double more_us, until_s;
	struct timespec t = { 0 };

	state = (state + (uint64_t)rank + 1) * 6364136223846793005u + 1442695040888963407u;
	more_us = microseconds * (double)(state >> 40) / (double)(1 << 24);
	until_s = now_s() + 1e-6 * (microseconds + more_us);
	t.tv_nsec = (long)(1e3 * (microseconds + more_us));
	nanosleep(&t, NULL);
	while (now_s() < until_s)
		;
}

static void
exchange(int with)
{
	MPI_Request request;

	MPI_Irecv(there, WORDS, MPI_DOUBLE, with, 1, MPI_COMM_WORLD, &request);
	MPI_Send(here, WORDS, MPI_DOUBLE, with, 1, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
cg(int iterations)
{
	const int row = rank / side, column = rank % side;

	for (int i = 0; i < iterations; i++) {
		compute(100);
		for (int distance = 1; distance < side; distance *= 2) {
			exchange(row * side + (column ^ distance));
			compute(10);
		}
		exchange(column * side + row);
		compute(20);
		for (int sum = 0; sum < 2; sum++)
			for (int distance = 1; distance < side; distance *= 2)
				exchange(row * side + (column ^ distance));
	}
}

/* One plane: data from the rows and columns behind goes on to the next ones. */
static void
plane(int ahead)
{
	const int row = rank / side, column = rank % side;
	const int before[] = { row - ahead, column - ahead },
	    after[] = { row + ahead, column + ahead };

	if (before[0] >= 0 && before[0] < side)
		MPI_Recv(there, WORDS, MPI_DOUBLE, before[0] * side + column, 2, MPI_COMM_WORLD,
		    MPI_STATUS_IGNORE);
	if (before[1] >= 0 && before[1] < side)
		MPI_Recv(there, WORDS, MPI_DOUBLE, row * side + before[1], 3, MPI_COMM_WORLD,
		    MPI_STATUS_IGNORE);
	compute(100);
	if (after[0] >= 0 && after[0] < side)
		MPI_Send(here, WORDS, MPI_DOUBLE, after[0] * side + column, 2, MPI_COMM_WORLD);
	if (after[1] >= 0 && after[1] < side)
		MPI_Send(here, WORDS, MPI_DOUBLE, row * side + after[1], 3, MPI_COMM_WORLD);
}

static void
lu(int sweeps)
{
	for (int s = 0; s < sweeps; s++) {
		for (int p = 0; p < PLANES; p++)
			plane(1);
		for (int p = 0; p < PLANES; p++)
			plane(-1);
		exchange(rank ^ 1);
		compute(50);
	}
}

static void
pingpong(int times)
{
	for (int i = 0; i < times; i++) {
		if (rank % 2 == i % 2)
			MPI_Send(here, 1, MPI_DOUBLE, rank ^ 1, 4, MPI_COMM_WORLD);
		else
			MPI_Recv(there, 1, MPI_DOUBLE, rank ^ 1, 4, MPI_COMM_WORLD,
			    MPI_STATUS_IGNORE);
	}
}

int
main(int argc, char **argv)
{
	int size, count = argc > 2 ? atoi(argv[2]) : 10;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	while (side * side < size)
		side++;
	if (argc < 2 || side * side != size)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(argv[1], "cg") == 0)
		cg(count);
	else if (strcmp(argv[1], "pingpong") == 0)
		pingpong(count);
	else
		lu(count);
	MPI_Finalize();
	return 0;
}
