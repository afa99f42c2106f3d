/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 comes late to a barrier, for various reasons. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "planted.h"

static void more_work(void) { late_steps(slow_part); }

static __attribute__((noinline)) void nap(void) { sleep_s(SLOW_S); }
static void asleep(void) { late_steps(nap); }

static __attribute__((noinline)) void
write_out(void)
{
	static char page[1 << 20];
	int fd = open("slow.out", O_CREAT | O_WRONLY | O_TRUNC, 0644);

	for (int i = 0; i < 8; i++)
		if (write(fd, page, sizeof page) != (ssize_t)sizeof page)
			abort();
	fsync(fd);
	close(fd);
}
static void into_file(void) { late_steps(write_out); }

static __attribute__((noinline)) void
fresh_memory(void)
{
	const size_t size = 16 << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	munmap(memory, size);
}
static void page_faults(void) { late_steps(fresh_memory); }

/* The core of rank 1 also runs three processes that compute. */
static void
preempted(void)
{
	cpu_set_t one;
	pid_t busy[3] = { 0 };

	CPU_ZERO(&one);
	CPU_SET(rank == SLOW, &one);
	sched_setaffinity(0, sizeof one, &one);
	for (int i = 0; rank == SLOW && i < 3; i++) {
		busy[i] = fork();
		if (busy[i] == 0) {
			alarm(20);
			for (;;)
				sink++;
		}
	}
	for (int step = 0; step < 2 * STEPS; step++) {
		slow_part();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int i = 0; rank == SLOW && i < 3; i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *
holds_lock(void *none)
{
	for (int step = 0; step < STEPS; step++) {
		pthread_mutex_lock(&mutex);
		pthread_barrier_wait(&both);
		slow_part();
		pthread_mutex_unlock(&mutex);
		/* otherwise it may take the lock again before the other gets it, for ever */
		pthread_barrier_wait(&both);
	}
	return none;
}

static __attribute__((noinline)) void
wants_lock(void)
{
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_barrier_wait(&both);
}

static void
thread_lock(void)
{
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	if (rank == SLOW)
		pthread_create(&thread, NULL, holds_lock, NULL);
	late_steps(wants_lock);
	if (rank == SLOW)
		pthread_join(thread, NULL);
}

static pthread_barrier_t fork_barrier, join_barrier;

static void *
thread_part(void *none)
{
	for (int step = 0; step < STEPS; step++) {
		pthread_barrier_wait(&fork_barrier);
		part(rank == SLOW);
		pthread_barrier_wait(&join_barrier);
	}
	return none;
}

/* Two threads per rank; on rank 1 the second thread is slow, and the main thread waits for it. */
static void
slow_thread(void)
{
	pthread_t thread;

	pthread_barrier_init(&fork_barrier, NULL, 2);
	pthread_barrier_init(&join_barrier, NULL, 2);
	pthread_create(&thread, NULL, thread_part, NULL);
	for (int step = 0; step < STEPS; step++) {
		pthread_barrier_wait(&fork_barrier);
		usual_part();
		pthread_barrier_wait(&join_barrier);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	pthread_join(thread, NULL);
}

/* Rank 1 sorts in a system library. */
static int
ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static __attribute__((noinline)) void
sort_numbers(void)
{
	static double numbers[100000];

	for (int i = 0; i < 100000; i++)
		numbers[i] = i * 7919L % 100003;
	qsort(numbers, 100000, sizeof numbers[0], ascending);
}
static void in_library(void) { late_steps(sort_numbers); }

static __attribute__((noinline)) void
waves(void)
{
	double sum = 0;

	for (int i = 0; i < 400000; i++)
		sum += sin(i * 1e-3);
	sink = sum;
}
static void in_libm(void) { late_steps(waves); }

/* Its time is in a helper that compilers inline. */
static inline __attribute__((always_inline)) double
norm2(const double *x)
{
	double sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += x[i] * x[i];
	return sum;
}

static __attribute__((noinline)) void
assemble(void)
{
	static double x[1000];

	for (int i = 0; i < 10000; i++) {
		x[i % 1000] += 1;
		sink = norm2(x);
	}
}
static void inlined(void) { late_steps(assemble); }

/* Each step goes down some hundred calls. */
static __attribute__((noinline)) void
descend(int depth)
{
	compute(SLOW_S / 200);
	if (depth > 0)
		descend(depth - 1);
	sink = depth;	/* so it is no loop */
}
static __attribute__((noinline)) void descent(void) { descend(199); }
static void recursion(void) { late_steps(descent); }

static __attribute__((noinline)) void
read_in(void)
{
	static char page[1 << 12];
	int fd = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 60000; i++)
		if (read(fd, page, sizeof page) != (ssize_t)sizeof page)
			abort();
	close(fd);
}
static void reads(void) { late_steps(read_in); }

/* Jumps through more memory than caches hold, in which each element is the place of the next. */
static __attribute__((noinline)) void
gather(void)
{
	enum { PLACES = 1 << 22 };
	static uint32_t next[PLACES];
	uint32_t at = 0;

	for (uint32_t i = PLACES; next[0] == 0 && i-- > 0;)
		next[i] = (i * 1664525u + 1013904223u) % PLACES;
	for (int i = 0; i < 200000; i++)
		at = next[at];
	sink = at;
}
static void slow_memory(void) { late_steps(gather); }

/* Only in the last tenth of the run. */
static void
last_tenth(void)
{
	for (int step = 0; step < 100; step++) {
		usual_part();
		if (rank == SLOW && step >= 90)
			for (int i = 0; i < 4 && !without; i++)
				slow_part();
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

int
main(int argc, char **argv)
{
	static const struct planted cases[] = { CASE(more_work), CASE(asleep), CASE(into_file),
	    CASE(page_faults), CASE(preempted), CASE(thread_lock), CASE(slow_thread),
	    CASE(in_library), CASE(in_libm), CASE(inlined), CASE(recursion), CASE(reads),
	    CASE(slow_memory), CASE(last_tenth) };

	return RUN(cases, argc, argv);
}
