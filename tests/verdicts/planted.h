/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the programs with a planted long pole: steps, a slow part, and the choice of a case. */
#ifndef PLANTED_H
#define PLANTED_H

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 20, SLOW = 1 };		/* SLOW: the rank with the long pole */

static const double USUAL_S = 0.002, SLOW_S = 0.015;

static int rank, ranks;
static volatile double sink;

static inline double
cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*
 * Computes for so long on a core, however busy the machine is. Inlined, so that samples show its
 * callers.
 */
static inline __attribute__((always_inline)) void
compute(double s)
{
	const double end = cpu_s() + s;
	double x = 1;

	do
		for (int i = 0; i < 4000; i++)
			x = x * 1.0000001 + 1e-9;
	while (cpu_s() < end);
	sink = x;
}

static __attribute__((noinline, unused)) void
usual_part(void)
{
	compute(USUAL_S);
}

static __attribute__((noinline, unused)) void
slow_part(void)
{
	compute(SLOW_S);
}

static inline void
sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L }, NULL);
}

struct planted {
	const char *name;
	void (*run)(void);
};

#define CASE(function) { #function, function }
#define RUN(cases, argc, argv) run_case(cases, sizeof cases / sizeof cases[0], argc, argv)

/* Runs the named case, between MPI_Init and MPI_Finalize. */
static inline int
run_case(const struct planted *cases, size_t count, int argc, char **argv)
{
	int provided;

	for (size_t i = 0; argc == 2 && i < count; i++) {
		if (strcmp(cases[i].name, argv[1]) != 0)
			continue;
		MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &ranks);
		cases[i].run();
		return MPI_Finalize();
	}
	fprintf(stderr, "%s: no such case\n", argv[0]);
	return 2;
}

#endif
