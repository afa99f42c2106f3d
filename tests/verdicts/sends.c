/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 sends, and rank 1 computes long before it takes the messages. MPI_Send then lasts until
 * rank 1 is in a call again: the buffers are full, or the message is long and nobody moves it. Rank
 * 0 ends last.
 */
#include "planted.h"

enum { MANY = 2000, FEW_BYTES = 512, ROUNDS = 5, LONG_BYTES = 1 << 20 };

static char data[LONG_BYTES], taken[LONG_BYTES];

static void
take(int from)
{
	MPI_Recv(taken, FEW_BYTES, MPI_CHAR, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void put(int to) { MPI_Send(data, FEW_BYTES, MPI_CHAR, to, 7, MPI_COMM_WORLD); }

/* The same by MPI_Isend and MPI_Wait. */
static void
put_wait(int to)
{
	MPI_Request request;

	MPI_Isend(data, FEW_BYTES, MPI_CHAR, to, 7, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 1 computes, then takes all messages of a round from each sender. */
static void
flood(void (*send)(int))
{
	for (int round = 0; round < ROUNDS; round++) {
		if (rank == SLOW)
			for (int k = 0; k < 4; k++)
				slow_part();
		for (int i = 0; i < MANY / ROUNDS; i++)
			if (rank != SLOW)
				send(SLOW);
			else
				for (int from = 0; from < ranks; from++)
					if (from != SLOW)
						take(from);
	}
	if (rank == 0)
		usual_part();
}

static void full_buffers(void) { flood(put); }
static void full_wait(void) { flood(put_wait); }

/* Rank 0 feeds all others in turn; rank 1 computes long, the others wait for rank 0. */
static void
feeder(void)
{
	for (int i = 0; i < MANY; i++)
		if (rank == 0) {
			for (int to = 1; to < ranks; to++)
				put(to);
		} else {
			if (rank == SLOW && i % 100 == 99)
				slow_part();
			take(0);
		}
	if (rank == ranks - 1)
		usual_part();
}

/* Rank 1 has posted the receive before it computes. */
static void
long_message(void)
{
	MPI_Request request;

	for (int step = 0; step < STEPS; step++) {
		if (rank == 0)
			MPI_Send(data, LONG_BYTES, MPI_CHAR, SLOW, 7, MPI_COMM_WORLD);
		else if (rank == SLOW) {
			MPI_Irecv(taken, LONG_BYTES, MPI_CHAR, 0, 7, MPI_COMM_WORLD, &request);
			slow_part();
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	}
	if (rank == 0)
		usual_part();
}

/* All send to the right, and rank 1 takes nothing for long. */
static void
ring(void)
{
	const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	for (int round = 0; round < ROUNDS; round++) {
		if (rank == SLOW)
			for (int k = 0; k < 4; k++)
				slow_part();
		for (int i = 0; i < MANY / ROUNDS; i++) {
			put(right);
			take(left);
		}
	}
	if (rank == 0)
		usual_part();
}

/* Rank 0 has little to send, but all the same computes longest. */
static void
slow_sender(void)
{
	for (int i = 0; i < 40; i++)
		if (rank == SLOW) {
			slow_part();
			for (int to = 0; to < ranks; to++)
				if (to != SLOW)
					put(to);
		} else {
			for (int k = 0; k < 50; k++)
				compute(1e-4);
			take(SLOW);
		}
}

int
main(int argc, char **argv)
{
	static const struct planted cases[] = { CASE(full_buffers), CASE(full_wait),
	    CASE(feeder), CASE(long_message), CASE(ring), CASE(slow_sender) };

	return RUN(cases, argc, argv);
}
