/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two functions that compute for so many seconds of their thread's CPU time, and return what it
 * was: more, by the part of the inner loop at whose end they look at the clock.
 */
#include <stdio.h>
#include <time.h>

#include "sampled_work.h"

volatile double sink;

double
own_time_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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
