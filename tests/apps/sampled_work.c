/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two functions that compute for so many seconds of their thread's CPU time, and return what it
 * was: more, by the part of the inner loop at whose end they look at the clock.
 */
#include <stdio.h>
#include <time.h>

#include "sampled_work.h"

volatile double sink;

static double
clock_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double
own_time_s(void)
{
	return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

double
waited_s(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long waited_ns = 0;

	if (file != NULL) {
		if (fscanf(file, "%*u %llu", &waited_ns) != 1)
			waited_ns = 0;
		fclose(file);
	}
	return 1e-9 * (double)waited_ns;
}

struct clocks
read_clocks(void)
{
	struct clocks now;

	do {	/* while it waits for a core, the clocks would be read at different instants */
		now.waited_s = waited_s();
		now.at_s = clock_s(CLOCK_MONOTONIC);
		now.own_s = own_time_s();
	} while (waited_s() > now.waited_s);
	return now;
}

/* They differ, otherwise the compiler merges them. */
double
long_work(double s)
{
	const double begin = own_time_s();
	double took;

	while ((took = own_time_s() - begin) < s)
		for (int i = 0; i < 20000; i++)
			sink += i;
	return took;
}

double
short_work(double s)
{
	const double begin = own_time_s();
	double took;

	while ((took = own_time_s() - begin) < s)
		for (int i = 0; i < 20000; i++)
			sink *= 1.0001;
	return took;
}
