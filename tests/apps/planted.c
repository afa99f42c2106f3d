/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planted MODE - a program with known waits on 4 ranks. It sleeps instead of computing, so that the
 * times hold on a busy machine, too.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void
compute(double seconds)
{
	struct timespec span = { (time_t)seconds,
	    (long)((seconds - (double)(time_t)seconds) * 1e9) };

	nanosleep(&span, NULL);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int rank, ranks, value = 0, sum;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(mode, "barrier") == 0) {
		compute(rank == 2 ? 0.23 : 0.03);
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (strcmp(mode, "nxn") == 0) {
		compute(rank == 3 ? 0.23 : 0.03);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	} else if (strcmp(mode, "bcast") == 0) {
		compute(rank == 1 ? 0.23 : 0.03);
		MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
	} else if (strcmp(mode, "late-sender") == 0) {
		if (rank == 0) {
			compute(0.2);
			MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		} else if (rank == 1)
			MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (strcmp(mode, "late-receiver") == 0) {
		if (rank == 0)
			MPI_Ssend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		else if (rank == 1) {
			compute(0.2);
			MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	} else if (strcmp(mode, "wait") == 0) {
		if (rank == 0) {
			compute(0.2);
			MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		} else if (rank == 1) {
			MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
			    MPI_COMM_WORLD, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	} else if (strcmp(mode, "chain") == 0) {
		if (rank > 0)
			MPI_Recv(&value, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD,
			    MPI_STATUS_IGNORE);
		compute(0.1);
		if (rank + 1 < ranks)
			MPI_Send(&value, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
	} else if (strcmp(mode, "cause") == 0 || strcmp(mode, "no-cause") == 0) {
		for (int i = 0; i < 5; i++) {
			if (rank == 1 && strcmp(mode, "cause") == 0)
				compute(0.06);
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
			compute(0.04);
			MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
		}
	} else
		return fprintf(stderr, "planted: unknown mode\n"), 2;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
