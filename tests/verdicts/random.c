/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random SEED [without]: a program of 2 to 6 exchanges, in steps that end with a barrier. In one
 * exchange of each step, one rank computes for LATE_S: before it, or between the start of a call
 * and its end. That rank is the long pole, as all wait for it in the barrier at the latest. The
 * seed decides all, also whether all ranks compute a little. Prints the seconds.
 *
 * random cases FROM TO: for each seed what its program does, and a line as in the file `cases`.
 */
#include "planted.h"

enum { STEPS_RANDOM = 10, MOST = 6 /* exchanges */, DOUBLES = 20000 };
static const double LATE_S = 0.02;

/* Room for DOUBLES from each rank; a message is of `count`. */
static double *in, *out, *shared;
static int count;
#define OUT out, count, MPI_DOUBLE
#define IN in, count, MPI_DOUBLE
static MPI_Comm comm;
static MPI_Win window;
static int root, next, previous;
static int late_rank;
static bool late_between, late_here, all_compute;

static unsigned long long state;

static int
drawn(int below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((state >> 33) % (unsigned long long)below);
}

static __attribute__((noinline)) void
late_part(void)
{
	if (!without)
		compute(LATE_S);
}

/* Between the start and the end of an exchange. */
static void
between(void)
{
	if (late_here && late_between && rank == late_rank)
		late_part();
}

static void
wait(MPI_Request *requests, int n)
{
	between();
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void
wait_any(MPI_Request *requests, int n)
{
	int which;

	between();
	for (int i = 0; i < n; i++)
		MPI_Waitany(n, requests, &which, MPI_STATUS_IGNORE);
}

static void
poll(MPI_Request *requests, int n)
{
	int done = 0;

	between();
	while (!done)
		MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
}

static void
ring(void (*complete)(MPI_Request *, int))
{
	MPI_Request requests[2];

	MPI_Irecv(IN, previous, 1, comm, &requests[0]);
	MPI_Isend(OUT, next, 1, comm, &requests[1]);
	complete(requests, 2);
}

static void ring_waitall(void) { ring(wait); }
static void ring_waitany(void) { ring(wait_any); }
static void ring_testall(void) { ring(poll); }

static void
ring_sendrecv(void)
{
	MPI_Sendrecv(OUT, next, 2, IN, previous, 2, comm, MPI_STATUS_IGNORE);
}

static void
ring_persistent(void)
{
	MPI_Request requests[2];

	MPI_Recv_init(IN, previous, 3, comm, &requests[0]);
	MPI_Send_init(OUT, next, 3, comm, &requests[1]);
	MPI_Startall(2, requests);
	wait(requests, 2);
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void
to_root(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm), bool any)
{
	if (rank != root)
		send(OUT, root, 4, comm);
	for (int r = 0; rank == root && r < ranks; r++)
		if (r != root)
			MPI_Recv(IN, any ? MPI_ANY_SOURCE : r, 4, comm, MPI_STATUS_IGNORE);
}

static void sends_to_root(void) { to_root(MPI_Send, false); }
static void sends_to_any(void) { to_root(MPI_Send, true); }
static void ssends_to_root(void) { to_root(MPI_Ssend, true); }

static void
from_root(void)
{
	for (int r = 0; rank == root && r < ranks; r++)
		if (r != root)
			MPI_Send(OUT, r, 5, comm);
	if (rank != root)
		MPI_Recv(IN, root, 5, comm, MPI_STATUS_IGNORE);
}

/* The root polls for a message of any rank, and then receives it. */
static void
to_polls(void)
{
	if (rank != root)
		MPI_Send(OUT, root, 6, comm);
	for (int left = rank == root ? ranks - 1 : 0; left > 0; left--) {
		MPI_Status status;
		int there = 0;

		while (!there)
			MPI_Iprobe(MPI_ANY_SOURCE, 6, comm, &there, &status);
		MPI_Recv(IN, status.MPI_SOURCE, 6, comm, MPI_STATUS_IGNORE);
	}
}

static void
to_mprobe(void)
{
	if (rank != root)
		MPI_Send(OUT, root, 7, comm);
	for (int left = rank == root ? ranks - 1 : 0; left > 0; left--) {
		MPI_Message message;

		MPI_Mprobe(MPI_ANY_SOURCE, 7, comm, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(IN, &message, MPI_STATUS_IGNORE);
	}
}

/* From rank to rank, beginning with the root. */
static void
chain(void)
{
	if (rank != root)
		MPI_Recv(IN, previous, 8, comm, MPI_STATUS_IGNORE);
	if (next != root)
		MPI_Send(OUT, next, 8, comm);
}

static void barrier(void) { MPI_Barrier(comm); }
static void bcast(void) { MPI_Bcast(OUT, root, comm); }
static void reduce(void) { MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, comm); }
static void allreduce(void) { MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm); }
static void gather(void) { MPI_Gather(OUT, IN, root, comm); }
static void scatter(void) { MPI_Scatter(OUT, IN, root, comm); }
static void allgather(void) { MPI_Allgather(OUT, IN, comm); }
static void alltoall(void) { MPI_Alltoall(OUT, IN, comm); }
static void scan(void) { MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, comm); }
static void exscan(void) { MPI_Exscan(out, in, count, MPI_DOUBLE, MPI_SUM, comm); }

