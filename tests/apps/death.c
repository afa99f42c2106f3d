/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * death HOW - 10 barriers, then rank 1 ends as told by HOW; also fork and system, which do no harm
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(how, "fork") == 0) {
		pid_t child = fork();

		if (child == 0)
			exit(0);	/* runs the libraries' exit handlers */
		waitpid(child, NULL, 0);
		if (system("true") != 0)
			return 3;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 1) {
		if (strcmp(how, "kill") == 0)
			raise(SIGKILL);
		if (strcmp(how, "segv") == 0)
			raise(SIGSEGV);
		if (strcmp(how, "_exit") == 0)
			_exit(5);
		if (strcmp(how, "abort") == 0)
			MPI_Abort(MPI_COMM_WORLD, 6);
	}
	if (strcmp(how, "fork") != 0)
		pause();
	MPI_Finalize();
	return 0;
}
