/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * off_kinds [PINNED]: 20 times each rank computes 20 ms of its CPU time; the last one then sleeps
 * 20 ms. With PINNED the last rank shares its core with a child that computes all the time. Each
 * rank prints how long it was off its core in each part, by its own clocks.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "sampled_work.h"

static double
clock_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double
off_s(void)
{
	return clock_s(CLOCK_MONOTONIC) - clock_s(CLOCK_THREAD_CPUTIME_ID);
}

static pid_t
share_core(void)
{
	cpu_set_t all, one;
	pid_t child;
	int core = 0;

	sched_getaffinity(0, sizeof all, &all);
	while (!CPU_ISSET(core, &all))
		core++;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	sched_setaffinity(0, sizeof one, &one);
	if ((child = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile long i = 0; ; i++)
			;
	}
	return child;
}

int
main(int argc, char **argv)
{
	double ready = 0, asleep = 0, from;
	pid_t child = 0;
	int rank, ranks;

	(void)argv;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 1 && rank == ranks - 1)
		child = share_core();
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 20; i++) {
		from = off_s();
		long_work(0.02);
		ready += off_s() - from;
		if (rank == ranks - 1) {
			from = off_s();
			usleep(20000);
			asleep += off_s() - from;
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (child > 0)
		kill(child, SIGKILL);
	printf("%d %.9f %.9f\n", rank, ready, asleep);
	return MPI_Finalize();
}
