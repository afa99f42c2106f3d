/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that hang, each in a different way, and some that are only slow or busy: hangs CASE. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, ranks, word;
static volatile double number;

static void
barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void
allreduce(int times)
{
	int in = 1, out;

	for (int i = 0; i < times; i++)
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void
ssend(void)
{
	MPI_Ssend(&me, 1, MPI_INT, me ^ 1, 7, MPI_COMM_WORLD);
	MPI_Recv(&word, 1, MPI_INT, me ^ 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
cycle(void)
{
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Barrier(comm);
	MPI_Recv(&word, 1, MPI_INT, (me + ranks - 1) % ranks, 9, comm, MPI_STATUS_IGNORE);
	MPI_Send(&word, 1, MPI_INT, (me + 1) % ranks, 9, comm);
}

static void
knot(void)
{
	MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* All but rank 1; rank 2 comes late, or first wants a message from rank 0. */
static void
group(void)
{
	const int of[] = { 3, 2, 0 };
	MPI_Group all, some;
	MPI_Comm made;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 3, of, &some);
	if (me != 1)
		MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &made);
}

static void
grouplate(void)
{
	if (me == 2)
		sleep(100000);
	group();
}

static void
groupknot(void)
{
	if (me == 2)
		MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	group();
}

static void
nocoll(void)
{
	allreduce(5);
	if (me == 1)
		MPI_Recv(&word, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	allreduce(1);
}

static void
order(void)
{
	MPI_Comm a, b;

	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Comm_dup(MPI_COMM_WORLD, &b);
	barrier();
	MPI_Barrier(me == 0 ? a : b);
	MPI_Barrier(me == 0 ? b : a);
}

static void
pending(void)
{
	MPI_Request request;

	MPI_Irecv(&word, 1, MPI_INT, (me + 1) % ranks, 42, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One request of four never completes; two more have nothing to wait for. */
static void
waitall(void)
{
	MPI_Request requests[6] = { [4] = MPI_REQUEST_NULL };
	MPI_Status statuses[6];
	int in[2], next = (me + 1) % ranks, last = (me + ranks - 1) % ranks;

	MPI_Irecv(&in[0], 1, MPI_INT, last, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(&in[1], 1, MPI_INT, last, 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(&me, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(&me, 1, MPI_INT, next, me == 0 ? 3 : 2, MPI_COMM_WORLD, &requests[3]);
	MPI_Isend(&me, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &requests[5]);
	MPI_Waitall(6, requests, statuses);
	barrier();
}

/* Of two requests that either rank waits for, one has nothing to wait for. */
static void
anynull(void)
{
	MPI_Request requests[2] = { MPI_REQUEST_NULL };
	int index;

	MPI_Irecv(&word, 1, MPI_INT, me ^ 1, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

/* Rank 0 waits for any of a rank that sleeps and one that waits, the others for both. */
static void
waitany(void)
{
	MPI_Request requests[2];
	int in[2], index;

	if (me == 1)
		sleep(100000);
	if (me == 0) {
		MPI_Irecv(&in[0], 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(&in[1], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
	}
	barrier();
}

static void
skip(void)
{
	allreduce(me == 1 ? 999 : 1000);
}

static void
bcast(void)
{
	if (me == 2)
		MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
	else
		barrier();
}

/*
 * Rank 1 tests for a message that nobody sends; the others wait for rank 1, or, for all, test as
 * well.
 */
static void
poll_until(int who)
{
	MPI_Request request;
	int done = 0;

	MPI_Irecv(&word, 1, MPI_INT, (me + 1) % ranks, 42, MPI_COMM_WORLD, &request);
	while ((who < 0 || me == who) && !done)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void
tests(void)
{
	poll_until(-1);
}

static void
onetests(void)
{
	poll_until(1);
}

static void
spin(void)
{
	while (me == 1)
		number = number * 1.0001 + 1;
}

static void
asleep(void)
{
	if (me == 1)
		sleep(100000);
}

static void
leave(void)
{
	if (me == 1)
		_exit(0);
}

/* A second thread waits for a message that never comes, while the first ones reach a barrier. */
static void *
receive(void *tag)
{
	MPI_Recv(&word, 1, MPI_INT, (me + 1) % ranks, *(int *)tag, MPI_COMM_WORLD,
	    MPI_STATUS_IGNORE);
	return NULL;
}

static void
threads(void)
{
	pthread_t thread;
	int tag = 5;

	pthread_create(&thread, NULL, receive, &tag);
	pthread_join(thread, NULL);
}

/* At almost every instant the others wait for rank 1. */
static void
slow(void)
{
	for (int i = 0; i < 10000; i++) {
		if (me == 1)
			usleep(300000);
		allreduce(1);
	}
}

/* Rank 2 does not leave a call that all have made. */
static void
stay(void *in, void *out, int *count, MPI_Datatype *type)
{
	(void)in;
	(void)out;
	(void)count;
	(void)type;
	if (me == 2)
		sleep(100000);
}

static void
inside(void)
{
	MPI_Op op;

	MPI_Op_create(stay, 1, &op);
	MPI_Reduce(&me, &word, 1, MPI_INT, op, 2, MPI_COMM_WORLD);
	barrier();
}

/* The function never ends, on all ranks: as if the network were broken. */
static void
pauses(void *in, void *inout, int *count, MPI_Datatype *type)
{
	pause();
}

static void
pausing(void)
{
	MPI_Op op;

	MPI_Op_create(pauses, 1, &op);
	MPI_Allreduce(&me, &word, 1, MPI_INT, op, MPI_COMM_WORLD);
}

/* As long as nobody writes to this pipe. */
static void
disk(void)
{
	MPI_File file;

	MPI_File_open(MPI_COMM_WORLD, "pipe", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
}

static void
busy(void)
{
	for (int i = 0; i < 100000000; i++) {
		MPI_Request request;

		MPI_Irecv(&word, 1, MPI_INT, (me + ranks - 1) % ranks, i % 3,
		    MPI_COMM_WORLD, &request);
		MPI_Send(&me, 1, MPI_INT, (me + 1) % ranks, i % 3, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (i % 16 == 0)
			MPI_Bcast(&word, 1, MPI_INT, i % ranks, MPI_COMM_WORLD);
		if (i % 50 == 0)
			allreduce(1);
	}
}

/* The others look for rank 0's messages again and again. */
static void
probing(void)
{
	for (int i = 0; i < 100000; i++) {
		int there = me == 0;

		usleep(me == 0 ? 30000 : 0);
		for (int to = 1; me == 0 && to < ranks; to++)
			MPI_Send(&i, 1, MPI_INT, to, i % 3, MPI_COMM_WORLD);
		while (!there) {
			MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there,
			    MPI_STATUS_IGNORE);
			if (i % 2)
				usleep(1000);
		}
		if (me > 0)
			MPI_Recv(&word, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD,
			    MPI_STATUS_IGNORE);
	}
}

/* A ring of messages and one of answers, each in a thread of its own; one rank is slow. */
static void *
pass_on(void *way)
{
	const int to = (me + ranks + *(int *)way) % ranks, from = (me + ranks - *(int *)way) %
	    ranks, tag = 10 + *(int *)way;
	int token = 0;

	for (int i = 0; i < 100000; i++) {
		if (me > 0 || i > 0)
			MPI_Recv(&token, 1, MPI_INT, from, tag, MPI_COMM_WORLD,
			    MPI_STATUS_IGNORE);
		usleep(me == 2 ? 20000 : 100);
		MPI_Ssend(&token, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
	}
	return NULL;
}

static void
rings(void)
{
	pthread_t thread;
	int ways[] = { 1, -1 };

	pthread_create(&thread, NULL, pass_on, &ways[1]);
	pass_on(&ways[0]);
}

static volatile sig_atomic_t caught;

static void
catch_it(int number)
{
	caught = number;
}

static void
catches(void)
{
	signal(SIGUSR1, catch_it);
	for (int all = 0; !all; usleep(10000)) {
		word = caught != 0;
		MPI_Allreduce(&word, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	}
	puts("caught");
}

/* Rank 1 does not call MPI_Init. */
static void
outside(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	if (rank == NULL)
		rank = getenv("PMI_RANK");
	if (rank != NULL && strcmp(rank, "1") == 0)
		pause();
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } cases[] = {
		{ "ssend", ssend }, { "cycle", cycle }, { "knot", knot }, { "nocoll", nocoll },
		{ "grouplate", grouplate }, { "groupknot", groupknot },
		{ "order", order }, { "anynull", anynull }, { "waitany", waitany },
		{ "pending", pending }, { "waitall", waitall }, { "skip", skip },
		{ "bcast", bcast }, { "spin", spin },
		{ "asleep", asleep }, { "inside", inside }, { "leave", leave },
		{ "pausing", pausing }, { "disk", disk },
		{ "threads", threads }, { "slow", slow }, { "busy", busy },
		{ "probing", probing }, { "rings", rings },
		{ "catches", catches }, { "tests", tests }, { "onetests", onetests },
	};
	int provided;

	if (argc > 1 && strcmp(argv[1], "outside") == 0)
		outside();
	MPI_Init_thread(&argc, &argv,
	    argc > 1 && (strcmp(argv[1], "threads") == 0 || strcmp(argv[1], "rings") == 0) ?
	    MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	barrier();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
			cases[i].run();
	barrier();
	MPI_Finalize();
	if (argc > 1 && strcmp(argv[1], "stays") == 0 && me == 1)
		pause();
	return 0;
}
