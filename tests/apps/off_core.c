/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * off_core: 20 times each rank computes for 20 ms of its CPU time in long_work(); the last rank
 * then sleeps 50 ms, and on until the others are at the barrier, however late they get their cores.
 * It prints for how long it computed by its own clock.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sampled_work.h"

/* How many barriers each rank has come to, in a file: no call of MPI has to say it. */
static volatile int *
arrivals(int ranks)
{
	const size_t size = (size_t)ranks * sizeof(int);
	const int fd = open("arrivals", O_RDWR | O_CREAT, 0666);
	void *map;

	if (fd < 0 || ftruncate(fd, (off_t)size) != 0 || (map = mmap(NULL, size,
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
		exit(3);
	return map;
}

int
main(int argc, char **argv)
{
	volatile int *arrived;
	double computed_s = 0;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	arrived = arrivals(ranks);
	arrived[rank] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 20; i++) {
		computed_s += long_work(0.02);
		arrived[rank]++;
		if (rank == ranks - 1) {
			usleep(50000);
			for (int r = 0; r < rank; r++)
				while (arrived[r] <= i)
					usleep(1000);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == ranks - 1)
		printf("%.6f\n", computed_s);
	return MPI_Finalize();
}
