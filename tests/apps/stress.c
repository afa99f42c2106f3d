/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stress SEED ROUNDS - messages of all kinds in random order, each of a unique size, so that the
 * sizes of its two ends show whether a match is right
 *
 * All ranks draw the same random numbers, so each knows the messages of a round. How they are sent
 * and received is drawn, too. Within a round everything is non-blocking or posted before.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 24, BUFFER = 1 << 20 };

static unsigned long long state;

static int
draw(int below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 33) % (unsigned)below);
}

struct item {
	int comm, from, to, tag, size, how_sent, how_received;
};

static char send_buffer[MOST][4096 * 16], receive_buffer[MOST][4096 * 16];

static void
start_send(const struct item *m, int i, MPI_Comm comm, MPI_Request *request)
{
	switch (m->how_sent) {
	case 0: MPI_Isend(send_buffer[i], m->size, MPI_BYTE, m->to, m->tag, comm, request); break;
	case 1: MPI_Issend(send_buffer[i], m->size, MPI_BYTE, m->to, m->tag, comm, request); break;
	case 2: MPI_Ibsend(send_buffer[i], m->size, MPI_BYTE, m->to, m->tag, comm, request); break;
	default:
		MPI_Send_init(send_buffer[i], m->size, MPI_BYTE, m->to, m->tag, comm, request);
		MPI_Start(request);
	}
}

/*
 * Receives of a channel are posted in the order of its messages; a wildcard could take another's.
 */
static void
start_receive(const struct item *m, int i, MPI_Comm comm, MPI_Request *request)
{
	const int room = (int)sizeof receive_buffer[i];

	if (m->how_received == 1) {
		MPI_Recv_init(receive_buffer[i], room, MPI_BYTE, m->from, m->tag, comm, request);
		MPI_Startall(1, request);
	} else if (m->how_received == 2)
		MPI_Irecv(receive_buffer[i], room, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
		    comm, request);
	else
		MPI_Irecv(receive_buffer[i], room, MPI_BYTE, m->from, m->tag, comm, request);
}

/* Completes all requests in one of the possible ways. */
static void
complete(int count, MPI_Request *requests, int how)
{
	int done = 0, index, some, flag, indices[2 * MOST];
	MPI_Status statuses[2 * MOST];

	switch (how) {
	case 0:
		MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
		return;
	case 1:
		for (int i = count; i-- > 0; )
			MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
		return;
	case 2:
		for (; done < count; done++)
			MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
		return;
	case 3:
		while (done < count) {
			MPI_Waitsome(count, requests, &some, indices, statuses);
			if (some == MPI_UNDEFINED)
				return;
			done += some;
		}
		return;
	case 4:
		do
			MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
		while (!flag);
		return;
	default:
		while (done < count) {
			MPI_Testsome(count, requests, &some, indices, MPI_STATUSES_IGNORE);
			if (some == MPI_UNDEFINED)
				return;
			done += some;
		}
	}
}

static void
one_round(MPI_Comm *comms, const int *me, int ranks, int *size)
{
	struct item items[MOST];
	MPI_Request requests[2 * MOST];
	int persistent[2 * MOST], count = 1 + draw(MOST - 1), open = 0, wild = draw(3) == 0;
	int how = draw(6), probed = draw(4) == 0, value = me[0], sum;

	for (int i = 0; i < count; i++) {
		items[i] = (struct item){ draw(2), draw(ranks), draw(ranks), draw(2),
		    (*size)++ % 60000, draw(4), wild ? 2 : draw(2) };
	}
	/*
	 * Matched probes take messages without a posted receive: then the rank posts none at all.
	 */
	for (int i = 0; i < count && !probed; i++)
		if (items[i].to == me[items[i].comm]) {
			persistent[open] = items[i].how_received == 1;
			start_receive(&items[i], i, comms[items[i].comm], &requests[open++]);
		}
	for (int i = 0; i < count; i++)
		if (items[i].from == me[items[i].comm]) {
			persistent[open] = items[i].how_sent == 3;
			start_send(&items[i], i, comms[items[i].comm], &requests[open++]);
		}
	for (int i = 0; i < count && probed; i++)
		if (items[i].to == me[items[i].comm]) {
			MPI_Message message;
			MPI_Status status;

			MPI_Mprobe(items[i].from, items[i].tag, comms[items[i].comm],
			    &message, &status);
			MPI_Mrecv(receive_buffer[i], (int)sizeof receive_buffer[i], MPI_BYTE,
			    &message, &status);
		}
	complete(open, requests, how);
	for (int i = 0; i < open; i++)
		if (persistent[i] && requests[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&requests[i]);
	if (draw(3) == 0)
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[draw(2)]);
	if (draw(4) == 0) {
		MPI_Request request;

		MPI_Irecv(receive_buffer[0], 1, MPI_BYTE, MPI_ANY_SOURCE, 99,
		    MPI_COMM_WORLD, &request);
		MPI_Cancel(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	/* Leaves nothing of a round to the wildcard receives of the next. */
	MPI_Barrier(MPI_COMM_WORLD);
}

int
main(int argc, char **argv)
{
	static char attached[4 * BUFFER];
	MPI_Comm comms[2];
	int me[2], rank, ranks, rounds = argc > 2 ? atoi(argv[2]) : 100, size = 1;

	state = argc > 1 ? (unsigned long long)atoll(argv[1]) : 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Buffer_attach(attached, (int)sizeof attached);
	comms[0] = MPI_COMM_WORLD;
	/* Ranks in reverse order: so ranks differ between this communicator and MPI_COMM_WORLD. */
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
	MPI_Comm_rank(comms[1], &me[1]);
	me[0] = rank;
	for (int i = 0; i < rounds; i++)
		one_round(comms, me, ranks, &size);
	MPI_Comm_free(&comms[1]);
	MPI_Finalize();
	return 0;
}
