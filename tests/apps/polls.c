/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * polls - three times, rank 1 polls 1100 times for a message that comes only at the end; two ranks
 */
#include <mpi.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	MPI_Request request;
	int rank, flag, value = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		/* However slow the machine is, nothing can be found before the last poll. */
		MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		usleep(50000);
		MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
		for (int run = 0; run < 3; run++) {
			for (int i = 0; i < 1000; i++) {
				MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
				if (i % 10 == 0)
					MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
			}
			usleep(500000);
		}
		MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
