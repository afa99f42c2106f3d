/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * patterns PATTERN BYTES ROUNDS [US] - one pattern of messages, with so much computation before
 * each round
 *
 * 	ring       a token goes around all ranks
 * 	sendrecv   each rank sends to the next and receives from the previous one, as IMB's Sendrecv
 * 	exchange   each rank exchanges with both neighbours, as IMB's Exchange
 * 	alltoall, allreduce, allgather, bcast, reduce_scatter   the collective, of blocks of BYTES
 * 	pipeline   each rank passes on what it got from the previous one, many at a time
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, bytes;
static char *out, *in;

static volatile double sink;

/* A loop of so many turns: the same work however busy the machine is. */
static void
compute(long turns)
{
	double x = 1;

	for (long i = 0; i < turns; i++)
		x = x * 1.0000001 + 1e-9;
	sink = x;
}

static void
one(const char *pattern)
{
	int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;

	if (strcmp(pattern, "ring") == 0) {
		if (rank == 0)
			MPI_Send(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD);
		MPI_Recv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank != 0)
			MPI_Send(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD);
	} else if (strcmp(pattern, "sendrecv") == 0)
		MPI_Sendrecv(out, bytes, MPI_BYTE, right, 0, in, bytes, MPI_BYTE, left, 0,
		    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (strcmp(pattern, "exchange") == 0) {
		MPI_Request r[4];

		MPI_Irecv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &r[0]);
		MPI_Irecv(in + bytes, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &r[1]);
		MPI_Isend(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &r[2]);
		MPI_Isend(out, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &r[3]);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
	} else if (strcmp(pattern, "pipeline") == 0) {
		for (int i = 0; i < 8; i++) {
			if (rank > 0)
				MPI_Recv(in, bytes, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD,
				    MPI_STATUS_IGNORE);
			if (rank + 1 < ranks)
				MPI_Send(out, bytes, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
		}
	} else if (strcmp(pattern, "alltoall") == 0)
		MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
	else if (strcmp(pattern, "allreduce") == 0)
		MPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
	else if (strcmp(pattern, "allgather") == 0)
		MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
	else if (strcmp(pattern, "bcast") == 0)
		MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	else if (strcmp(pattern, "reduce_scatter") == 0)
		MPI_Reduce_scatter_block(out, in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
	else {
		fprintf(stderr, "patterns: %s is none\n", pattern);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

int
main(int argc, char **argv)
{
	long turns = argc > 4 ? atol(argv[4]) * 250 : 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc < 4) {
		fprintf(stderr, "usage: patterns PATTERN BYTES ROUNDS [US]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	bytes = atoi(argv[2]);
	out = calloc((size_t)(ranks > 2 ? ranks : 2), (size_t)bytes + 1);
	in = calloc((size_t)(ranks > 2 ? ranks : 2), (size_t)bytes + 1);
	/*
	 * Like a program with data to send: pages never written share one page, which is slow to
	 * send.
	 */
	memset(out, 1, (size_t)(ranks > 2 ? ranks : 2) * ((size_t)bytes + 1));
	for (int i = atoi(argv[3]); i > 0; i--) {
		compute(turns);
		one(argv[1]);
	}
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
