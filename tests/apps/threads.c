/* SPDX-License-Identifier: BSD-3-Clause */
/* threads - two threads a rank exchange messages at once, each on a communicator of its own */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 200 };

static int rank, ranks;

static void *
work(void *argument)
{
	MPI_Comm comm = *(MPI_Comm *)argument;
	int in = 0, out = 1;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Request requests[2];

		MPI_Irecv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, i, comm, &requests[0]);
		MPI_Isend(&out, 1, MPI_INT, (rank + 1) % ranks, i, comm, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		if (i % 20 == 0)
			MPI_Barrier(comm);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	MPI_Comm comms[2];
	pthread_t thread;
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		return fprintf(stderr, "threads: not provided\n"), 2;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	pthread_create(&thread, NULL, work, &comms[1]);
	work(&comms[0]);
	pthread_join(thread, NULL);
	MPI_Comm_free(&comms[0]);
	MPI_Comm_free(&comms[1]);
	MPI_Finalize();
	return 0;
}
