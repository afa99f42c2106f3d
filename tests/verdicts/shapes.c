/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long poles of many shapes: always one rank, in turn, once, growing, along chains, trees and
 * fronts; and none at all.
 */
#include "planted.h"

static double data[1 << 20];

static void
send(int to)
{
	if (to >= 0 && to < ranks)
		MPI_Send(data, 64, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
}

static void
receive(int from)
{
	if (from >= 0 && from < ranks)
		MPI_Recv(data, 64, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
in_turn(void)
{
	/* as often each */
	for (int step = 0; step < STEPS - STEPS % ranks; step++) {
		part(rank == step % ranks);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static __attribute__((noinline)) void
rare_part(void)
{
	compute(STEPS * SLOW_S);
}

static void
one_step(void)
{
	for (int step = 0; step < 3 * STEPS; step++) {
		usual_part();
		if (rank == SLOW && step == STEPS && !without)
			rare_part();
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static __attribute__((noinline)) void
growing_part(int step)
{
	compute(USUAL_S * step);
}

static void
growing(void)
{
	for (int step = 0; step < STEPS; step++) {
		usual_part();
		if (rank == SLOW && !without)
			growing_part(step);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* A pipeline: each rank takes work from the previous one; the second stage is slow. */
static void
chain(void)
{
	for (int step = 0; step < STEPS; step++) {
		receive(rank - 1);
		part(rank == SLOW);
		send(rank + 1);
	}
}

/* A sum along a binary tree; a leaf is late. */
static void
tree(void)
{
	for (int step = 0; step < STEPS; step++) {
		part(rank == ranks - 1);
		receive(2 * rank + 1);
		receive(2 * rank + 2);
		if (rank > 0)
			send((rank - 1) / 2);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Workers are quick; the master is slow to make the next task. */
static void
slow_master(void)
{
	for (int task = 0; task < STEPS * (ranks - 1); task++) {
		const int worker = 1 + task % (ranks - 1);

		if (rank == 0) {
			slow_part();
			send(worker);
		} else if (rank == worker) {
			receive(0);
			usual_part();
		}
	}
}

/* The master waits for any worker; worker 1 has the long tasks. */
static void
slow_worker(void)
{
	for (int step = 0; step < STEPS; step++) {
		if (rank == 0) {
			for (int worker = 1; worker < ranks; worker++)
				send(worker);
			for (int worker = 1; worker < ranks; worker++)
				MPI_Recv(data, 64, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD,
				    MPI_STATUS_IGNORE);
		} else {
			receive(0);
			part(rank == SLOW);
			send(0);
		}
	}
}

/* Two ranks are as late as each other. */
static void
two_equal(void)
{
	for (int step = 0; step < STEPS; step++) {
		part(rank == SLOW || rank == SLOW + 1);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Each rank passes on what it got, in one call for both. */
static void
shifts(void)
{
	const int to = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
	const int from = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int value = rank;

	for (int step = 0; step < STEPS; step++) {
		int got = 0;

		usual_part();
		if (rank == SLOW)
			slow_part();
		MPI_Sendrecv(&value, 1, MPI_INT, to, 7, &got, 1, MPI_INT, from, 7, MPI_COMM_WORLD,
		    MPI_STATUS_IGNORE);
		value = got;
	}
}

/* Two halves, which meet in messages or only at the end; rank 1 delays the odd half. */
static void
halves(bool meet)
{
	MPI_Comm half, both = MPI_COMM_NULL;
	int value = 0;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	if (meet)
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &both);
	for (int step = 0; step < STEPS; step++) {
		part(rank == SLOW);
		MPI_Barrier(half);
		if (meet && rank % 2 == 1)
			MPI_Send(&value, 1, MPI_INT, rank / 2, 3, both);
		else if (meet)
			MPI_Recv(&value, 1, MPI_INT, rank / 2, 3, both, MPI_STATUS_IGNORE);
	}
	if (meet)
		MPI_Comm_free(&both);
	MPI_Comm_free(&half);
}
static void two_halves(void) { halves(false); }
static void between_groups(void) { halves(true); }

/* A grid of ranks that exchange borders. */
static void
halo(void)
{
	MPI_Comm grid;
	int dims[2] = { 0, 0 }, from, to;

	MPI_Dims_create(ranks, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int []){ 1, 1 }, 0, &grid);
	for (int step = 0; step < STEPS; step++) {
		MPI_Request request[8];
		int count = 0;

		part(rank == SLOW);
		for (int side = 0; side < 4; side++) {
			MPI_Cart_shift(grid, side / 2, side % 2 == 0 ? 1 : -1, &from, &to);
			MPI_Irecv(data + 4096 * side, 512, MPI_DOUBLE, from, side, grid,
			    &request[count++]);
			MPI_Isend(data + 4096 * (4 + side), 512, MPI_DOUBLE, to, side, grid,
			    &request[count++]);
		}
		MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
	}
	MPI_Comm_free(&grid);
}

/* A front that crosses the ranks back and forth; rank 1 is slow. */
static void
wavefront(void)
{
	for (int step = 0; step < STEPS; step++) {
		receive(rank - 1);
		part(rank == SLOW);
		send(rank + 1);
		receive(rank + 1);
		usual_part();
		send(rank - 1);
	}
}

static void
balanced(void)
{
	for (int step = 0; step < STEPS; step++) {
		slow_part();
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Each rank sends megabytes around a ring and computes next to nothing. */
static void
network_bound(void)
{
	for (int step = 0; step < 20 * STEPS; step++)
		MPI_Sendrecv_replace(data, 1 << 20, MPI_DOUBLE, (rank + 1) % ranks, 3,
		    (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static __attribute__((noinline)) void
set_up(void)
{
	compute(STEPS * SLOW_S);
}

static void
start_bound(void)
{
	if (rank == SLOW)
		set_up();
	MPI_Barrier(MPI_COMM_WORLD);
	for (int step = 0; step < STEPS; step++) {
		usual_part();
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static __attribute__((noinline)) void
write_result(void)
{
	compute(STEPS * SLOW_S);
}

static void
end_bound(void)
{
	for (int step = 0; step < STEPS; step++) {
		usual_part();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == SLOW)
		write_result();
}

int
main(int argc, char **argv)
{
	static const struct planted cases[] = { CASE(in_turn), CASE(one_step), CASE(growing),
	    CASE(chain), CASE(tree), CASE(slow_master), CASE(slow_worker), CASE(two_halves),
	    CASE(halo), CASE(wavefront), CASE(balanced), CASE(network_bound), CASE(start_bound),
	    CASE(end_bound), CASE(two_equal), CASE(shifts), CASE(between_groups) };

	return RUN(cases, argc, argv);
}
