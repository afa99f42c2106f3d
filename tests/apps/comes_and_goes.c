/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that come and go, a forked child, and system calls that a signal would interrupt. Prints
 * what they observed.
 */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sampled_work.h"

static void *
come_and_go(void *unused)
{
	(void)unused;
	return NULL;
}

static void *
worker_thread(void *unused)
{
	short_work(0.2);
	return unused;
}

int
main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1000, interrupted = 0;
	struct timespec nap = { 0, 1000000 };
	pthread_t thread, worker;
	char byte;
	int ends[2];
	pid_t child;

	MPI_Init(&argc, &argv);
	pthread_create(&worker, NULL, worker_thread, NULL);
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&thread, NULL, come_and_go, NULL) != 0)
			return 3;
		MPI_Barrier(MPI_COMM_SELF);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < 100; i++) {
		interrupted += nanosleep(&nap, NULL) != 0;
		MPI_Barrier(MPI_COMM_SELF);
	}
	if (pipe(ends) != 0)
		return 3;
	if ((child = fork()) == 0) {
		short_work(0.1);
		_exit(write(ends[1], "x", 1) == 1 ? 7 : 8);
	}
	long_work(0.1);
	interrupted += read(ends[0], &byte, 1) != 1;
	int status;
	waitpid(child, &status, 0);
	pthread_join(worker, NULL);
	MPI_Barrier(MPI_COMM_SELF);
	printf("%d threads, %d calls interrupted, child %d\n", threads, interrupted,
	    WEXITSTATUS(status));
	MPI_Finalize();
	return 0;
}
