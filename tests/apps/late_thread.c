/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_thread: 10 times rank 0's second thread computes 60 ms of its CPU time in long_work(), and
 * all other threads 10 ms; then each rank's first thread computes 10 ms in short_work(). Threads
 * wait for each other in the OpenMP runtime.
 */
#include <mpi.h>
#include <omp.h>

#include "sampled_work.h"

int
main(int argc, char **argv)
{
	int rank, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(2)
		long_work(rank == 0 && omp_get_thread_num() == 1 ? 0.06 : 0.01);
		short_work(0.01);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
