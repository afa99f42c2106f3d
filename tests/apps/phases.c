/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phases SEED - two ranks go through three to five phases, each with its own computation, waits and
 * calls per step
 *
 * Computation is a fixed amount of work, not of time: other processes on the machine make it last
 * longer. MPI_Pcontrol(2) marks the end of each phase.
 */
#include <mpi.h>
#include <stdlib.h>

static const struct kind {
	int compute_us, wait_us;	/* of rank 0; rank 1 computes as long as both together */
	int exchanges;			/* in a step, which a barrier ends */
} kinds[] = { { 1000, 10, 3 }, { 1000, 800, 3 }, { 300, 500, 9 }, { 5000, 20, 1 }, { 2000, 900, 2 },
    { 600, 60, 1 } };
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static double loops_a_us;
static volatile double sink;

static void
work(double loops)
{
	double x = 1;

	for (double i = 0; i < loops; i++)
		x = x * 0.999 + 0.001;
	sink = x;
}

/* Takes the fastest of several tries, which was not disturbed. */
static void
calibrate(void)
{
	for (int i = 0; i < 40; i++) {
		double begin = MPI_Wtime();

		work(100000);
		if (100000 / (1e6 * (MPI_Wtime() - begin)) > loops_a_us)
			loops_a_us = 100000 / (1e6 * (MPI_Wtime() - begin));
	}
}

static void
step(int rank, const struct kind *kind)
{
	for (int i = 0; i < kind->exchanges; i++) {
		int token = i;

		work(loops_a_us * (kind->compute_us + (rank == 1 ? kind->wait_us : 0)) *
		    (0.9 + 0.2 * drand48()));
		if (rank == 0)
			MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else
			MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int
main(int argc, char **argv)
{
	int rank, count, last = -1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	srand48(argc > 1 ? atol(argv[1]) : 0);
	count = 3 + (int)(3 * drand48());
	calibrate();
	MPI_Bcast(&loops_a_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Pcontrol(2);
	for (int phase = 0; phase < count; phase++) {
		int kind, steps;

		do
			kind = (int)(KINDS * drand48());
		while (kind == last);
		last = kind;
		steps = (int)((0.15 + 0.35 * drand48()) * 1e6 / (kinds[kind].exchanges *
		    (kinds[kind].compute_us + kinds[kind].wait_us)));
		for (int i = 0; i < steps; i++)
			step(rank, &kinds[kind]);
		MPI_Pcontrol(2);
	}
	MPI_Finalize();
	return 0;
}
