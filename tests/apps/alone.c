/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of one rank to itself. Their rows, except times, are the same in each run: tests/rows.bats
 * has them. "alone" makes messages, one-sided calls and collectives; "alone polls" makes runs of
 * polls that find nothing; "alone local" makes calls that concern no other rank. "alone together"
 * runs on two ranks: an epoch of both, and a process that they spawn. "alone threads" receives
 * a message that another thread probed for, and one while another thread gets the next.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int data[8];

static void
send_to_self(int count, int first_tag, MPI_Request *sends, int messages)
{
	for (int i = 0; i < messages; i++)
		MPI_Isend(data, count + i, MPI_INT, 0, first_tag + i, MPI_COMM_SELF, &sends[i]);
}

/* Three are open at a time, and the middle one is received first. */
static void
matched_probes(void)
{
	static const int order[] = { 1, 0, 2 };
	MPI_Message messages[3];
	MPI_Request sends[3], receive;
	int in[8];

	send_to_self(1, 0, sends, 3);
	for (int i = 0; i < 3; i++)
		MPI_Mprobe(0, i, MPI_COMM_SELF, &messages[i], MPI_STATUS_IGNORE);
	for (int i = 0; i < 3; i++) {
		MPI_Imrecv(in, 8, MPI_INT, &messages[order[i]], &receive);
		MPI_Wait(&receive, MPI_STATUS_IGNORE);
	}
	MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
	MPI_Mprobe(MPI_PROC_NULL, 5, MPI_COMM_SELF, &messages[0], MPI_STATUS_IGNORE);
	MPI_Mrecv(in, 8, MPI_INT, &messages[0], MPI_STATUS_IGNORE);
	MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void *
probe(void *message)
{
	MPI_Mprobe(0, 1, MPI_COMM_SELF, message, MPI_STATUS_IGNORE);
	return NULL;
}

/* Gets a message of its own, whose handle is that of the one received last. */
static void *
probe_and_receive(void *unused)
{
	MPI_Message message;
	MPI_Request send;

	MPI_Isend(data, 2, MPI_INT, 0, 2, MPI_COMM_WORLD, &send);
	MPI_Mprobe(0, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(&data[4], 2, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	return unused;
}

static int other_receives;

/* MPI's own, in front of the library's: before it ends another thread may receive. */
int
PMPI_Mrecv(void *in, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
	int (*mrecv)(void *, int, MPI_Datatype, MPI_Message *, MPI_Status *);
	const int now = other_receives;
	pthread_t other;
	int result;

	*(void **)&mrecv = dlsym(RTLD_NEXT, "PMPI_Mrecv");
	result = mrecv(in, count, type, message, status);
	other_receives = 0;
	if (now) {
		pthread_create(&other, NULL, probe_and_receive, NULL);
		pthread_join(other, NULL);
	}
	return result;
}

static void
two_threads(void)
{
	MPI_Message message;
	MPI_Request send;
	pthread_t other;

	send_to_self(1, 1, &send, 1);
	MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
	other_receives = 1;
	MPI_Mrecv(&data[4], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	send_to_self(1, 1, &send, 1);
	pthread_create(&other, NULL, probe, &message);
	pthread_join(other, NULL);
	MPI_Mrecv(&data[4], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* A probe and its receive, only one of which is recorded. */
static void
paused(void)
{
	MPI_Message messages[2];
	MPI_Request sends[2];
	int in[8];

	MPI_Pcontrol(7);
	send_to_self(3, 20, sends, 2);
	MPI_Mprobe(0, 20, MPI_COMM_SELF, &messages[0], MPI_STATUS_IGNORE);
	MPI_Pcontrol(0);
	MPI_Mprobe(0, 21, MPI_COMM_SELF, &messages[1], MPI_STATUS_IGNORE);
	MPI_Mrecv(in, 8, MPI_INT, &messages[0], MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_SELF);
	MPI_Pcontrol(1);
	MPI_Mrecv(in, 8, MPI_INT, &messages[1], MPI_STATUS_IGNORE);
	MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

static void
one_sided(void)
{
	int *memory;
	MPI_Group group;
	MPI_Win win;
	int done = 0;

	MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Put(data, 2, MPI_INT, 0, 0, 2, MPI_INT, win);
	MPI_Get(data, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win);
	MPI_Win_unlock(0, win);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(data, 3, MPI_INT, 0, 0, 3, MPI_INT, win);
	MPI_Win_unlock(0, win);
	MPI_Comm_group(MPI_COMM_SELF, &group);
	for (int i = 0; i < 2; i++) {
		MPI_Win_post(group, 0, win);
		MPI_Win_start(group, 0, win);
		MPI_Put(data, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
	}
	MPI_Group_free(&group);
	group = MPI_GROUP_EMPTY;
	MPI_Win_start(group, 0, win);
	MPI_Win_complete(win);
	MPI_Win_post(group, 0, win);
	while (!done)
		MPI_Win_test(win, &done);
	MPI_Win_free(&win);
}

static void
sizes(void)
{
	const int none = 0, two = 2, at = 0;
	MPI_Datatype three;
	int in[8];

	MPI_Type_contiguous(3, MPI_INT, &three);
	MPI_Type_commit(&three);
	MPI_Bcast(data, 2, three, 0, MPI_COMM_SELF);
	MPI_Bcast(data, 0, MPI_INT, 0, MPI_COMM_SELF);
	MPI_Alltoallv(data, &two, &at, MPI_INT, in, &two, &at, MPI_INT, MPI_COMM_SELF);
	MPI_Alltoallv(data, &none, &at, MPI_INT, in, &none, &at, MPI_INT, MPI_COMM_SELF);
	MPI_Sendrecv(data, 2, three, 0, 30, in, 6, MPI_INT, 0, 30, MPI_COMM_SELF,
	    MPI_STATUS_IGNORE);
	MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 31, MPI_COMM_SELF);
	MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 31, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Type_free(&three);
}

static void
polls(void)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int flag;

	for (int run = 0; run < 3; run++) {
		for (int i = 0; i < 5; i++)
			MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		if (run == 0)
			usleep(300000);
		else
			MPI_Barrier(MPI_COMM_SELF);
	}
	MPI_Pcontrol(0);
	MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	MPI_Pcontrol(1);
	MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
	MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
	MPI_Irecv(data, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &request);
	for (int i = 0; i < 3; i++)
		MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Irecv(data, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &request);
	MPI_Send(&flag, 1, MPI_INT, 0, 8, MPI_COMM_SELF);
	MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
local(void)
{
	char room[2 * MPI_BSEND_OVERHEAD];
	void *was;
	int size;

	for (int i = 0; i < 2; i++) {
		MPI_Buffer_attach(room, sizeof room);
		MPI_Buffer_detach(&was, &size);
	}
}

static void
together(char *program)
{
	char child[] = "child", *words[] = { child, NULL };
	int *memory, rank;
	MPI_Comm children;
	MPI_Group both;
	MPI_Win win;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_group(MPI_COMM_WORLD, &both);
	MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
	    &win);
	MPI_Win_post(both, 0, win);
	MPI_Win_start(both, 0, win);
	MPI_Put(data, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	MPI_Win_free(&win);
	MPI_Group_free(&both);
	MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
	    MPI_ERRCODES_IGNORE);
	MPI_Comm_disconnect(&children);
}

static void
child(void)
{
	MPI_Comm parents;

	MPI_Comm_get_parent(&parents);
	MPI_Comm_disconnect(&parents);
}

int
main(int argc, char **argv)
{
	int level;

	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	else
		MPI_Init(&argc, &argv);
	if (argc > 1 && strcmp(argv[1], "local") == 0)
		local();
	else if (argc > 1 && strcmp(argv[1], "threads") == 0)
		two_threads();
	else if (argc > 1 && strcmp(argv[1], "together") == 0)
		together(argv[0]);
	else if (argc > 1 && strcmp(argv[1], "child") == 0)
		child();
	else if (argc > 1)
		polls();
	else {
		matched_probes();
		paused();
		one_sided();
		sizes();
	}
	MPI_Finalize();
	return 0;
}
