/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * paced SECONDS CALLS [OWN]: rounds of messages around a ring and an Allreduce, CALLS calls a
 * second on each rank, of which OWN in each round are messages to itself [0]. A rank is late for a
 * second each, in turn, and every second there is a new communicator. Ranks sleep in between, so
 * that many fit on few cores.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RING = 8 };		/* messages per round */

static void
sleep_until(double at_s)
{
	const double left_s = at_s - MPI_Wtime();
	const struct timespec nap = { (time_t)left_s,
	    (long)((left_s - (double)(time_t)left_s) * 1e9) };

	if (left_s > 0)
		nanosleep(&nap, NULL);
}

int
main(int argc, char **argv)
{
	const double run_s = argc > 1 ? atof(argv[1]) : 1, calls = argc > 2 ? atof(argv[2]) : 100;
	const int own = argc > 3 ? atoi(argv[3]) : 0;
	const double round_s = (RING + 1 + own) / calls;
	MPI_Comm comm;
	double begin_s;
	int rank, ranks, out = 0, in, sum, number = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Barrier(MPI_COMM_WORLD);
	begin_s = MPI_Wtime();
	for (int round = 0; (double)round * round_s < run_s; round++) {
		const double at_s = (double)round * round_s;

		if ((int)at_s > number) {
			number = (int)at_s;
			MPI_Comm_free(&comm);
			MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		}
		sleep_until(begin_s + at_s);
		if (rank == (int)at_s % ranks)
			sleep_until(begin_s + at_s + round_s / 2);
		for (int i = 0; i < RING; i++)
			MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, i, &in, 1, MPI_INT,
			    (rank + ranks - 1) % ranks, i, comm, MPI_STATUS_IGNORE);
		for (int i = 0; i < own; i++)
			MPI_Sendrecv(&out, 1, MPI_INT, 0, i, &in, 1, MPI_INT, 0, i, MPI_COMM_SELF,
			    MPI_STATUS_IGNORE);
		MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comm);
	}
	MPI_Finalize();
	return 0;
}
