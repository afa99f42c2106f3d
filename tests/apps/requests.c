/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests in all the ways in which the recorder keeps them, on one rank with messages to itself.
 *
 *  requests open   3000 receives are open at once, and completed in another order: alone,
 *                  together with persistent, cancelled, null and freed ones, and some at a time
 *  requests rows N N calls, a line on standard output, then N more when standard input ends
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN = 3000, TOGETHER = 24 };

static MPI_Request requests[OPEN];
static int in[OPEN], out[OPEN];

static void
send_to_self(int tag)
{
	out[tag] = tag;
	MPI_Send(&out[tag], 1, MPI_INT, 0, tag, MPI_COMM_SELF);
}

/* Every third is cancelled, and completes among the others. */
static void
complete_together(int first)
{
	MPI_Request some[TOGETHER + 3];
	int value = first, got, count = 0;

	for (int i = 0; i < TOGETHER; i++) {
		if (i % 3 == 2)
			MPI_Cancel(&requests[first + i]);
		else
			send_to_self(first + i);
		some[count++] = requests[first + i];
		if (i == 9)
			some[count++] = MPI_REQUEST_NULL;
		if (i == 15) {		/* found in another way than its neighbours */
			MPI_Recv_init(&got, 1, MPI_INT, 0, OPEN + first, MPI_COMM_SELF,
			    &some[count]);
			MPI_Start(&some[count++]);
			MPI_Isend(&value, 1, MPI_INT, 0, OPEN + first, MPI_COMM_SELF,
			    &some[count++]);
		}
	}
	MPI_Waitall(count, some, MPI_STATUSES_IGNORE);
	for (int i = 0; i < count; i++)
		if (some[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&some[i]);
}

static void
complete_some(int first)
{
	int indices[TOGETHER], left = TOGETHER, done;

	for (int i = TOGETHER; i > 0; i--)
		send_to_self(first + i - 1);
	for (; left > 0; left -= done)
		MPI_Waitsome(TOGETHER, &requests[first], &done, indices, MPI_STATUSES_IGNORE);
}

static void
open_many(void)
{
	for (int i = 0; i < OPEN; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
	for (int i = OPEN - TOGETHER; i >= 0; i -= TOGETHER)
		switch (i / TOGETHER % 3) {
		case 0: complete_together(i); break;
		case 1: complete_some(i); break;
		default:
			for (int k = 0; k < TOGETHER; k++) {
				send_to_self(i + k * 7 % TOGETHER);
				MPI_Wait(&requests[i + k * 7 % TOGETHER], MPI_STATUS_IGNORE);
			}
		}
}

static void
calls(int count)
{
	int flag;

	for (int i = 0; i < count; i++)
		MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (argc == 2 && strcmp(argv[1], "open") == 0)
		open_many();
	if (argc == 3 && strcmp(argv[1], "rows") == 0) {
		calls(atoi(argv[2]));
		puts("half");
		fflush(stdout);
		while (getchar() != EOF)
			;
		calls(atoi(argv[2]));
	}
	MPI_Finalize();
	return 0;
}
