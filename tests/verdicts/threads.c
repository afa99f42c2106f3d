/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 takes longer in a worker of its pool, in one iteration of a loop, before another thread
 * makes its calls, or in fresh memory.
 */
#define THREADS MPI_THREAD_SERIALIZED
#include "planted.h"

enum { WORKERS = 3, ITERATIONS = 48, NUMBERS = 5 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static int taken, tasks, done;

static void *
worker(void *unused)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		int task;

		while (taken == tasks)
			pthread_cond_wait(&posted, &lock);
		task = taken++;
		pthread_mutex_unlock(&lock);
		part(task % WORKERS == 1 && rank == SLOW);
		pthread_mutex_lock(&lock);
		if (++done == tasks)
			pthread_cond_signal(&finished);
	}
	return unused;
}

/* Each rank gives its pool a task for each worker, and waits for all. */
static void
pool(void)
{
	pthread_t thread;

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&thread, NULL, worker, NULL);
	for (int step = 0; step < STEPS; step++) {
		pthread_mutex_lock(&lock);
		tasks += WORKERS;
		pthread_cond_broadcast(&posted);
		while (done < tasks)
			pthread_cond_wait(&finished, &lock);
		pthread_mutex_unlock(&lock);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* The last iteration is long, so one thread goes on when the other has no more to do. */
static void
dynamic_loop(void)
{
	for (int step = 0; step < STEPS; step++) {
		#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
		for (int i = 0; i < ITERATIONS; i++)
			if (i == ITERATIONS - 1 && rank == SLOW)
				slow_part();
			else
				compute(USUAL_S / 16);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Both threads of rank 1 have more to do in the same region. */
static void
omp_region(void)
{
	for (int step = 0; step < STEPS; step++) {
		usual_part();
		#pragma omp parallel num_threads(2)
		compute(rank == SLOW ? SLOW_S : USUAL_S);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Whichever thread comes first meets the other ranks, while the other one waits for it. */
static void
omp_single(void)
{
	#pragma omp parallel num_threads(2)
	for (int step = 0; step < STEPS; step++) {
		#pragma omp for schedule(static, 1)
		for (int i = 0; i < 2; i++)
			part(i == 1 && rank == SLOW);
		#pragma omp single
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static int asked, answered;

static void *
caller(void *unused)
{
	pthread_mutex_lock(&lock);
	while (answered < STEPS) {
		while (asked == answered)
			pthread_cond_wait(&posted, &lock);
		pthread_mutex_unlock(&lock);
		MPI_Barrier(MPI_COMM_WORLD);
		pthread_mutex_lock(&lock);
		answered++;
		pthread_cond_signal(&finished);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

/* Another thread makes the calls, while the first one waits for it. */
static void
other_calls(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, caller, NULL);
	for (int step = 0; step < STEPS; step++) {
		part(rank == SLOW);
		pthread_mutex_lock(&lock);
		asked++;
		pthread_cond_signal(&posted);
		while (answered < asked)
			pthread_cond_wait(&finished, &lock);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(thread, NULL);
}

static __attribute__((noinline)) void
fill_field(void)
{
	double *field = malloc(NUMBERS * sizeof *field);	/* so much is fresh each time */

	for (int i = 0; field != NULL && i < NUMBERS; i++)
		field[i] = i;
	sink = field != NULL ? field[NUMBERS / 2] : 0;
	free(field);
}

static void fresh_field(void) { late_steps(fill_field); }

int
main(int argc, char **argv)
{
	static const struct planted cases[] = { CASE(pool), CASE(dynamic_loop), CASE(omp_region),
	    CASE(other_calls), CASE(omp_single), CASE(fresh_field) };

	return RUN(cases, argc, argv);
}