static void
reduce_scatter(void)
{
	MPI_Reduce_scatter_block(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
}

#define STARTED(name, complete, start, ...) \
static void name(void) { MPI_Request r; start(__VA_ARGS__, &r); complete(&r, 1); }

STARTED(ibarrier, wait, MPI_Ibarrier, comm)
STARTED(ibarrier_polled, poll, MPI_Ibarrier, comm)
STARTED(ibcast, wait, MPI_Ibcast, OUT, root, comm)
STARTED(ibcast_polled, poll, MPI_Ibcast, OUT, root, comm)
STARTED(ireduce, wait, MPI_Ireduce, out, in, count, MPI_DOUBLE, MPI_SUM, root, comm)
STARTED(iallreduce, wait, MPI_Iallreduce, out, in, count, MPI_DOUBLE, MPI_SUM, comm)
STARTED(iallreduce_polled, poll, MPI_Iallreduce, out, in, count, MPI_DOUBLE, MPI_SUM, comm)
STARTED(igather, wait, MPI_Igather, OUT, IN, root, comm)
STARTED(iscatter, wait, MPI_Iscatter, OUT, IN, root, comm)
STARTED(iallgather, wait, MPI_Iallgather, OUT, IN, comm)
STARTED(ialltoall, wait, MPI_Ialltoall, OUT, IN, comm)
STARTED(iscan, wait, MPI_Iscan, out, in, count, MPI_DOUBLE, MPI_SUM, comm)

static void
fence(void)
{
	MPI_Win_fence(0, window);
	between();
	MPI_Put(OUT, next, 0, count, MPI_DOUBLE, window);
	MPI_Win_fence(0, window);
}

static void
epochs(void)
{
	MPI_Group all, to, from;

	MPI_Comm_group(comm, &all);
	MPI_Group_incl(all, 1, &next, &to);
	MPI_Group_incl(all, 1, &previous, &from);
	MPI_Win_post(from, 0, window);
	MPI_Win_start(to, 0, window);
	MPI_Put(OUT, next, 0, count, MPI_DOUBLE, window);
	between();
	MPI_Win_complete(window);
	MPI_Win_wait(window);
	MPI_Group_free(&all);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
}

/* All want the root's lock, which the late rank holds in between. */
static void
locks(void)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, root, 0, window);
	between();
	MPI_Put(OUT, root, 0, count, MPI_DOUBLE, window);
	MPI_Win_unlock(root, window);
}

static void
flushes(void)
{
	MPI_Win_lock_all(0, window);
	MPI_Put(OUT, next, 0, count, MPI_DOUBLE, window);
	between();
	MPI_Win_flush(next, window);
	MPI_Win_unlock_all(window);
}

/* Without what comes between its start and its end, or with it. */
#define WHOLE(function) { #function, function, false }
#define SPLIT(function) { #function, function, true }

