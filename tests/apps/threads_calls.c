/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads_calls: under MPI_THREAD_MULTIPLE each rank's first thread computes 10 times 10 ms in
 * short_work(), a second thread 10 times 10 ms, on rank 0 50 ms, in long_work(), each up to a
 * barrier of its own communicator. A third thread computes 200 ms in silent_work() and makes no
 * calls.
 */
#include <mpi.h>
#include <pthread.h>

#include "sampled_work.h"

static MPI_Comm own;
static int rank;
static volatile double silent;

static void *
calls(void *unused)
{
	for (int i = 0; i < 10; i++) {
		long_work(rank == 0 ? 0.05 : 0.01);
		MPI_Barrier(own);
	}
	return unused;
}

static void *
silent_work(void *unused)
{
	for (double end = own_time_s() + 0.2; own_time_s() < end; )
		for (int i = 0; i < 20000; i++)
			silent += 0.5 * i;
	return unused;
}

int
main(int argc, char **argv)
{
	pthread_t second, third;
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	pthread_create(&second, NULL, calls, NULL);
	pthread_create(&third, NULL, silent_work, NULL);
	for (int i = 0; i < 10; i++) {
		short_work(0.01);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	pthread_join(second, NULL);
	pthread_join(third, NULL);
	MPI_Comm_free(&own);
	return MPI_Finalize();
}
