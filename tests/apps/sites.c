/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ten call sites that compute the same before they meet, for lp-compare.
 *
 * 	sites [slow=SITE:PERCENT] [bytes=N] [barrier=1] [self=1] [iterations=N] [us=N] [cpu=1]
 *
 * slow: one site computes longer, by this share of the whole run; bytes: size of messages; barrier:
 * one more in each iteration; self: one of the collectives is on a copy of the communicator; cpu:
 * sites compute for so much CPU time, however fast the core is.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SITES = 10 };

static volatile double sink;
static double turns_of_us;	/* of the loop below, per microsecond */

static bool by_cpu_time;

static double
cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void
turn(double turns)
{
	const double until_us = cpu_us() + turns / turns_of_us;
	double x = 1;

	while (by_cpu_time && cpu_us() < until_us)
		;
	if (by_cpu_time)
		return;
	for (long i = 0; i < (long)turns; i++)
		x = x * 0.999999 + 1e-6;
	sink = x;
}

#define SITE(n) \
	static void site_##n(double us) \
	{ \
		turn(us * turns_of_us); \
		MPI_Allreduce(MPI_IN_PLACE, (double[]){ 0 }, 1, MPI_DOUBLE, MPI_SUM, \
		    MPI_COMM_WORLD); \
	}
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
SITE(7)
SITE(8)
SITE(9)

static void (*const sites[SITES])(double us) = { site_0, site_1, site_2, site_3, site_4,
    site_5, site_6, site_7, site_8, site_9 };

static double
option(int argc, char **argv, const char *name, double otherwise)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], name, strlen(name)) == 0 && argv[i][strlen(name)] == '=')
			return atof(argv[i] + strlen(name) + 1);
	return otherwise;
}

int
main(int argc, char **argv)
{
	const int iterations = (int)option(argc, argv, "iterations", 10);
	const int bytes = (int)option(argc, argv, "bytes", 100);
	const double us = option(argc, argv, "us", 100);
	char *buffer = calloc((size_t)bytes + 1, 1), *there = calloc((size_t)bytes + 1, 1);
	MPI_Comm other = MPI_COMM_WORLD;
	int rank, size, slow = -1;
	double percent = 0;

	for (int i = 1; i < argc; i++)
		sscanf(argv[i], "slow=%d:%lf", &slow, &percent);
	turns_of_us = 300;
	by_cpu_time = option(argc, argv, "cpu", 0) > 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (option(argc, argv, "self", 0) > 0)
		MPI_Comm_dup(MPI_COMM_WORLD, &other);
	for (int i = 0; i < iterations; i++) {
		for (int s = 0; s < SITES; s++)
			sites[s](us * (s == slow ? 1 + SITES * percent / 100 : 1));
		MPI_Sendrecv(buffer, bytes, MPI_CHAR, (rank + 1) % size, 0, there, bytes, MPI_CHAR,
		    (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Bcast(buffer, 1, MPI_CHAR, 0, other);
		if (option(argc, argv, "barrier", 0) > 0)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
