/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi4 [SEED [STEPS]] - calls that are new in MPI 4, in random order. Message number N has N + 8
 * bytes and contains N, so its size identifies its partner. Prints a sum over all received
 * messages.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, PARTS = 4 };

static int rank, ranks, number;
static unsigned long long random_state, sum;

/* The same numbers on all ranks. */
static unsigned
pick(unsigned below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % below;
}

static int
next(void)
{
	return 8 + number++ % (MOST - 8);
}

static void
got(const char *message)
{
	int value;

	memcpy(&value, message, sizeof value);
	sum += (unsigned long long)value * 31 + 7;
}

static int right(void) { return (rank + 1) % ranks; }
static int left(void) { return (rank + ranks - 1) % ranks; }

static void
large_messages(void)
{
	static char in[MOST], out[MOST];
	int size = next(), tag = (int)pick(3);
	MPI_Request requests[2];
	MPI_Count bytes = size;
	MPI_Status status;

	memcpy(out, &number, sizeof number);
	switch (pick(4)) {
	case 0:
		MPI_Irecv_c(in, MOST, MPI_BYTE, pick(2) ? left() : MPI_ANY_SOURCE, tag,
		    MPI_COMM_WORLD, &requests[0]);
		MPI_Isend_c(out, bytes, MPI_BYTE, right(), tag, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		break;
	case 1:
		MPI_Sendrecv_c(out, bytes, MPI_BYTE, right(), tag, in, MOST, MPI_BYTE, left(), tag,
		    MPI_COMM_WORLD, &status);
		break;
	case 2:
		MPI_Irecv_c(in, MOST, MPI_BYTE, left(), tag, MPI_COMM_WORLD, &requests[0]);
		MPI_Send_c(out, bytes, MPI_BYTE, right(), tag, MPI_COMM_WORLD);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
		break;
	default:
		MPI_Recv_init_c(in, MOST, MPI_BYTE, left(), tag, MPI_COMM_WORLD, &requests[0]);
		MPI_Ssend_init_c(out, bytes, MPI_BYTE, right(), tag, MPI_COMM_WORLD, &requests[1]);
		MPI_Startall(2, requests);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		MPI_Request_free(&requests[0]);
		MPI_Request_free(&requests[1]);
	}
	got(in);
}

static void
both_ways(void)
{
	static char in[MOST], out[MOST];
	int size = next(), index, flag = 0;
	MPI_Request requests[2];

	memcpy(out, &number, sizeof number);
	MPI_Isendrecv(out, size, MPI_BYTE, right(), 1, in, size, MPI_BYTE, left(), 1,
	    MPI_COMM_WORLD, &requests[0]);
	size = next();
	if (pick(2))
		MPI_Isendrecv_replace(out, size, MPI_BYTE, right(), 2, left(), 2, MPI_COMM_WORLD,
		    &requests[1]);
	else
		requests[1] = MPI_REQUEST_NULL;
	if (pick(2)) {
		MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	} else
		while (!flag)
			MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
	got(in);
	got(out);
}

static void
partitions(void)
{
	static char in[PARTS * MOST], out[PARTS * MOST];
	int size = next(), list[PARTS], flag = 0, all[PARTS];
	MPI_Request requests[2], plain;

	MPI_Psend_init(out, PARTS, size, MPI_BYTE, right(), 5, MPI_COMM_WORLD, MPI_INFO_NULL,
	    &requests[0]);
	MPI_Precv_init(in, PARTS, size, MPI_BYTE, left(), 5, MPI_COMM_WORLD, MPI_INFO_NULL,
	    &requests[1]);
	for (int round = 0; round < 2; round++) {
		/* An ordinary message of the same tag, which must not be mistaken for it. */
		memcpy(out, &number, sizeof number);
		MPI_Irecv(all, (int)sizeof all, MPI_BYTE, left(), 5, MPI_COMM_WORLD, &plain);
		MPI_Startall(2, requests);
		MPI_Send(out, 4, MPI_BYTE, right(), 5, MPI_COMM_WORLD);
		MPI_Pready(PARTS - 1, requests[0]);
		for (int i = 0; i < PARTS - 1; i++)
			list[i] = i;
		if (pick(2))
			MPI_Pready_range(0, PARTS - 2, requests[0]);
		else
			MPI_Pready_list(PARTS - 1, list, requests[0]);
		while (!flag)
			MPI_Parrived(requests[1], 0, &flag);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		MPI_Wait(&plain, MPI_STATUS_IGNORE);
		got(in);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void
collectives(void)
{
	MPI_Request requests[3], more;
	int in = rank + 1, out = 0, value = rank;
	MPI_Count counts[16];
	MPI_Aint displs[16];
	int all[16];

	MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
	    &requests[0]);
	MPI_Bcast_init_c(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
	for (int round = 0; round < 2; round++) {
		if (pick(2)) {
			for (int i = 0; i < 3; i++)
				MPI_Start(&requests[i]);
			MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
			MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		} else {
			MPI_Startall(3, requests);
			MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
		}
	}
	for (int i = 0; i < 3; i++)
		MPI_Request_free(&requests[i]);
	for (int i = 0; i < ranks; i++) {
		counts[i] = 1;
		displs[i] = i;
	}
	MPI_Allgatherv_c(&in, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
	MPI_Iallgatherv_c(&in, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD, &more);
	MPI_Wait(&more, MPI_STATUS_IGNORE);
	sum += (unsigned)(out + value + all[ranks - 1]);
}

static void
communicators(void)
{
	MPI_Comm made, copy;
	MPI_Request request;
	MPI_Group group;
	int in = rank, out = 0;

	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Comm_create_from_group(group, "mpi4", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
	MPI_Comm_idup_with_info(made, MPI_INFO_NULL, &copy, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Allreduce_c(&in, &out, 1, MPI_INT, MPI_SUM, copy);
	MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, made);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&made);
	MPI_Group_free(&group);
	sum += (unsigned)out;
}

int
main(int argc, char **argv)
{
	int steps = argc > 2 ? atoi(argv[2]) : 40;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	for (int i = 0; i < steps; i++)
		switch (pick(6)) {
		case 0: both_ways(); break;
		case 1: partitions(); break;
		case 2: collectives(); break;
		case 3: communicators(); break;
		default: large_messages();
		}
	printf("mpi4: %llu\n", sum);
	MPI_Finalize();
	return 0;
}
