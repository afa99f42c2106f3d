/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worlds SECONDS - two parents spawn two children, of which the second one is late. Messages go
 * both ways, also on the communicator of all four; a copy and a split of the shared one are used,
 * too. Rank 0 prints the results. If SPAWN_WHEN names a file, they wait until it is there.
 *
 * worlds accept|connect PORTFILE - two runs meet through a port: messages both ways, a barrier, a
 * merged communicator.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
rest(double seconds)
{
	usleep((useconds_t)(seconds * 1e6));
}

/* What both sides do with the intercommunicator; HIGH: the children. */
static int
talk(MPI_Comm others, int high, double late_s)
{
	MPI_Comm copy, all, half;
	int rank, sum = 0, one = 1, got = 0;

	MPI_Comm_rank(others, &rank);
	MPI_Comm_dup(others, &copy);
	MPI_Intercomm_merge(others, high, &all);
	MPI_Comm_split(all, rank, 0, &half);	/* one rank of each side */
	if (high && rank == 1)
		rest(late_s);
	if (high) {
		MPI_Send(&one, 1, MPI_INT, rank, 5, others);
		MPI_Recv(&got, 1, MPI_INT, rank, 6, copy, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&got, 1, MPI_INT, rank, 5, others, MPI_STATUS_IGNORE);
		MPI_Send(&one, 1, MPI_INT, rank, 6, copy);
	}
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
	MPI_Barrier(half);
	MPI_Barrier(copy);
	MPI_Comm_free(&half);
	MPI_Comm_free(&all);
	MPI_Comm_free(&copy);
	return sum + got;
}

static MPI_Comm
meet(const char *how, const char *file)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm others;
	int rank;
	FILE *f;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(how, "accept") == 0) {
		if (rank == 0) {
			char new[4096];

			MPI_Open_port(MPI_INFO_NULL, port);
			snprintf(new, sizeof new, "%s.new", file);
			if ((f = fopen(new, "w")) == NULL)
				MPI_Abort(MPI_COMM_WORLD, 1);
			fputs(port, f);
			fclose(f);
			rename(new, file);
		}
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others);
		return others;
	}
	if (rank == 0) {
		while ((f = fopen(file, "r")) == NULL)
			rest(0.01);
		if (fgets(port, sizeof port, f) == NULL)
			MPI_Abort(MPI_COMM_WORLD, 1);
		fclose(f);
	}
	MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others);
	return others;
}

int
main(int argc, char **argv)
{
	MPI_Comm others;
	int rank, result, children = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&others);
	if (argc > 2) {
		others = meet(argv[1], argv[2]);
		result = talk(others, strcmp(argv[1], "connect") == 0, 0.1);
	} else if (others == MPI_COMM_NULL) {
		rest(0.3);
		while (getenv("SPAWN_WHEN") != NULL && access(getenv("SPAWN_WHEN"), F_OK) != 0)
			rest(0.01);
		MPI_Comm_spawn(argv[0], argv + 1, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
		    &others, MPI_ERRCODES_IGNORE);
		result = talk(others, 0, 0);
	} else
		result = talk(others, 1, atof(argv[1]));
	if (rank == 0)
		printf("%s: %d\n", argc > 2 ? argv[1] : "spawned", result);
	MPI_Comm_disconnect(&others);
	MPI_Finalize();
	return 0;
}
