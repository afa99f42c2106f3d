/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * states NAME - plants one wait state: one rank comes 0.1 s late, each works 0.03 s
 *
 * Three ranks. Rank 2 takes part only if three are needed. Nothing else waits: the late rank and
 * the waiting ranks go on together, and a rank that takes no part sleeps as long.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank;
static MPI_Comm pair;		/* ranks 0 and 1; MPI_COMM_SELF on 2 */
static int in[64], out[64];

static void
pass(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	nanosleep(&t, NULL);
}

static void late(void) { pass(0.1); }

static void
late_sender(void)
{
	if (rank == 0) {
		late();
		MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	} else if (rank == 1)
		MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		late();
}

/* A probe sees the message, and receives it or not. */
static void
late_sender_probe(void)
{
	MPI_Probe(0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
late_sender_mprobe(void)
{
	MPI_Message message;
	MPI_Request request;

	MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Imrecv(in, 1, MPI_INT, &message, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
late_sender_iprobe(void)
{
	MPI_Request request;

	for (int flag = 0; !flag;)
		MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
probed(void (*receive)(void))
{
	if (rank != 1)
		late();
	if (rank == 0)
		MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	else if (rank == 1)
		receive();
}

static void probe(void) { probed(late_sender_probe); }
static void mprobe(void) { probed(late_sender_mprobe); }
static void iprobe(void) { probed(late_sender_iprobe); }

static void
late_sender_waitall(void)
{
	MPI_Request requests[2];

	if (rank == 0) {
		MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		late();
		MPI_Send(out, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Irecv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(in + 1, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	} else
		late();
}

static void
late_receiver(void)
{
	if (rank == 0)
		MPI_Ssend(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	else {
		late();
		if (rank == 1)
			MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void
late_receiver_wait(void)
{
	MPI_Request request;

	if (rank == 0) {
		MPI_Issend(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		late();
		if (rank == 1)
			MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void
wrong_order_same(void)
{
	if (rank == 0) {
		MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		late();
		MPI_Send(out, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Recv(in, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else
		late();
}

static void
wrong_order_different(void)
{
	if (rank == 0) {
		late();
		MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(in, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		late();
	}
}

/* Rank WHO is late, and so is rank 2, which does not take part. */
static void
come(int who)
{
	if (rank == who || rank == 2)
		late();
}

static void barrier(void) { come(0); if (rank < 2) MPI_Barrier(pair); }
static void allreduce(void)
{
	come(0); if (rank < 2) MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, pair);
}
static void alltoallv(void)
{
	int counts[2] = { 1, 2 }, places[2] = { 0, 2 }, back[2] = { rank + 1, rank + 1 };

	come(0);
	if (rank < 2)
		MPI_Alltoallv(out, counts, places, MPI_INT, in, back, places, MPI_INT, pair);
}
static void bcast(void) { come(0); if (rank < 2) MPI_Bcast(in, 4, MPI_INT, 0, pair); }
static void scatterv(void)
{
	int counts[2] = { 1, 2 }, places[2] = { 0, 2 };

	come(0);
	if (rank < 2)
		MPI_Scatterv(out, counts, places, MPI_INT, in, rank + 1, MPI_INT, 0, pair);
}
static void reduce(void)
{
	come(1); if (rank < 2) MPI_Reduce(out, in, 4, MPI_INT, MPI_SUM, 0, pair);
}
static void gather(void)
{
	come(1); if (rank < 2) MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, pair);
}
static void scan(void) { come(0); if (rank < 2) MPI_Scan(out, in, 4, MPI_INT, MPI_SUM, pair); }
static void finalize(void) { if (rank == 0) late(); }
static void dup(void)
{
	MPI_Comm made;

	come(0);
	if (rank < 2)
		MPI_Comm_dup(pair, &made);
}
static void create_group(void)
{
	MPI_Group group;
	MPI_Comm made;

	MPI_Comm_group(pair, &group);
	come(0);
	if (rank < 2)
		MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &made);
}
/* Open MPI lets all wait for all there; other libraries let nobody wait. */
static void disconnect(void)
{
	MPI_Comm made;

	if (rank < 2)
		MPI_Comm_dup(pair, &made);
	come(1);
	if (rank < 2)
		MPI_Comm_disconnect(&made);
}
static void intercomm_create(void)
{
	MPI_Comm made;

	come(1);
	if (rank < 2)
		MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 3, &made);
}

static void
ibarrier(void)
{
	MPI_Request request;

	come(0);
	if (rank < 2) {
		MPI_Ibarrier(pair, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void
iallreduce(void)
{
	MPI_Request request;

	come(0);
	if (rank < 2) {
		MPI_Iallreduce(out, in, 4, MPI_INT, MPI_SUM, pair, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void
neighbours(void)
{
	int dims = 2, periodic = 0;
	static MPI_Comm line;

	if (rank < 2)
		MPI_Cart_create(pair, 1, &dims, &periodic, 0, &line);
	come(0);
	if (rank < 2)
		MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, line);
}

static MPI_Win window;
static int memory[4];

/* Making a window takes a while, so rank 2 makes one of its own, too. */
static void
make_window(void)
{
	MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, pair, &window);
}

static void window_create(void) { come(0); make_window(); }

static void
fence(void)
{
	make_window();
	if (rank < 2)
		MPI_Win_fence(0, window);
	come(0);
	if (rank < 2)
		MPI_Win_fence(0, window);
}

/* Rank 0 puts late, when rank 1 is in its fence already. */
static void
early_fence(void)
{
	make_window();
	if (rank < 2)
		MPI_Win_fence(0, window);
	come(0);
	if (rank == 0)
		MPI_Put(out, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
	if (rank < 2)
		MPI_Win_fence(0, window);
}

/* When rank 0 locks its window, rank 1 is not in MPI, where it would answer. */
static void
progress(void)
{
	make_window();
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
		MPI_Put(out, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
		MPI_Win_unlock(1, window);
	} else
		late();
	MPI_Win_free(&window);
}

/* Rank 0 is the origin, rank 1 the target. */
enum { COMPLETES = 2 };
static void
epoch(int who)
{
	MPI_Group group, other;
	int one = 1 - rank;

	make_window();
	if (rank < 2) {
		MPI_Comm_group(pair, &group);
		MPI_Group_incl(group, 1, &one, &other);
	}
	if (rank == 2)
		late();
	else if (rank == 0) {
		MPI_Win_start(other, 0, window);
		if (who == 0)
			late();
		MPI_Put(out, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
		if (who == COMPLETES)
			late();
		MPI_Win_complete(window);
	} else {
		if (who == 1)
			late();
		MPI_Win_post(other, 0, window);
		MPI_Win_wait(window);
	}
}
static void late_post(void) { epoch(1); }
static void early_wait(void) { epoch(0); }
static void late_complete(void) { epoch(COMPLETES); }

/* Ranks 0 and 2 lock rank 1, which is in MPI meanwhile, so that it answers. */
static void
lock(void)
{
	MPI_Win all;

	MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &all);
	if (rank != 1) {
		if (rank == 2)
			pass(0.02);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, all);
		MPI_Put(out, 1, MPI_INT, 1, 0, 1, MPI_INT, all);
		MPI_Win_flush(1, all);
		if (rank == 0)
			pass(0.12);
		MPI_Win_unlock(1, all);
	}
	MPI_Win_free(&all);
}

static void
file_open(void)
{
	MPI_File file;

	come(0);
	if (rank < 2) {
		MPI_File_open(pair, "states.data", MPI_MODE_CREATE | MPI_MODE_RDWR |
		    MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
		MPI_File_close(&file);
	}
}

static void
file_view(void)
{
	MPI_File file;

	if (rank < 2)
		MPI_File_open(pair, "states.data", MPI_MODE_CREATE | MPI_MODE_RDWR |
		    MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	come(0);
	if (rank < 2) {
		MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
		MPI_File_close(&file);
	}
}

static const struct { const char *name; void (*plant)(void); } plants[] = {
	{ "late_sender", late_sender }, { "late_sender_waitall", late_sender_waitall },
	{ "probe", probe }, { "mprobe", mprobe }, { "iprobe", iprobe },
	{ "late_receiver", late_receiver }, { "late_receiver_wait", late_receiver_wait },
	{ "wrong_order_same", wrong_order_same },
	{ "wrong_order_different", wrong_order_different },
	{ "barrier", barrier }, { "allreduce", allreduce }, { "alltoallv", alltoallv },
	{ "bcast", bcast },
	{ "scatterv", scatterv }, { "reduce", reduce }, { "gather", gather }, { "scan", scan },
	{ "finalize", finalize }, { "dup", dup },
	{ "create_group", create_group }, { "intercomm_create", intercomm_create },
	{ "disconnect", disconnect },
	{ "ibarrier", ibarrier },
	{ "iallreduce", iallreduce },
	{ "neighbours", neighbours }, { "window_create", window_create }, { "fence", fence },
	{ "late_post", late_post }, { "early_wait", early_wait }, { "file_open", file_open },
	{ "lock", lock }, { "early_fence", early_fence }, { "late_complete", late_complete },
	{ "progress", progress }, { "file_view", file_view },
};

int
main(int argc, char **argv)
{
	int done = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pass(0.03);
	MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &pair);	/* time before this is no delay */
	for (size_t i = 0; argc > 1 && i < sizeof plants / sizeof plants[0]; i++)
		if (strcmp(argv[1], plants[i].name) == 0) {
			plants[i].plant();
			done = 1;
		}
	MPI_Finalize();
	return done ? 0 : 2;
}
