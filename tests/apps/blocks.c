/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 30 times one of the ranks, in turn, sleeps 10 ms in io(), and then waits 10 ms for a line of
 * another process in reads(); the others wait for it in MPI. Each rank prints how often it gave up
 * its core, how long it was blocked in io() and in reads() by its own clock, and how long it was
 * ready to run there.
 */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sampled_work.h"

static volatile int done;

static __attribute__((noinline)) void
io(void)
{
	done += usleep(10000);
}

static __attribute__((noinline)) void
reads(FILE *lines)
{
	char line[16];

	done += fgets(line, sizeof line, lines) != NULL;
}

static double
blocked_so_far_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - own_time_s() - waited_s();
}

/* A process that writes a line 10 ms after each byte that it gets. */
static FILE *
writer(int *ask)
{
	int asked[2], lines[2];
	char byte;

	if (pipe(asked) != 0 || pipe(lines) != 0)
		return NULL;
	if (fork() == 0) {
		close(asked[1]);
		while (read(asked[0], &byte, 1) == 1)
			if (usleep(10000) != 0 || write(lines[1], "line\n", 5) != 5)
				break;
		_exit(0);
	}
	close(asked[0]);
	close(lines[1]);
	*ask = asked[1];
	return fdopen(lines[0], "r");
}

int
main(int argc, char **argv)
{
	struct rusage used;
	int rank, ranks, ask;
	double in_io = 0, in_reads = 0, ready = 0, since;
	FILE *lines = writer(&ask);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < 30; i++) {
		if (i % ranks == rank) {
			ready -= waited_s();
			since = blocked_so_far_s();
			io();
			in_io += blocked_so_far_s() - since;
			if (write(ask, "", 1) == 1) {
				since = blocked_so_far_s();
				reads(lines);
				in_reads += blocked_so_far_s() - since;
			}
			ready += waited_s();
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	getrusage(RUSAGE_SELF, &used);
	printf("%ld %.6f %.6f %.6f\n", used.ru_nvcsw + used.ru_nivcsw, in_io, in_reads,
	    ready);
	MPI_Finalize();
	close(ask);
	wait(NULL);
	return 0;
}
