/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * off_kinds [pinned] [nice=N] [yields] [work=MS] [sleep=MS] [naps=N]: 20 times each rank computes
 * 20 ms of its CPU time; the last one computes WORK ms [20] and then sleeps 20 ms or SLEEP, in N
 * parts. If it is pinned, it shares its core with a child that computes all the time, and is
 * nicer than that by N. Ranks that yield give up their cores whenever they have computed 10 us.
 * Each rank prints its CPU time from MPI_Init to MPI_Finalize outside other calls, how long it was
 * off its core in its computation and in its sleep, and how long it waited for a core in its sleep.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sampled_work.h"

/* Each part begins at the instant at which the one before ends, so that no time is lost. */
static struct clocks begun;
static double cpu;

/* How long the thread was off its core; WAITED, unless NULL, grows by its waits for one. */
static double
end_part(double *waited)
{
	const struct clocks from = begun;

	begun = read_clocks();
	cpu += begun.own_s - from.own_s;
	if (waited != NULL)
		*waited += begun.waited_s - from.waited_s;
	return begun.at_s - from.at_s - (begun.own_s - from.own_s);
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
	if ((child = fork()) > 0)	/* when woken, it does not take the core from the child */
		sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile long i = 0; ; i++)
			;
	}
	return child;
}

/* The value of NAME=VALUE among the arguments; a NAME alone is 1. */
static int
argument(char **argv, const char *name, int otherwise)
{
	const size_t length = strlen(name);

	while (*++argv != NULL)
		if (strncmp(*argv, name, length) == 0)
			return (*argv)[length] == '=' ? atoi(*argv + length + 1) : 1;
	return otherwise;
}

static void
work(double s, bool yields)
{
	const double begin = own_time_s();

	if (!yields)
		long_work(s);
	while (own_time_s() - begin < s) {
		long_work(1e-5);
		sched_yield();
	}
}

int
main(int argc, char **argv)
{
	const useconds_t naps = (useconds_t)argument(argv, "naps", 1);
	double ready = 0, asleep = 0, waited = 0;
	pid_t child = 0;
	int rank, ranks, last;

	MPI_Init(&argc, &argv);
	begun = read_clocks();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	last = rank == ranks - 1;
	if (last && argument(argv, "pinned", 0))
		child = share_core();
	if (child > 0 && nice(argument(argv, "nice", 0)) < 0)
		return 1;
	asleep += end_part(&waited);	/* the child may take the core first */
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 20; i++) {
		begun = read_clocks();
		work(0.001 * (last ? argument(argv, "work", 20) : 20), argument(argv, "yields", 0));
		ready += end_part(NULL);
		if (last) {
			for (useconds_t n = 0; n < naps; n++)
				usleep(1000 * (useconds_t)argument(argv, "sleep", 20) / naps);
			asleep += end_part(&waited);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	begun = read_clocks();
	if (child > 0)
		kill(child, SIGKILL);
	ready += end_part(NULL);
	MPI_Finalize();
	printf("%d %.9f %.9f %.9f %.9f\n", rank, cpu, ready, asleep, waited);
	return 0;
}
