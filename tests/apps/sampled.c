/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sampled [SCALE [ROUNDS]]: between the same two calls rank 0 computes 0.3 s in long_work() and 0.1
 * s in short_work(); the others only 0.05 s in short_work(), off the path.
 */
#include <mpi.h>
#include <stdlib.h>

#include "sampled_work.h"

int
main(int argc, char **argv)
{
	double scale = argc > 1 ? atof(argv[1]) : 1;
	int rank, rounds = argc > 2 ? atoi(argv[2]) : 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < rounds; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			long_work(0.3 * scale);
			short_work(0.1 * scale);
		} else
			short_work(0.05 * scale);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
