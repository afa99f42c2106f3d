/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 comes late to a collective, of each class in which it delays others. */
#include "planted.h"

static double in[64 * 64], out[64 * 64];

/* Steps in which rank LATE computes long, and then all call. */
static void
steps(int late, void (*call)(void))
{
	for (int step = 0; step < STEPS; step++) {
		part(rank == late);
		call();
	}
}

static void call_bcast(void) { MPI_Bcast(out, 64, MPI_DOUBLE, SLOW, MPI_COMM_WORLD); }
static void bcast(void) { steps(SLOW, call_bcast); }

static void call_scatter(void)
{
	MPI_Scatter(in, 64, MPI_DOUBLE, out, 64, MPI_DOUBLE, SLOW, MPI_COMM_WORLD);
}
static void scatter(void) { steps(SLOW, call_scatter); }

static void call_reduce(void) { MPI_Reduce(in, out, 64, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void reduce(void) { steps(SLOW, call_reduce); }

/* MPI lets others leave, but libraries pass data on by way of the late rank. */
static void tree_reduce(void) { steps(3, call_reduce); }
static void call_tree(void) { MPI_Bcast(out, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void tree_bcast(void) { steps(3, call_tree); }

static void call_gather(void)
{
	MPI_Gather(in, 64, MPI_DOUBLE, out, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void gather(void) { steps(SLOW, call_gather); }

static void call_allreduce(void)
{
	MPI_Allreduce(in, out, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void allreduce(void) { steps(SLOW, call_allreduce); }

static void call_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void barrier(void) { steps(SLOW, call_barrier); }

static void call_alltoall(void)
{
	MPI_Alltoall(in, 16, MPI_DOUBLE, out, 16, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoall(void) { steps(SLOW, call_alltoall); }

static void call_allgather(void)
{
	MPI_Allgather(in, 16, MPI_DOUBLE, out, 16, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void allgather(void) { steps(SLOW, call_allgather); }

static void call_scan(void) { MPI_Scan(in, out, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void scan(void) { steps(0, call_scan); }

static void call_exscan(void) { MPI_Exscan(in, out, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void exscan(void) { steps(0, call_exscan); }
static void tree_scan(void) { steps(2, call_scan); }

static void
call_ibcast(void)
{
	MPI_Request request;

	MPI_Ibcast(out, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void tree_ibcast(void) { steps(2, call_ibcast); }

static void
call_iscan(void)
{
	MPI_Request request;

	MPI_Iscan(in, out, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
	for (int done = 0; !done;)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}
static void tree_iscan(void) { steps(2, call_iscan); }

static void call_reduce_scatter(void)
{
	MPI_Reduce_scatter_block(in, out, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter(void) { steps(SLOW, call_reduce_scatter); }

static MPI_Comm ring;

static void call_neighbours(void)
{
	MPI_Neighbor_allgather(in, 16, MPI_DOUBLE, out, 16, MPI_DOUBLE, ring);
}
static void
neighbours(void)
{
	MPI_Cart_create(MPI_COMM_WORLD, 1, (int []){ ranks }, (int []){ 1 }, 0, &ring);
	steps(SLOW, call_neighbours);
	MPI_Comm_free(&ring);
}

static void
call_iallreduce(void)
{
	MPI_Request request;

	MPI_Iallreduce(in, out, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void iallreduce(void) { steps(SLOW, call_iallreduce); }

static void
call_ibarrier(void)
{
	MPI_Request request;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	for (int done = 0; !done;)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}
static void ibarrier(void) { steps(SLOW, call_ibarrier); }

/* Rank LATE computes after its start; only in calls do libraries move what others wait for. */
static void
overlapped(int late, void (*start)(MPI_Request *))
{
	MPI_Request request;

	for (int step = 0; step < STEPS; step++) {
		start(&request);
		part(rank == late);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void
start_iallreduce(MPI_Request *request)
{
	MPI_Iallreduce(in, out, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}
static void over_iallreduce(void) { overlapped(SLOW, start_iallreduce); }

static void
start_ireduce(MPI_Request *request)
{
	MPI_Ireduce(in, out, 64, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, request);
}
static void over_ireduce(void) { overlapped(2, start_ireduce); }

static void
start_neighbours(MPI_Request *request)
{
	static char from[2 * 100000], to[2 * 100000];

	MPI_Ineighbor_alltoall(from, 100000, MPI_CHAR, to, 100000, MPI_CHAR, ring, request);
}
static void
over_neighbours(void)
{
	const int rows = 1;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &rows, 0, &ring);
	overlapped(SLOW, start_neighbours);
	MPI_Comm_free(&ring);
}

static void start_ibarrier(MPI_Request *request) { MPI_Ibarrier(MPI_COMM_WORLD, request); }
static void over_ibarrier(void) { overlapped(SLOW, start_ibarrier); }

static void
call_split(void)
{
	MPI_Comm half;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_free(&half);
}
static void split(void) { steps(SLOW, call_split); }

/* One-sided calls, on windows. */
static MPI_Win win;

static void
with_window(void (*steps_of)(void))
{
	MPI_Win_create(out, sizeof out, sizeof out[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Barrier(MPI_COMM_WORLD);
	steps_of();
	MPI_Win_free(&win);
}

static void
call_fence(void)
{
	MPI_Put(in, 8, MPI_DOUBLE, (rank + 1) % ranks, 0, 8, MPI_DOUBLE, win);
	MPI_Win_fence(0, win);
}
static void
fence_steps(void)
{
	MPI_Win_fence(0, win);
	steps(SLOW, call_fence);
}
static void fence(void) { with_window(fence_steps); }

static void
epochs(int late_target, int late_origin)
{
	MPI_Group world, other;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, (int []){ 1 - rank }, &other);
	for (int step = 0; rank < 2 && step < STEPS; step++) {
		part(rank == late_target);
		if (rank == 1 - SLOW && late_origin < 0) {
			MPI_Win_start(other, 0, win);
			MPI_Put(in, 8, MPI_DOUBLE, SLOW, 0, 8, MPI_DOUBLE, win);
			MPI_Win_complete(win);
		} else if (rank == SLOW && late_origin < 0) {
			MPI_Win_post(other, 0, win);
			MPI_Win_wait(win);
		} else if (rank == late_origin) {
			MPI_Win_start(other, 0, win);
			MPI_Put(in, 8, MPI_DOUBLE, 1 - SLOW, 0, 8, MPI_DOUBLE, win);
			slow_part();
			MPI_Win_complete(win);
		} else {
			MPI_Win_post(other, 0, win);
			MPI_Win_wait(win);
		}
	}
	MPI_Group_free(&world);
	MPI_Group_free(&other);
}
static void late_post_steps(void) { epochs(SLOW, -1); }
static void late_post(void) { with_window(late_post_steps); }
static void late_complete_steps(void) { epochs(-1, SLOW); }
static void late_complete(void) { with_window(late_complete_steps); }

/* Rank 1 holds the lock while it computes; the others want it. */
static void
lock_steps(void)
{
	for (int step = 0; step < STEPS; step++) {
		if (rank != SLOW)
			usual_part();
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Put(in, 8, MPI_DOUBLE, 0, 0, 8, MPI_DOUBLE, win);
		if (rank == SLOW)
			slow_part();
		MPI_Win_unlock(0, win);
	}
}
static void lock(void) { with_window(lock_steps); }

/* Rank 1 is late with what the others need. */
static void
flush_steps(void)
{
	MPI_Win_lock_all(0, win);
	for (int step = 0; step < STEPS; step++) {
		part(rank == SLOW);
		MPI_Put(in, 8, MPI_DOUBLE, (rank + 1) % ranks, 0, 8, MPI_DOUBLE, win);
		MPI_Win_flush((rank + 1) % ranks, win);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(win);
}
static void flush(void) { with_window(flush_steps); }

/* Rank 1 computes within its epochs: the others wait for it, or for its answer. */
static void
epoch_steps(void)
{
	const int from = (rank + ranks - 1) % ranks, to = (rank + 1) % ranks;
	MPI_Group world, origin, target;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &from, &origin);
	MPI_Group_incl(world, 1, &to, &target);
	for (int step = 0, done; step < STEPS; step++) {
		MPI_Win_post(origin, 0, win);
		MPI_Win_start(target, 0, win);
		part(rank == SLOW);
		MPI_Put(in, 8, MPI_DOUBLE, to, 0, 8, MPI_DOUBLE, win);
		MPI_Win_complete(win);
		for (done = 0; !done;)
			MPI_Win_test(win, &done);
	}
	MPI_Group_free(&world);
	MPI_Group_free(&origin);
	MPI_Group_free(&target);
}
static void in_epoch(void) { with_window(epoch_steps); }

/* Nothing is accessed at rank 1. */
static void
lock_all_steps(void)
{
	for (int step = 0; step < STEPS; step++) {
		part(rank == SLOW);
		MPI_Win_lock_all(0, win);
		MPI_Put(in, 8, MPI_DOUBLE, 0, 0, 8, MPI_DOUBLE, win);
		MPI_Win_flush(0, win);
		MPI_Win_unlock_all(win);
	}
}
static void lock_all(void) { with_window(lock_all_steps); }

/* Nobody gets an exclusive lock while rank 1 computes with the locks of all. */
static void
behind_all_steps(void)
{
	for (int step = 0; step < STEPS; step++) {
		usual_part();
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == SLOW) {
			MPI_Win_lock_all(0, win);
			MPI_Put(in, 8, MPI_DOUBLE, 0, 0, 8, MPI_DOUBLE, win);
			MPI_Win_flush(0, win);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == SLOW) {
			slow_part();
			MPI_Win_unlock_all(win);
		} else {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
			MPI_Put(in, 8, MPI_DOUBLE, 0, 0, 8, MPI_DOUBLE, win);
			MPI_Win_unlock(0, win);
		}
	}
}
static void behind_all(void) { with_window(behind_all_steps); }

static MPI_File file;

static void call_write(void)
{
	MPI_File_write_at_all(file, rank * 512, in, 64, MPI_DOUBLE, MPI_STATUS_IGNORE);
}
static void
with_file(void (*call)(void))
{
	MPI_File_open(MPI_COMM_WORLD, "written", MPI_MODE_CREATE | MPI_MODE_WRONLY,
	    MPI_INFO_NULL, &file);
	steps(SLOW, call);
	MPI_File_close(&file);
}
static void write_all(void) { with_file(call_write); }

static void call_ordered(void)
{
	MPI_File_write_ordered(file, in, 64, MPI_DOUBLE, MPI_STATUS_IGNORE);
}
static void write_ordered(void) { with_file(call_ordered); }

static void call_view(void)
{
	MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
}
static void set_view(void) { with_file(call_view); }

static void
call_iwrite(void)
{
	MPI_Request request;

	MPI_File_iwrite_at_all(file, rank * 512, in, 64, MPI_DOUBLE, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void iwrite_all(void) { with_file(call_iwrite); }

static void
call_split_write(void)
{
	MPI_File_write_at_all_begin(file, rank * 512, in, 64, MPI_DOUBLE);
	MPI_File_write_at_all_end(file, in, MPI_STATUS_IGNORE);
}
static void split_write(void) { with_file(call_split_write); }

int
main(int argc, char **argv)
{
	static const struct planted cases[] = { CASE(tree_bcast), CASE(tree_reduce),
	    CASE(tree_scan), CASE(tree_ibcast), CASE(tree_iscan), CASE(bcast), CASE(scatter),
	    CASE(reduce), CASE(gather), CASE(allreduce), CASE(barrier), CASE(alltoall),
	    CASE(allgather), CASE(scan), CASE(exscan), CASE(reduce_scatter), CASE(neighbours),
	    CASE(iallreduce), CASE(ibarrier), CASE(over_iallreduce), CASE(over_ireduce),
	    CASE(over_ibarrier), CASE(over_neighbours), CASE(split), CASE(fence),
	    CASE(late_post), CASE(late_complete), CASE(lock), CASE(flush), CASE(lock_all),
	    CASE(behind_all), CASE(in_epoch), CASE(write_all), CASE(write_ordered), CASE(set_view),
	    CASE(iwrite_all), CASE(split_write) };

	return RUN(cases, argc, argv);
}
