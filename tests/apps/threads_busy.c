/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads_busy: 10 times a short-lived thread computes 30 ms of its CPU time while the main thread
 * computes 10 ms and waits for its end; then the main thread computes 10 ms alone. Prints the
 * computation of each, by its own clock.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#include "sampled_work.h"

static double worker_s;

static void *
work(void *unused)
{
	const double from = own_time_s();

	long_work(0.03);
	worker_s += own_time_s() - from;
	return unused;
}

int
main(int argc, char **argv)
{
	double main_s = 0;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < 10; i++) {
		const double from = own_time_s();
		pthread_t thread;

		pthread_create(&thread, NULL, work, NULL);
		short_work(0.01);
		pthread_join(thread, NULL);
		short_work(0.01);
		main_s += own_time_s() - from;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("%.9f %.9f\n", main_s, worker_s);
	return MPI_Finalize();
}
