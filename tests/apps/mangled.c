/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A C library (-DLIBRARY) with functions named as other Fortran compilers mangle MPI's names, as
 * bindings of interpreters have them; and the program that uses it.
 */
#include <mpi.h>
#include <stdio.h>

#ifdef LIBRARY
int mpi_barrier(long comm) { return 100 + (int)comm; }
int mpi_comm_free__(long comm) { return 200 + (int)comm; }
int MPI_SEND(long comm) { return 300 + (int)comm; }
int call(void);
int
call(void)
{
	int (*volatile functions[])(long) = { mpi_barrier, mpi_comm_free__, MPI_SEND };
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += functions[i](7);
	return sum;
}
#else
int call(void);

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	printf("%d\n", call());
	MPI_Finalize();
	return 0;
}
#endif
