/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apart CASE - two parents and the two children that they spawn hang. Ranks 0 and 1 are the
 * parents, 2 and 3 the children.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int me, child, word;
static MPI_Comm others;

static void
receive(int from)
{
	MPI_Recv(&word, 1, MPI_INT, from, 7, others, MPI_STATUS_IGNORE);
}

static void
compute(void)
{
	for (volatile long n = 0; ; n++)
		;
}

/* Both parents wait for child 3. */
static void
parents(void)
{
	if (child && me == 1)
		compute();
	if (!child)
		receive(1);
}

/* Both children wait for parent 0, which has gone to other work. */
static void
children(void)
{
	if (!child && me == 0)
		compute();
	if (child)
		receive(0);
}

/* 0 and 3 wait for each other. */
static void
cross(void)
{
	if (child == me)
		receive(1 - me);
}

/* 1 waits for a message, the others for it in a barrier of all. */
static void
barrier(void)
{
	MPI_Comm all;

	MPI_Intercomm_merge(others, child, &all);
	if (!child && me == 1)
		receive(0);
	MPI_Barrier(all);
}

/* Of four in one communicator one broadcasts. */
static void
differ(void)
{
	MPI_Comm all;

	MPI_Intercomm_merge(others, child, &all);
	if (child && me == 0)
		MPI_Bcast(&word, 1, MPI_INT, 0, all);
	else
		MPI_Allreduce(&me, &word, 1, MPI_INT, MPI_SUM, all);
}

/* The children are in a barrier of both groups, the parents in another one of theirs. */
static void
sides(void)
{
	MPI_Comm copy;

	MPI_Comm_dup(others, &copy);
	MPI_Barrier(child ? others : copy);
}

/* No hang: messages go to and fro, and one side is slow. */
static void
slow(void)
{
	for (int i = 0; i < 100000; i++) {
		usleep(child ? 20000 : 100);
		if (child)
			MPI_Ssend(&i, 1, MPI_INT, me, 7, others);
		else
			receive(me);
		if (i % 8 == 0)
			MPI_Barrier(others);
	}
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } cases[] = {
		{ "parents", parents }, { "children", children }, { "cross", cross },
		{ "barrier", barrier }, { "differ", differ }, { "sides", sides },
		{ "slow", slow },
	};
	char *arguments[] = { argc > 1 ? argv[1] : "", NULL };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_get_parent(&others);
	child = others != MPI_COMM_NULL;
	if (!child)
		MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
		    MPI_ERRCODES_IGNORE);
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++)
		if (strcmp(cases[i].name, argv[1]) == 0)
			cases[i].run();
	MPI_Finalize();
	return 0;
}
