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
blocked_s(struct clocks from, struct clocks to)
{
	return to.at_s - from.at_s - (to.own_s - from.own_s) - (to.waited_s - from.waited_s);
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
	double in_io = 0, in_reads = 0, ready = 0;
	struct clocks begun, slept, woken;
	FILE *lines = writer(&ask);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < 30; i++) {
		if (i % ranks == rank) {
			begun = read_clocks();
			io();
			slept = read_clocks();
			in_io += blocked_s(begun, slept);
			ready += slept.waited_s - begun.waited_s;
			if (write(ask, "", 1) == 1) {
				begun = read_clocks();
				reads(lines);
				woken = read_clocks();
				in_reads += blocked_s(begun, woken);
				ready += woken.waited_s - begun.waited_s;
			}
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
