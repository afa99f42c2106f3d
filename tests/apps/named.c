/* SPDX-License-Identifier: BSD-3-Clause */
/* Names its parts, by the arguments: see tests/regions.bats. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../record/longpole.h"

static int rank;

static void
spin(double seconds)
{
	const double until = MPI_Wtime() + seconds;

	while (MPI_Wtime() < until)
		;
}

/* Two steps with two parts each. */
static void
steps(int count)
{
	for (int i = 0; i < count; i++) {
		longpole_begin("step");
		longpole_begin("compute");
		spin(rank == 0 ? 0.02 : 0.01);
		longpole_end("compute");
		longpole_begin("exchange");
		MPI_Barrier(MPI_COMM_WORLD);
		longpole_end("exchange");
		longpole_end("step");
	}
}

static jmp_buf back;

static void
deep(void)
{
	longpole_begin("inner");
	longpole_begin("innermost");
	longjmp(back, 1);
}

static void
leave(void)
{
	longpole_begin("outer");
	if (setjmp(back) == 0)
		deep();
	longpole_end("outer");
	longpole_end("never begun");
}

static void
many(long count)
{
	char name[40];

	for (long i = 0; i < count; i++) {
		snprintf(name, sizeof name, "name %ld", i);
		longpole_begin(name);
		longpole_end(name);
	}
}

/* What every recorder does: two readings of a clock and a record of 32 bytes. */
static void
bare(void)
{
	static volatile struct { struct timespec from, to; } records[4096];
	static unsigned next;
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	clock_gettime(CLOCK_MONOTONIC, &to);
	records[next].from.tv_sec = from.tv_sec;
	records[next].from.tv_nsec = from.tv_nsec;
	records[next].to.tv_sec = to.tv_sec;
	records[next].to.tv_nsec = to.tv_nsec;
	next = (next + 1) % 4096;
}

/* In ns, the fastest hundred of many, and the mean. */
static void
fast(long count)
{
	enum { BATCH = 100 };
	double least = 1, least_bare = 1, sum = 0;

	for (long i = 0; i < count; i += BATCH) {
		const double from = MPI_Wtime();
		double to, bare_to;

		for (int j = 0; j < BATCH; j++) {
			longpole_begin("fast");
			longpole_end("fast");
		}
		to = MPI_Wtime();
		for (int j = 0; j < BATCH; j++)
			bare();
		bare_to = MPI_Wtime();
		sum += to - from;
		least = to - from < least ? to - from : least;
		least_bare = bare_to - to < least_bare ? bare_to - to : least_bare;
	}
	if (rank == 0)
		printf("a region: at least %.1f ns, %.1f on average; "
		    "a bare wrapper: at least %.1f ns\n", 1e9 * least / BATCH,
		    1e9 * sum / (double)count, 1e9 * least_bare / BATCH);
}

/* What a call leaves in the registers must not be taken for a name. */
static __attribute__((noipa)) int
leftover(int level, const char *text)
{
	__asm__ volatile("" : : "r"(text));
	return level;
}

static void
like_ipm(void)
{
	MPI_Pcontrol(1, "assembly");
	MPI_Pcontrol(1, "assembly, part 2");
	MPI_Pcontrol(-1, "assembly, part 2");
	MPI_Pcontrol(-1, "assembly");
	MPI_Pcontrol(0);
	MPI_Pcontrol(leftover(1, "no region"));
	MPI_Pcontrol(-1, "no region either");
}

static void *
work(void *name)
{
	for (int i = 0; i < 1000; i++) {
		longpole_begin("task");
		longpole_begin(name);
		longpole_end(name);
		longpole_end("task");
	}
	return NULL;
}

static void
threads(void)
{
	pthread_t others[2];

	pthread_create(&others[0], NULL, work, "red");
	pthread_create(&others[1], NULL, work, "blue");
	work("own");
	for (int i = 0; i < 2; i++)
		pthread_join(others[i], NULL);
}

/* A thread that goes on while the program ends. */
static void *
go_on(void *unused)
{
	(void)unused;
	for (;;) {
		longpole_begin("on and on");
		longpole_end("on and on");
	}
	return NULL;
}

static void *
idle(void *unused)
{
	(void)unused;
	longpole_begin("idle");
	pause();
	return NULL;
}

/* The first thread waits for one in a region of its own. */
static void *
be_late(void *unused)
{
	(void)unused;
	longpole_begin("late");
	spin(0.05);
	longpole_end("late");
	return NULL;
}

static void
wait_for_late(int count)
{
	pthread_t other;

	for (int i = 0; i < count; i++) {
		longpole_begin("join");
		pthread_create(&other, NULL, be_late, NULL);
		pthread_join(other, NULL);
		longpole_end("join");
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "steps";
	const long count = argc > 2 ? atol(argv[2]) : 2;
	pthread_t other;

	longpole_begin("main");
	longpole_begin("before");
	longpole_end("before");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(what, "steps") == 0)
		steps((int)count);
	else if (strcmp(what, "leave") == 0)
		leave();
	else if (strcmp(what, "many") == 0)
		many(count);
	else if (strcmp(what, "fast") == 0)
		fast(count);
	else if (strcmp(what, "threads") == 0)
		threads();
	else if (strcmp(what, "late") == 0)
		wait_for_late((int)count);
	else if (strcmp(what, "hang") == 0) {
		pthread_create(&other, NULL, idle, NULL);
		MPI_Recv(NULL, 0, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (strcmp(what, "ipm") == 0)
		like_ipm();
	else if (strcmp(what, "levels") == 0) {
		MPI_Pcontrol(5);
		MPI_Pcontrol(0);
		MPI_Pcontrol(12);
		MPI_Pcontrol(1);
		MPI_Pcontrol(-12);
		MPI_Pcontrol(2);
		MPI_Pcontrol(-5);
	} else if (strcmp(what, "on") == 0)
		pthread_create(&other, NULL, go_on, NULL);
	else if (strcmp(what, "exit") == 0 || strcmp(what, "kill") == 0) {
		longpole_begin("last");
		if (what[0] == 'k')
			kill(getpid(), SIGKILL);
		exit(3);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	longpole_end("main");
	return 0;
}
