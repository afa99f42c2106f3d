/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many calls in bursts, whose arguments give their place in the order. After each burst the program
 * waits until its trace takes little of the disk, at most a minute, and prints the most that it
 * took.
 *
 *  bursts COUNT [threads | kill]   threads: three make them, and a fourth calls only once;
 *                                  kill: dies at the end
 *  BOUND_KIB=N                     limit for the trace; 0 [0]: do not wait
 */
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALLS = 100000 };	/* per burst */

static char trace[4096];
static _Atomic long most_kib;
static long bound_kib;
static int count;

/* Size of all files in the folder. */
static long
kib_now(void)
{
	DIR *folder = opendir(trace);
	struct dirent *entry;
	struct stat status;
	long kib = 0;

	while (folder != NULL && (entry = readdir(folder)) != NULL)
		if (fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 &&
		    S_ISREG(status.st_mode))
			kib += (long)(status.st_blocks / 2);
	if (folder != NULL)
		closedir(folder);
	if (kib > most_kib)
		most_kib = kib;
	return kib;
}

static void *
burst(void *argument)
{
	const int thread = *(int *)argument;

	for (int b = 0; b < count; b++) {
		for (int i = 0; i < CALLS; i += 4) {
			int out = i, in;
			MPI_Request request;

			MPI_Irecv(&in, 1, MPI_INT, 0, 1000 * thread + i % 7,
			    MPI_COMM_SELF, &request);
			MPI_Send(&out, 1, MPI_INT, 0, 1000 * thread + i % 7, MPI_COMM_SELF);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			MPI_Probe(MPI_PROC_NULL, 4 * b + i % 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		}
		for (int wait = 0; bound_kib > 0 && kib_now() > bound_kib; wait++) {
			if (wait == 6000) {
				fprintf(stderr, "bursts: %ld KiB for a minute\n", kib_now());
				MPI_Abort(MPI_COMM_WORLD, 1);
			}
			usleep(10000);
		}
	}
	return NULL;
}

static void *
once(void *argument)
{
	MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	return argument;
}

int
main(int argc, char **argv)
{
	const int threads = argc > 2 && strcmp(argv[2], "threads") == 0 ? 3 : 1;
	static int numbers[3] = { 0, 1, 2 };
	pthread_t thread[3];
	int provided;

	count = atoi(argv[1]);
	bound_kib = getenv("BOUND_KIB") != NULL ? atol(getenv("BOUND_KIB")) : 0;
	MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE :
	    MPI_THREAD_SINGLE, &provided);
	snprintf(trace, sizeof trace, "%s",
	    getenv("LONGPOLE_DIR") != NULL ? getenv("LONGPOLE_DIR") : ".");
	if (threads > 1) {
		pthread_create(&thread[0], NULL, once, NULL);
		pthread_join(thread[0], NULL);
	}
	for (int i = 1; i < threads; i++)
		pthread_create(&thread[i], NULL, burst, &numbers[i]);
	burst(&numbers[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	if (argc > 2 && strcmp(argv[2], "kill") == 0)
		raise(SIGKILL);
	MPI_Finalize();
	kib_now();
	printf("%ld\n", most_kib);
	return 0;
}
