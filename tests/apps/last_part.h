/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a computation by several threads: which ended last? In a round the path leads through
 * the last rank, and there through the part that it waited for, whatever had the cores.
 */
#ifndef LAST_PART_H
#define LAST_PART_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

void long_work(double s);

static volatile double last_s;
static double sum_s;

static int
part(double s)
{
	long_work(s);
	last_s = s;
	return 1;
}

/* At the end of a round all ranks meet, and say: the round, its end, the last parts' time, rank. */
static void
say_last_part(int rank, bool goes_on)
{
	static int round;
	struct timespec now;

	sum_s += last_s;
	if (goes_on)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%d %.6f %.6f %d\n", round++, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec,
	    sum_s, rank);
	sum_s = 0;
	MPI_Barrier(MPI_COMM_WORLD);
}

#endif
