/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_thread [PARTS]: 10 times rank 0's second thread computes 60 ms of its CPU time in
 * long_work(), and all other threads 10 ms; then each rank's first thread computes 10 ms in
 * short_work(). Threads wait for each other in the OpenMP runtime. With PARTS there is one call at
 * the end, and the same time is divided by as many times.
 */
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

#include "last_part.h"

int
main(int argc, char **argv)
{
	const int parts = argc > 1 ? atoi(argv[1]) : 10;
	int rank, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < parts; i++) {
#pragma omp parallel num_threads(2)
		part((rank == 0 && omp_get_thread_num() == 1 ? 0.6 : 0.1) / parts);
		part_alone(0.1 / parts);
		say_last_part(rank, argc > 1 && i < parts - 1);
	}
	return MPI_Finalize();
}