static const struct kind {
	const char *name;
	void (*run)(void);
	bool split;
} kinds[] = {
	SPLIT(ring_waitall), SPLIT(ring_waitany), SPLIT(ring_testall),
	SPLIT(ring_persistent), WHOLE(ring_sendrecv), WHOLE(sends_to_root),
	WHOLE(sends_to_any), WHOLE(ssends_to_root), WHOLE(from_root), WHOLE(to_polls),
	WHOLE(to_mprobe), WHOLE(chain), WHOLE(barrier), WHOLE(bcast), WHOLE(reduce),
	WHOLE(allreduce), WHOLE(gather), WHOLE(scatter), WHOLE(allgather), WHOLE(alltoall),
	WHOLE(scan), WHOLE(exscan), WHOLE(reduce_scatter), SPLIT(ibarrier),
	SPLIT(ibarrier_polled), SPLIT(ibcast), SPLIT(ibcast_polled), SPLIT(ireduce),
	SPLIT(iallreduce), SPLIT(iallreduce_polled), SPLIT(igather), SPLIT(iscatter),
	SPLIT(iallgather), SPLIT(ialltoall), SPLIT(iscan), SPLIT(fence), SPLIT(epochs),
	SPLIT(locks), SPLIT(flushes),
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int exchanges, late_exchange;
static struct exchange {
	const struct kind *kind;
	int root, count;
} program[MOST];

static void
draw(unsigned long long seed)
{
	static const int counts[] = { 1, 100, 2000, DOUBLES };

	state = 977 * seed + 1;
	for (int i = 0; i < 10; i++)
		drawn(2);
	ranks = 2 + drawn(4);
	exchanges = 2 + drawn(MOST - 1);
	for (int i = 0; i < exchanges; i++)
		program[i] = (struct exchange){ &kinds[drawn(KINDS)], drawn(ranks),
		    counts[drawn(4)] };
	all_compute = drawn(2);
	late_exchange = drawn(exchanges);
	late_rank = drawn(ranks);
	late_between = drawn(2) && program[late_exchange].kind->split;
}

static void
print_cases(unsigned long long seed, unsigned long long last)
{
	for (; seed <= last; seed++) {
		draw(seed);
		printf("#%s", all_compute ? " all compute;" : "");
		for (int i = 0; i < exchanges; i++)
			printf(" %s%s root %d %d doubles;", i != late_exchange ? "" :
			    late_between ? "late between " : "late before ",
			    program[i].kind->name, program[i].root, program[i].count);
		printf("\n%llu random.c %d %d compute ^(late_part)? before MPI_\n", seed, ranks,
		    late_rank);
	}
}

static void
run(const struct exchange *one, bool late)
{
	root = one->root;
	count = one->count;
	late_here = late;
	if (all_compute)
		usual_part();
	if (late && !late_between && rank == late_rank)
		late_part();
	one->kind->run();
}

int
main(int argc, char **argv)
{
	double began_s;

	if (argc == 4 && strcmp(argv[1], "cases") == 0) {
		print_cases(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
		return 0;
	}
	if (argc < 2)
		return 2;
	draw(strtoull(argv[1], NULL, 10));
	without = argc == 3;
	comm = MPI_COMM_WORLD;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	next = (rank + 1) % ranks;
	previous = (rank + ranks - 1) % ranks;
	in = calloc((size_t)ranks * DOUBLES, sizeof *in);
	out = calloc((size_t)ranks * DOUBLES, sizeof *out);
	MPI_Win_allocate((MPI_Aint)(DOUBLES * sizeof *shared), sizeof *shared, MPI_INFO_NULL, comm,
	    &shared, &window);
	MPI_Barrier(comm);
	began_s = MPI_Wtime();
	for (int step = 0; step < STEPS_RANDOM; step++) {
		for (int i = 0; i < exchanges; i++)
			run(&program[i], i == late_exchange);
		MPI_Barrier(comm);
	}
	if (rank == 0)
		printf("%.6f\n", MPI_Wtime() - began_s);
	MPI_Win_free(&window);
	free(in);
	free(out);
	return MPI_Finalize();
}
