/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * faults WHAT [ARGUMENT ...] - programs that a recorder could harm, or whose trace it could lose,
 * one per WHAT. Each ends with status 0 if the program itself is unharmed.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int rank, ranks;

/* Lists each neighbour N times: long columns in small messages. */
static int
neighbours(int n)
{
	int *all = malloc((size_t)n * sizeof *all), *in = calloc((size_t)n, sizeof *in);
	int *out = calloc((size_t)n, sizeof *out), *weights = MPI_UNWEIGHTED;
	MPI_Comm graph;

	for (int i = 0; i < n; i++)
		all[i] = (rank + 1) % ranks;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, all, weights, n, all, weights,
	    MPI_INFO_NULL, 0, &graph);
	MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph);
	return 0;
}

__attribute__((noinline)) static int
deep(int n)
{
	if (n == 0)
		return MPI_Barrier(MPI_COMM_WORLD);
	n = deep(n - 1);
	__asm__ volatile("" ::: "memory");
	return n;
}

/* 2^DEPTH call paths to the same call. */
__attribute__((noinline)) static int
ways(int depth)
{
	int result, flag;

	if (depth == 0)
		return MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	result = ways(depth - 1);
	__asm__ volatile("" ::: "memory");
	result |= ways(depth - 1);
	__asm__ volatile("" ::: "memory");
	return result;
}

static MPI_Request handed[2];

static void *
complete(void *unused)
{
	MPI_Waitall(2, handed, MPI_STATUSES_IGNORE);
	return unused;
}

/* Started here and completed by another thread, one at a time: needs only MPI_THREAD_SERIALIZED. */
static int
serialized(void)
{
	int in = 0, out = 1;

	for (int i = 0; i < 300; i++) {
		pthread_t thread;

		MPI_Irecv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
		    MPI_COMM_WORLD, &handed[0]);
		MPI_Isend(&out, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &handed[1]);
		if (i % 3 == 0) {
			pthread_create(&thread, NULL, complete, NULL);
			pthread_join(thread, NULL);
		} else
			complete(NULL);
	}
	return in != 1;
}

static int
messages(int n)
{
	int in = 0, out = 1;

	for (int i = 0; i < n; i++) {
		MPI_Request request;

		MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
		MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	return in != 1;
}

/* Sends and polls that fold, until well after the disk is full. */
static int
polls(void)
{
	int flag;

	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < 2000; i++)
			MPI_Send(&flag, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
		for (int i = 0; i < 200; i++)
			MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	return 0;
}

/*
 * Closes all descriptors, as daemons do, and reuses their numbers for its own file; TRACE: also
 * removes the trace.
 */
static int
closes(const char *own, const char *trace)
{
	char line[100], path[4000], file[4000];
	int fd[2048], last = 2047;

	for (int i = 3; i <= last; i++) {
		ssize_t got;

		snprintf(path, sizeof path, "/proc/self/fd/%d", i);
		if ((got = readlink(path, file, sizeof file - 1)) > 0 &&
		    (file[got] = '\0', strstr(file, "/rank.") != NULL))
			close(i);
	}
	if (trace != NULL)
		unlink(trace);
	snprintf(path, sizeof path, "%s.%d", own, rank);
	for (int i = 0; i < 1100; i++)
		if ((fd[i] = open(path, O_RDWR | O_CREAT, 0666)) < 0)
			break;
	if (write(fd[0], "mine\n", 5) != 5 || messages(60000) != 0)
		return 1;
	if (lseek(fd[0], 0, SEEK_END) != 5 || pread(fd[0], line, sizeof line, 0) != 5)
		return 1;
	return memcmp(line, "mine\n", 5) != 0;
}

static volatile sig_atomic_t faults;
static char *own_map;
static long page;

static void
on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if ((char *)info->si_addr != own_map)
		_exit(3);
	faults++;
	mmap(own_map, (size_t)page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* A SIGBUS of the program's own, in a file without a page. */
static void
own_fault(void)
{
	char name[] = "/tmp/faults.XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	own_map = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*(volatile char *)own_map = 1;
	munmap(own_map, (size_t)page);
	close(fd);
}

/* Somebody truncates the trace while the program handles SIGBUS itself. */
static int
cut(const char *folder, long size)
{
	struct sigaction mine = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, seen;
	char path[4000];

	page = sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &mine, NULL);
	own_fault();
	snprintf(path, sizeof path, "%s/rank.%d", folder, rank);
	if (messages(200) != 0 || (size >= 0 && truncate(path, size) != 0) || messages(60000) != 0)
		return 1;
	own_fault();
	sigaction(SIGBUS, NULL, &seen);
	return faults != 2 || seen.sa_sigaction != on_fault || (seen.sa_flags & SA_SIGINFO) == 0;
}

/* Many entries for every table of the recorder. */
static int
tables(void)
{
	enum { MANY = 3000 };
	static MPI_Request requests[MANY];
	static int in[MANY];
	int periods[1] = { 1 }, dims[1] = { 1 }, out = 1;
	MPI_Comm made[100], cart, part;
	MPI_Group group;

	for (int i = 0; i < 100; i++)
		MPI_Comm_dup(MPI_COMM_SELF, &made[i]);
	MPI_Comm_group(MPI_COMM_SELF, &group);
	for (int i = 0; i < 20; i++)
		MPI_Comm_create_group(MPI_COMM_SELF, group, i, &part);
	MPI_Cart_create(MPI_COMM_SELF, 1, dims, periods, 0, &cart);
	for (int i = 0; i < MANY; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[i]);
	for (int i = 0; i < MANY; i++)
		MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++)
		MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &requests[i]);
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 100; i++)
		MPI_Comm_free(&made[i]);
	return in[MANY - 1] != 1 || deep(3) != MPI_SUCCESS || ways(3) != MPI_SUCCESS;
}

static int
run(int argc, char **argv)
{
	const char *what = argv[1];
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (strcmp(what, "neighbours") == 0)
		return neighbours(n);
	if (strcmp(what, "deep") == 0)
		return deep(n);
	if (strcmp(what, "ways") == 0)
		return ways(n);
	if (strcmp(what, "serialized") == 0)
		return serialized();
	if (strcmp(what, "messages") == 0)
		return messages(n);
	if (strcmp(what, "polls") == 0)
		return polls();
	if (strcmp(what, "closes") == 0)
		return closes(argv[2], argv[3]);
	if (strcmp(what, "cut") == 0)
		return cut(argv[2], atol(argv[3]));
	if (strcmp(what, "tables") == 0)
		return tables();
	return 2;
}

int
main(int argc, char **argv)
{
	int provided, status;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	status = argc > 1 ? run(argc, argv) : 2;
	if (status == 0)
		printf("%s: fine\n", argv[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return status;
}
