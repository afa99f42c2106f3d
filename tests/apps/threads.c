/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads - two threads per rank exchange messages concurrently, each on its own communicator; then
 * one starts what the other completes, with message number N being N integers long
 */
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

/* ---- started by one thread, completed by the other ---- */

enum { HANDED = 60 };
static MPI_Request handed[HANDED][2];
static int handed_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

static void *
complete(void *unused)
{
	for (int i = 0; i < HANDED; i++) {
		pthread_mutex_lock(&lock);
		while (handed_count <= i)
			pthread_cond_wait(&more, &lock);
		pthread_mutex_unlock(&lock);
		if (i % 2 == 0)
			MPI_Waitall(2, handed[i], MPI_STATUSES_IGNORE);
		else {
			MPI_Wait(&handed[i][1], MPI_STATUS_IGNORE);
			MPI_Wait(&handed[i][0], MPI_STATUS_IGNORE);
		}
	}
	return unused;
}

static void
hand_over(void)
{
	static int in[HANDED][HANDED + 1], out[HANDED + 1];
	pthread_t thread;

	pthread_create(&thread, NULL, complete, NULL);
	for (int i = 0; i < HANDED; i++) {
		MPI_Irecv(in[i], HANDED + 1, MPI_INT,
		    i % 3 == 0 ? MPI_ANY_SOURCE : (rank + ranks - 1) % ranks,
		    i % 5 == 0 ? MPI_ANY_TAG : 4, MPI_COMM_WORLD, &handed[i][0]);
		MPI_Isend(out, i + 1, MPI_INT, (rank + 1) % ranks, 4, MPI_COMM_WORLD,
		    &handed[i][1]);
		pthread_mutex_lock(&lock);
		handed_count = i + 1;
		pthread_cond_signal(&more);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(thread, NULL);
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
	hand_over();
	MPI_Comm_free(&comms[0]);
	MPI_Comm_free(&comms[1]);
	MPI_Finalize();
	return 0;
}
