/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hybrid: 10 times each rank's second OpenMP thread computes 60 ms of its CPU time and the first
 * one 10 ms; then the first one computes 10 ms alone. Each rank prints, in seconds of its two
 * threads outside MPI, by their own clocks: all of it, what they computed, when only the first one
 * was busy, and when only the second one was.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

#include "sampled_work.h"

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int
main(int argc, char **argv)
{
	double begin_s, end_s, all_s = 0, useful_s = 0, serial_s = 0, imbalance_s = 0;
	double part_s[2], part_end_s[2];
	int rank, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	begin_s = now_s();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(2)
		{
			const int thread = omp_get_thread_num();

			part_s[thread] = long_work(thread == 1 ? 0.06 : 0.01);
			part_end_s[thread] = now_s();
		}
		useful_s += part_s[0] + part_s[1] + short_work(0.01);
		end_s = now_s();
		all_s += 2 * (end_s - begin_s);
		serial_s += end_s - part_end_s[1];
		if (part_end_s[1] > part_end_s[0])
			imbalance_s += part_end_s[1] - part_end_s[0];
		MPI_Barrier(MPI_COMM_WORLD);
		begin_s = now_s();
	}
	printf("%d %.6f %.6f %.6f %.6f\n", rank, all_s, useful_s, serial_s, imbalance_s);
	return MPI_Finalize();
}
