/* SPDX-License-Identifier: BSD-3-Clause */
/* Two functions for sampled.c that compute for so many seconds of their thread's CPU time. */
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

/* They differ, otherwise the compiler merges them. */
void
long_work(double s)
{
	for (double end = own_time_s() + s; own_time_s() < end; )
		for (int i = 0; i < 20000; i++)
			sink += i;
}

void
short_work(double s)
{
	for (double end = own_time_s() + s; own_time_s() < end; )
		for (int i = 0; i < 20000; i++)
			sink *= 1.0001;
}
