/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that hang in collectives of all kinds, between groups, in windows, sessions and
 * meetings, and some in which a rank only comes late: stalls CASE. */
#include <mpi.h>
#if defined(OPEN_MPI) && MPI_VERSION < 4
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int me, ranks, word;

static void
late(int rank)
{
	if (me == rank)
		sleep(100000);
}

static void
receive(int from, MPI_Comm comm)
{
	MPI_Recv(&word, 1, MPI_INT, from, 7, comm, MPI_STATUS_IGNORE);
}

/* The lower half of the ranks and the upper one. */
static MPI_Comm
halves(void)
{
	const int upper = me >= ranks / 2;
	MPI_Comm half, inter;

	MPI_Comm_split(MPI_COMM_WORLD, upper, me, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : ranks / 2, 3, &inter);
	MPI_Barrier(inter);
	return inter;
}

static void
inter(void)
{
	MPI_Comm comm = halves();

	if (me == 0 || me == ranks / 2)
		receive(0, comm);
}

static void
interany(void)
{
	receive(MPI_ANY_SOURCE, halves());
}

static void
interall(void)
{
	MPI_Comm comm = halves();

	late(3);
	MPI_Allreduce(&me, &word, 1, MPI_INT, MPI_SUM, comm);
}

/* Rank 3 needs all, rank 0 needs nobody: it is not there as it waits for rank 3. */
static void
scan(void)
{
	if (me == 0)
		receive(3, MPI_COMM_WORLD);
	MPI_Scan(&me, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void
exscan(void)
{
	late(2);
	MPI_Exscan(&me, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* A line: each rank receives from the one before it. */
static MPI_Comm
line(void)
{
	const int before = me - 1, next = me + 1;
	MPI_Comm comm;

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, me > 0, &before, MPI_UNWEIGHTED,
	    me < ranks - 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
	return comm;
}

static void
neighbours(void)
{
	MPI_Comm comm = line();

	if (me == 0)
		receive(1, MPI_COMM_WORLD);
	late(3);
	MPI_Neighbor_allgather(&me, 1, MPI_INT, &word, 1, MPI_INT, comm);
}

static void
neighbourlate(void)
{
	MPI_Comm comm = line();

	late(1);
	MPI_Neighbor_allgather(&me, 1, MPI_INT, &word, 1, MPI_INT, comm);
}

static void
ibarrier(void)
{
	MPI_Request request;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
iall(void)
{
	ibarrier();
	if (me == 1)
		receive(0, MPI_COMM_WORLD);
	ibarrier();
}

static void
ilate(void)
{
	late(1);
	ibarrier();
}

/* Starts of persistent collectives come before. */
static void
persistent(void)
{
	MPI_Request request;

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
	MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#else
	return;
#endif
	for (int i = 0; i < 5; i++) {
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	late(2);
	ibarrier();
}

/* Rank 0's message to 1 is in a buffer: it waits for rank 2 alone. */
static void
eager(void)
{
	MPI_Request requests[2];

	if (me == 0) {
		MPI_Isend(&me, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(&word, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	} else if (me == 1)
		receive(0, MPI_COMM_WORLD);
	late(2);
}

static void
exchange(void)
{
	if (me == 0)
		MPI_Sendrecv(&me, 1, MPI_INT, 1, 5, &word, 1, MPI_INT, 2, 6, MPI_COMM_WORLD,
		    MPI_STATUS_IGNORE);
	else if (me == 1)
		receive(0, MPI_COMM_WORLD);
	late(2);
}

static MPI_Win
window(void)
{
	static int memory[4];
	MPI_Win win;

	MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	return win;
}

/* With an operation behind it: an implementation may put off the lock until then. */
static void
lock(MPI_Win win)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_flush(0, win);
}

static void
locked(void)
{
	MPI_Win win = window();

	if (me == 1)
		lock(win);
	MPI_Barrier(MPI_COMM_WORLD);
	late(1);
	if (me == 2)
		lock(win);
}

static void
locks(void)
{
	MPI_Win a = window(), b = window();

	if (me == 1 || me == 2)
		lock(me == 1 ? a : b);
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 1 || me == 2)
		lock(me == 1 ? b : a);
}

static MPI_Group
only(int rank)
{
	MPI_Group all, one;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &rank, &one);
	return one;
}

/* Rank 1 has access to rank 0's window. */
static void
epoch(void (*before_start)(void), void (*before_complete)(void))
{
	MPI_Win win = window();

	if (me == 0) {
		before_start();
		MPI_Win_post(only(1), 0, win);
		MPI_Win_wait(win);
	} else if (me == 1) {
		MPI_Win_start(only(0), 0, win);
		before_complete();
		MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_complete(win);
	}
}

static void
at_once(void)
{
}

static void
asleep(void)
{
	late(me);
}

static void
ask_other(void)
{
	receive(0, MPI_COMM_WORLD);
}

static void
exposed(void)
{
	epoch(at_once, asleep);
}

static void
unposted(void)
{
	epoch(asleep, at_once);
}

static void
epochs(void)
{
	epoch(at_once, ask_other);
}

static void
fence(void)
{
	MPI_Win win = window();

	MPI_Win_fence(0, win);
	late(2);
	MPI_Win_fence(0, win);
}

/* Open MPI lets all wait for all there; elsewhere they wait in MPI_Finalize. */
static void
disconnect(void)
{
	MPI_Comm copy;

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	late(2);
	MPI_Comm_disconnect(&copy);
}

static void
accept(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm comm;

	if (me == 0)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm);
}

/* Another rank is late each time. */
static void
slow(void)
{
	MPI_Comm between = halves(), of_line = line();
	MPI_Win locks_of = window(), fenced = window();

	for (int i = 0; i < 10000; i++) {
		usleep(me == i % ranks ? 300000 : 1000);
		switch (i % 6) {
		case 0:
			MPI_Scan(&me, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
			break;
		case 1:
			MPI_Neighbor_allgather(&me, 1, MPI_INT, &word, 1, MPI_INT, of_line);
			break;
		case 2:
			ibarrier();
			break;
		case 3:
			lock(locks_of);
			usleep(50000);
			MPI_Win_unlock(0, locks_of);
			break;
		case 4:
			MPI_Win_fence(0, fenced);
			break;
		default:
			MPI_Sendrecv(&me, 1, MPI_INT, me % (ranks / 2), 5, &word, 1, MPI_INT,
			    me % (ranks / 2), 5, between, MPI_STATUS_IGNORE);
		}
	}
}

#if MPI_VERSION >= 4
/* Rank 0 sends three partitions to rank 1, of which it makes READY ready. */
static MPI_Request
partitions(int ready)
{
	static int parts[3];
	MPI_Request request;

	if (me == 0)
		MPI_Psend_init(parts, 3, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	else
		MPI_Precv_init(parts, 3, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	MPI_Start(&request);
	for (int i = 0; me == 0 && i < ready; i++)
		MPI_Pready(i, request);
	return request;
}

/* The last partition becomes ready only after an answer. */
static void
partitioned(void)
{
	MPI_Request request;

	if (me > 1)
		return;
	request = partitions(2);
	if (me == 0)
		receive(1, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 0 sleeps before its last partition is ready; rank 1 completes, or asks for it. */
static void
unready(void)
{
	MPI_Request request = me < 2 ? partitions(2) : MPI_REQUEST_NULL;

	late(0);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
unarrived(void)
{
	MPI_Request request = me < 2 ? partitions(2) : MPI_REQUEST_NULL;
	int arrived = 0;

	late(0);
	while (me == 1 && !arrived) {
		const double polled = MPI_Wtime();

		MPI_Parrived(request, 2, &arrived);
		while (MPI_Wtime() < polled + 5e-6)
			;
	}
}
/* Rank 1 sleeps before it asks for the message, of which all partitions are ready. */
static void
unasked(void)
{
	MPI_Request request;

	late(1);
	if (me == 0) {
		request = partitions(3);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}
#endif

static const struct { const char *name; void (*run)(void); } cases[] = {
	{ "inter", inter }, { "interany", interany }, { "interall", interall },
	{ "scan", scan }, { "exscan", exscan },
	{ "neighbours", neighbours }, { "neighbourlate", neighbourlate }, { "iall", iall },
	{ "ilate", ilate }, { "persistent", persistent }, { "eager", eager },
	{ "exchange", exchange }, { "locked", locked }, { "locks", locks },
	{ "exposed", exposed }, { "unposted", unposted }, { "epochs", epochs },
	{ "fence", fence }, { "disconnect", disconnect }, { "accept", accept }, { "slow", slow },
#if MPI_VERSION >= 4
	{ "partitioned", partitioned }, { "unready", unready }, { "unarrived", unarrived },
	{ "unasked", unasked },
#endif
};

/* Without MPI_Init: face to face, or rank 1 has left. */
static int
in_session(int leaves)
{
#if MPI_VERSION >= 4
	MPI_Session session;
	MPI_Group all;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
	MPI_Comm_create_from_group(all, "stalls", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Comm_rank(comm, &me);
	MPI_Barrier(comm);
	if (!leaves)
		MPI_Ssend(&me, 1, MPI_INT, me ^ 1, 7, comm);
	else if (me == 0)
		MPI_Recv(&word, 1, MPI_INT, 1, 7, comm, MPI_STATUS_IGNORE);
	MPI_Group_free(&all);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
#endif
	return leaves && MPI_VERSION < 4;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strncmp(argv[1], "session", 7) == 0)
		return in_session(strcmp(argv[1], "sessionleft") == 0);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
			cases[i].run();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
