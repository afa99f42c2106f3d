/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds [STATUS] - one of each kind of call, on 4 ranks; prints the results and ends with STATUS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	int rank, ranks, one = 1, all[8] = { 0 }, many[8] = { 0 }, counts[8],
	    places[8], flag, index;
	int provided, zeros[8] = { 0 };
	MPI_Comm copy, half, some, inter, merged, late, grid;
	MPI_Group group, firsts;
	MPI_Request requests[8];
	MPI_Status status;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < 8; i++) {
		counts[i] = 1;
		places[i] = i;
	}
	/* Four eager sends are open at once: in Open MPI all have one handle. */
	for (int i = 0; i < 4; i++)
		MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % ranks, i, MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < 4; i++)
		MPI_Irecv(&many[i], 1, MPI_INT, (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD,
		    &requests[4 + i]);
	MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 7, many, 1, MPI_INT, MPI_ANY_SOURCE, 7,
	    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv_replace(many, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_PROC_NULL, 7,
	    MPI_COMM_WORLD, &status);
	MPI_Isend(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, requests);
	MPI_Wait(requests, &status);
	MPI_Iprobe(MPI_ANY_SOURCE, 123, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Test(requests, &flag, MPI_STATUS_IGNORE);		/* of a null request */

	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Bcast(all, 2, MPI_INT, 1, MPI_COMM_WORLD);
	MPI_Reduce(&one, all, 1, MPI_INT, MPI_SUM, 2, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Gatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Scatter(all, 1, MPI_INT, many, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Scatterv(all, counts, places, MPI_INT, many, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoall(all, 1, MPI_INT, many, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoallv(all, counts, places, MPI_INT, many, counts, places, MPI_INT, MPI_COMM_WORLD);
	{
		MPI_Datatype types[8] = { MPI_INT, MPI_INT, MPI_INT, MPI_INT, MPI_INT, MPI_INT,
		    MPI_INT, MPI_INT };

		MPI_Alltoallw(all, counts, zeros, types, many, counts, zeros, types,
		    MPI_COMM_WORLD);
	}
	MPI_Reduce_scatter(all, many, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce_scatter_block(all, many, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Scan(&rank, many, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Exscan(&rank, many, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Ibarrier(MPI_COMM_WORLD, requests);
	MPI_Iallreduce(&rank, many, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests + 1);
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(copy, rank % 2, rank, &half);
	MPI_Comm_group(copy, &group);
	MPI_Group_incl(group, 2, places, &firsts);
	MPI_Comm_create(copy, firsts, &some);
	if (some != MPI_COMM_NULL)
		MPI_Barrier(some), MPI_Comm_free(&some);
	if (rank < 2) {
		MPI_Comm_create_group(copy, firsts, 3, &some);
		MPI_Barrier(some);
		MPI_Comm_free(&some);
	}
	MPI_Intercomm_create(half, 0, copy, 1 - rank % 2, 5, &inter);
	if (rank == 0)
		MPI_Send(&rank, 1, MPI_INT, 1, 9, inter);	/* to the second of the odd ranks */
	if (rank == 3)
		MPI_Recv(many, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE);
	MPI_Allreduce(&rank, many, 1, MPI_INT, MPI_SUM, inter);
	/*
	 * Arguments significant only at the root, rank 0 of the even ranks, are invalid addresses
	 * elsewhere.
	 */
	MPI_Gatherv(&rank, 1, MPI_INT, many, rank == 0 ? counts : (int *)1,
	    rank == 0 ? places : (int *)1, MPI_INT,
	    rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
	MPI_Intercomm_merge(inter, rank % 2, &merged);
	MPI_Barrier(merged);
	MPI_Comm_idup(merged, &late, requests);
	MPI_Wait(requests, MPI_STATUS_IGNORE);
	MPI_Barrier(late);
	{
		int dims[2] = { 2, 2 }, periods[2] = { 1, 1 }, keep[2] = { 1, 0 };
		MPI_Comm row;

		MPI_Cart_create(late, 2, dims, periods, 0, &grid);
		MPI_Cart_sub(grid, keep, &row);
		MPI_Neighbor_allgather(&rank, 1, MPI_INT, many, 1, MPI_INT, grid);
		MPI_Barrier(row);
		MPI_Comm_free(&row);
	}
	MPI_Comm_free(&grid);
	MPI_Comm_free(&late);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
	MPI_Comm_free(&copy);
	MPI_Group_free(&group);
	MPI_Group_free(&firsts);
	if (rank == 0)
		printf("kinds: %d %d\n", one, all[3]), fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	/* If it is not 0, mpirun kills the ranks that are still in MPI_Finalize. */
	return argc > 1 ? atoi(argv[1]) : 0;
}
