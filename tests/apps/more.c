/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * more [spawn PROGRAM] - calls missing in kinds.c: windows, files, topologies, MPI_Pcontrol, and
 * with spawn processes of another MPI_COMM_WORLD. Four ranks; rank 0 prints the results.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static long
windows(void)
{
	long *memory, put = rank + 1, got = 0, fetched, expected = 0, sum;
	int others[2] = { (rank + 1) % ranks, (rank + ranks - 1) % ranks }, done = 0;
	MPI_Group world, to, from;
	MPI_Request request;
	MPI_Win window;

	MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
	    &memory, &window);
	memset(memory, 0, 4 * sizeof(long));
	MPI_Win_fence(0, window);
	MPI_Put(&put, 1, MPI_LONG, others[0], 0, 1, MPI_LONG, window);
	MPI_Win_fence(0, window);
	MPI_Get(&got, 1, MPI_LONG, others[0], 0, 1, MPI_LONG, window);
	MPI_Accumulate(&put, 1, MPI_LONG, others[1], 1, 1, MPI_LONG, MPI_SUM, window);
	MPI_Win_fence(0, window);

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &others[0], &to);
	MPI_Group_incl(world, 1, &others[1], &from);
	MPI_Win_post(from, 0, window);
	MPI_Win_start(to, 0, window);
	MPI_Put(&put, 1, MPI_LONG, others[0], 2, 1, MPI_LONG, window);
	MPI_Win_complete(window);
	if (rank == 0)
		while (!done)
			MPI_Win_test(window, &done);
	else
		MPI_Win_wait(window);

	MPI_Win_lock(MPI_LOCK_SHARED, others[0], 0, window);
	MPI_Rput(&put, 1, MPI_LONG, others[0], 3, 1, MPI_LONG, window, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_flush(others[0], window);
	MPI_Fetch_and_op(&put, &fetched, MPI_LONG, others[0], 3, MPI_SUM, window);
	MPI_Compare_and_swap(&put, &expected, &fetched, MPI_LONG, others[0], 3, window);
	MPI_Win_unlock(others[0], window);
	MPI_Win_lock_all(0, window);
	MPI_Get_accumulate(&put, 1, MPI_LONG, &fetched, 1, MPI_LONG, others[1], 1, 1, MPI_LONG,
	    MPI_SUM, window);
	MPI_Win_flush_all(window);
	MPI_Win_unlock_all(window);
	MPI_Barrier(MPI_COMM_WORLD);
	sum = memory[0] + memory[1] + memory[2] + memory[3] + got;
	MPI_Win_free(&window);
	MPI_Group_free(&world);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
	return sum;
}

static int
files(void)
{
	int numbers[5] = { rank, rank, rank, rank, rank }, back[5], count;
	MPI_Request request;
	MPI_Status status;
	MPI_File file;

	MPI_File_open(MPI_COMM_WORLD, "more.data",
	    MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	MPI_File_write_at(file, rank * (int)sizeof numbers, numbers, 5, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_sync(file);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_read_at_all(file, 0, back, 5, MPI_INT, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	MPI_File_iwrite_at(file, rank * (int)sizeof numbers, numbers, 5, MPI_INT, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_File_read_at_all_begin(file, 0, back, 2, MPI_INT);
	MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	return count;
}

static int
neighbours(void)
{
	int dims = 4, periodic = 0, in[2] = { -1, -1 }, source = (rank + 1) % ranks,
	    target = (rank + 3) % ranks;
	MPI_Comm line, ring;
	MPI_Request request;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &line);
	MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, line);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &target,
	    MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
	MPI_Ineighbor_alltoall(&rank, 1, MPI_INT, in, 1, MPI_INT, ring, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_free(&line);
	MPI_Comm_free(&ring);
	return in[0];
}

static int
spawn(char *program)
{
	MPI_Comm others, both;
	char *arguments[] = { "child", NULL };
	int errors[2], sum;

	MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, errors);
	MPI_Intercomm_merge(others, 0, &both);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
	if (rank == 0)
		MPI_Send(&sum, 1, MPI_INT, 1, 5, others);
	MPI_Comm_free(&both);
	MPI_Comm_disconnect(&others);
	return sum;
}

static void
child(MPI_Comm parent)
{
	MPI_Comm both;
	int sum;

	MPI_Intercomm_merge(parent, 1, &both);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
	if (rank == 1)
		MPI_Recv(&sum, 1, MPI_INT, 0, 5, parent, MPI_STATUS_IGNORE);
	MPI_Comm_free(&both);
	MPI_Comm_disconnect(&parent);
}

int
main(int argc, char **argv)
{
	MPI_Comm parent;
	long sum, all;
	int count, from;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		child(parent);
		MPI_Finalize();
		return 0;
	}
	MPI_Pcontrol(7);
	sum = windows();
	MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Pcontrol(8, "a name");
	count = files();
	from = neighbours();
	MPI_Pcontrol(0);
	for (int i = 0; i < 3; i++)
		MPI_Barrier(MPI_COMM_SELF);
	MPI_Pcontrol(1);
	if (rank == 0)
		printf("more: %ld %d %d\n", all, count, from);
	if (argc > 2 && strcmp(argv[1], "spawn") == 0) {
		int spawned = spawn(argv[2]);

		if (rank == 0)
			printf("spawned: %d\n", spawned);
	}
	if (argc > 1 && strcmp(argv[1], "abort") == 0) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 2)
			MPI_Abort(MPI_COMM_WORLD, 9);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
