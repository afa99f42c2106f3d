/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a computation by several threads: which ended last? In a round the path leads through
 * the last rank, and there through the part that it waited for, whatever had the cores.
 */
#ifndef LAST_PART_H
#define LAST_PART_H

#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "sampled_work.h"

/* Of a thread: its last part, and its waits for a core until the end of that. */
static __thread double own_part_s, own_waits_s;
/* Of the part that ended last, and since its thread's part before. */
static double *volatile last_own;
static volatile double last_s, last_waits_s;
static double sum_s, alone_s, besides_s;

/* The kernel's sum of the waits of this thread for a core. */
static double
waits_s(void)
{
	const int fd = open("/proc/thread-self/schedstat", O_RDONLY);
	char sums[100] = "";
	double ran, waited = 0;

	if (fd < 0 || read(fd, sums, sizeof sums - 1) < 0 ||
	    sscanf(sums, "%lf %lf", &ran, &waited) != 2)
		waited = 0;
	close(fd);
	return 1e-9 * waited;
}

static int
part(double s)
{
	const double before = own_waits_s;

	own_part_s = long_work(s);
	own_waits_s = waits_s();
	last_waits_s = own_waits_s - before;
	last_s = own_part_s;
	last_own = &own_part_s;
	return 1;
}

/* What a rank's first thread computes when all its parts have ended. */
static void
part_alone(double s)
{
	alone_s += short_work(s);
}

/*
 * At the end of a round all ranks meet, and say: the round, its end, the last parts' time, rank,
 * the time of what the first thread did alone, and what it may have done of a part of its own while
 * the last one waited for a core. The last three are by threads' own clocks.
 */
static void
say_last_part(int rank, bool goes_on)
{
	static int round;
	struct timespec now;

	sum_s += last_s;
	if (last_own != &own_part_s)
		besides_s += own_part_s < last_waits_s ? own_part_s : last_waits_s;
	if (goes_on)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%d %.6f %.6f %d %.6f %.6f\n", round++,
	    (double)now.tv_sec + 1e-9 * (double)now.tv_nsec, sum_s, rank, alone_s, besides_s);
	sum_s = alone_s = besides_s = 0;
	MPI_Barrier(MPI_COMM_WORLD);
}

#endif
