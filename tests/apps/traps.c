/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traps - what a recorder must not change: prints the same with and without one. Two ranks; MPI is
 * started on a second thread.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static void
on_error(MPI_Comm *comm, int *code, ...)
{
	char name[MPI_MAX_OBJECT_NAME] = "";
	int size, class;

	MPI_Comm_get_name(*comm, name, &size);
	MPI_Error_class(*code, &class);
	if (rank == 0)
		printf("handler of %s: class %d\n", name, class);
}

/* Errors return their codes to the handler of the communicator that the call was made on. */
static void
errors(void)
{
	MPI_Errhandler handler;
	MPI_Comm mine;
	int value = 0, code, class;

	MPI_Comm_dup(MPI_COMM_WORLD, &mine);
	MPI_Comm_set_name(mine, "mine");
	MPI_Comm_create_errhandler(on_error, &handler);
	MPI_Comm_set_errhandler(mine, handler);
	code = MPI_Send(&value, 1, MPI_INT, 17, 1, mine);
	MPI_Error_class(code, &class);
	if (rank == 0)
		printf("send to nobody: class %d\n", class);
	MPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
	code = MPI_Bcast(&value, 1, MPI_INT, 99, mine);
	MPI_Error_class(code, &class);
	if (rank == 0)
		printf("wrong root: class %d\n", class);
	MPI_Comm_free(&mine);
}

/*
 * A message that is too long for its receive: the error is in the status of Waitsome, and stays
 * there.
 */
static void
truncation(void)
{
	int in[2] = { 0, 0 }, out[4] = { 1, 2, 3, 4 }, code, class, count, indices[2];
	MPI_Request requests[2];
	MPI_Status statuses[2];

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 0) {
		MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		MPI_Send(out, 4, MPI_INT, 1, 2, MPI_COMM_WORLD);
	} else {
		statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = 77;
		/*
		 * No MPI_Waitall: in Open MPI 4.1.4 it hangs if the truncated message arrived
		 * first, which depends on the load. Here both are there, so that one call completes
		 * both.
		 */
		MPI_Probe(0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Irecv(&in[0], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(&in[1], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[1]);
		code = MPI_Waitsome(2, requests, &count, indices, statuses);
		MPI_Error_class(code, &class);
		printf("waitsome: %d, class %d, statuses %d", count, class, statuses[0].MPI_ERROR);
		MPI_Error_class(statuses[1].MPI_ERROR, &class);
		printf(" %d\n", class);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* 8 GiB to MPI_PROC_NULL, MPI_IN_PLACE, null types where they do not count, empty waits. */
static void
edges(void)
{
	MPI_Datatype huge, part;
	int value = rank + 1, all[2] = { 0, 0 }, flag, index;
	MPI_Request none = MPI_REQUEST_NULL;
	MPI_Status status;

	MPI_Type_contiguous(1 << 30, MPI_INT, &part);
	MPI_Type_contiguous(2, part, &huge);
	MPI_Type_commit(&huge);
	MPI_Send(&value, 1, huge, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
	MPI_Type_free(&huge);
	MPI_Type_free(&part);
	all[rank] = value;
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
	MPI_Waitany(1, &none, &index, &status);
	MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
	MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
	if (rank == 0)
		printf("edges: %d %d %d %d %d\n", all[0], all[1], index == MPI_UNDEFINED, flag,
		    status.MPI_SOURCE == MPI_PROC_NULL);
}

static void *
run(void *unused)
{
	int provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	errors();
	truncation();
	edges();
	fflush(stdout);		/* a launcher ends all ranks as soon as the first has returned 1 */
	MPI_Finalize();
	return unused;
}

int
main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	return 1;	/* success, to this program */
}
