/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * off_core: 20 times each rank computes for 20 ms of its CPU time in long_work(); the last rank
 * then sleeps 50 ms.
 */
#include <mpi.h>
#include <unistd.h>

#include "sampled_work.h"

int
main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < 20; i++) {
		long_work(0.02);
		if (rank == ranks - 1)
			usleep(50000);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
