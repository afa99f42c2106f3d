/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sessions - MPI without MPI_Init: two sessions at once, messages of different sizes on
 * communicators of all ranks, and of all but the last
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void
exchange(MPI_Comm comm, int first)
{
	static char in[4096], out[4096];
	int rank, size, got;
	MPI_Status status;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	for (int i = 0; i < 10; i++) {
		MPI_Sendrecv(out, first + i * size + rank, MPI_BYTE, (rank + 1) % size, i, in,
		    sizeof in, MPI_BYTE, (rank + size - 1) % size, i, comm, &status);
		MPI_Get_count(&status, MPI_BYTE, &got);
		if (got != first + i * size + (rank + size - 1) % size)
			exit(1);
	}
	MPI_Barrier(comm);
}

static MPI_Comm
made_of(MPI_Session session, int without_last, const char *tag)
{
	MPI_Comm comm = MPI_COMM_NULL;
	MPI_Group all, some;
	int size, rank;

	MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
	MPI_Group_size(all, &size);
	MPI_Group_rank(all, &rank);
	size--;
	if (without_last)
		MPI_Group_excl(all, 1, &size, &some);
	if (!without_last || rank != size)
		MPI_Comm_create_from_group(without_last ? some : all, tag, MPI_INFO_NULL,
		    MPI_ERRORS_ARE_FATAL, &comm);
	if (without_last)
		MPI_Group_free(&some);
	MPI_Group_free(&all);
	return comm;
}

int
main(void)
{
	MPI_Session first, second;
	MPI_Comm a, b;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
	a = made_of(first, 0, "a");
	b = made_of(second, 1, "b");
	exchange(a, 8);
	if (b != MPI_COMM_NULL) {
		exchange(b, 500);
		MPI_Comm_free(&b);
	}
	MPI_Comm_free(&a);
	MPI_Session_finalize(&first);
	MPI_Session_finalize(&second);
	printf("sessions: fine\n");
	return 0;
}
