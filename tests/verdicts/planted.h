/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the programs with a planted long pole: steps, a slow part, and the choice of a case. */
#ifndef PLANTED_H
#define PLANTED_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SLOW = 1 };			/* the rank with the long pole */
#ifndef THREADS
#define THREADS MPI_THREAD_FUNNELED
#endif
#ifdef SLEEPS	/* few, as each sleep ends a little late */
enum { STEPS = 5 };
static const double USUAL_S = 0.008, SLOW_S = 0.06;
#else
enum { STEPS = 20 };
static const double USUAL_S = 0.002, SLOW_S = 0.015;
#endif

static int rank, ranks;
static bool without;			/* the long pole is not there */
static double pace = 1;			/* of all computing */
static volatile double sink;

static inline double
cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void
sleep_s(double s)
{
	struct timespec t;

	t.tv_sec = (time_t)s;
	t.tv_nsec = (long)(1e9 * (s - (double)(time_t)s));
	nanosleep(&t, NULL);
}

/*
 * Computes for so long on a core, however busy the machine is. Inlined, so that samples show its
 * callers. With SLEEPS it sleeps instead, so that other processes delay it little.
 */
static inline __attribute__((always_inline)) void
compute(double s)
{
#ifdef SLEEPS
	sleep_s(pace * s);
#else
	const double end = cpu_s() + pace * s;
	double x = 1;

	do
		for (int i = 0; i < 4000; i++)
			x = x * 1.0000001 + 1e-9;
	while (cpu_s() < end);
	sink = x;
#endif
}

static __attribute__((noinline, unused)) void
usual_part(void)
{
	compute(USUAL_S);
}

static __attribute__((noinline, unused)) void
slow_part(void)
{
	compute(without ? USUAL_S : SLOW_S);
}

static __attribute__((noinline, unused)) void
part(bool slow)
{
	if (slow)
		slow_part();
	else
		usual_part();
}

/* Rank 1 comes late to a barrier, as it does something more. */
static __attribute__((noinline, unused)) void
late_steps(void (*reason)(void))
{
	for (int step = 0; step < STEPS; step++) {
		usual_part();
		if (rank == SLOW && !without)
			reason();
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

struct planted {
	const char *name;
	void (*run)(void);
};

#define CASE(function) { #function, function }
#define RUN(cases, argc, argv) run_case(cases, sizeof cases / sizeof cases[0], argc, argv)

/*
 * Runs the named case, between MPI_Init and MPI_Finalize. A word may follow the name: "without"
 * runs it without its long pole, "less" with 20 % less time for all computation.
 */
static inline int
run_case(const struct planted *cases, size_t count, int argc, char **argv)
{
	const char *how = argc == 3 ? argv[2] : "";
	int provided;

	without = strcmp(how, "without") == 0;
	pace = strcmp(how, "less") == 0 ? 0.8 : 1;
	for (size_t i = 0; argc >= 2 && i < count; i++) {
		if (strcmp(cases[i].name, argv[1]) != 0)
			continue;
		MPI_Init_thread(&argc, &argv, THREADS, &provided);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &ranks);
		cases[i].run();
		return MPI_Finalize();
	}
	fprintf(stderr, "%s: no such case\n", argv[0]);
	return 2;
}

#endif
