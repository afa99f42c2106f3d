/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads_busy: 10 times a short-lived thread computes until the main thread, after 10 ms of its
 * own CPU time, waits for its end, and then for 20 ms more; then the main thread computes 10 ms
 * alone. Prints of each time, by the threads' own clocks, the computation of the main thread, that
 * of the other, and that of the main thread before it created the other and after that ended.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sampled_work.h"

static atomic_bool main_joins;
static clockid_t main_clock;
static double worker_s, began_s;

static bool
main_waits(void)
{
	char path[64], text[400] = "", *end;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
	if ((fd = open(path, O_RDONLY)) < 0 || read(fd, text, sizeof text - 1) < 0)
		perror(path);
	close(fd);
	end = strrchr(text, ')');	/* behind the name */
	return main_joins && end != NULL && end[2] == 'S';
}

static void *
work(void *unused)
{
	const double from = own_time_s();
	struct timespec now;

	clock_gettime(main_clock, &now);
	began_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	while (!main_waits())
		long_work(0.001);
	long_work(0.02);
	worker_s = own_time_s() - from;
	return unused;
}

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	pthread_getcpuclockid(pthread_self(), &main_clock);
	for (int i = 0; i < 10; i++) {
		const double from = own_time_s();
		double created, joined;
		pthread_t thread;

		main_joins = false;
		pthread_create(&thread, NULL, work, NULL);
		created = own_time_s();
		short_work(0.01);
		main_joins = true;
		pthread_join(thread, NULL);
		joined = own_time_s();
		short_work(0.01);
		printf("%.9f %.9f %.9f\n", own_time_s() - from, worker_s,
		    (began_s < created ? began_s : created) - from + own_time_s() - joined);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
