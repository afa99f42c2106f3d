/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores this rank could use, and the time it got: lp-trace(5), cores. It reads some files of
 * /proc when recording begins and when it ends.
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"
#include "small.h"

/* a thread counts if it ran for at least 1/BUSY_PART of the time */
enum { BUSY_PART = 10 };

static int64_t
clock_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* How long the cores of the mask were busy with any process; the system counts in 0.01 s. */
static uint64_t
busy_ns(const cpu_set_t *mask)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long user, nice, system, irq, soft_irq, stolen, ticks = 0;
	FILE *file = fopen("/proc/stat", "re");
	char line[512];
	unsigned core;

	while (file != NULL && fgets(line, sizeof line, file) != NULL &&
	    strncmp(line, "cpu", 3) == 0)
		if (sscanf(line, "cpu%u %llu %llu %llu %*u %*u %llu %llu %llu", &core, &user,
		    &nice, &system, &irq, &soft_irq, &stolen) == 7 && core < CPU_SETSIZE &&
		    CPU_ISSET(core, mask))
			ticks += user + nice + system + irq + soft_irq + stolen;
	if (file != NULL)
		fclose(file);
	return ticks * tick_ns;
}

/* How long the present threads have waited for a core, and how many of them ran for LEAST_NS. */
static uint64_t
threads_waited_ns(uint64_t least_ns, uint64_t *busy)
{
	DIR *folder = opendir("/proc/self/task");
	unsigned long long ran, waited;
	const struct dirent *entry;
	uint64_t sum = 0;
	char path[300];

	*busy = 0;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		FILE *file;

		snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
		if (entry->d_name[0] == '.' || (file = fopen(path, "re")) == NULL)
			continue;
		if (fscanf(file, "%llu %llu", &ran, &waited) == 2) {
			sum += waited;
			*busy += ran >= least_ns;
		}
		fclose(file);
	}
	if (folder != NULL)
		closedir(folder);
	return sum;
}

void
cores_append(void)
{
	static int64_t begun_ns;
	const int64_t at_ns = clock_of(CLOCK_MONOTONIC);
	uint64_t waited_ns, threads;
	struct small small;
	cpu_set_t mask;

	if (sched_getaffinity(0, sizeof mask, &mask) != 0)
		return;		/* more cores than the set holds */
	if (begun_ns == 0)
		begun_ns = at_ns;
	waited_ns = threads_waited_ns((uint64_t)(at_ns - begun_ns) / BUSY_PART, &threads);
	small_begin(&small, "cores", 7);
	small_int(&small, "at_ns", at_ns);
	small_bytes(&small, "mask", &mask, sizeof mask);
	small_int(&small, "cpu_ns", clock_of(CLOCK_PROCESS_CPUTIME_ID));
	small_int(&small, "thread_cpu_ns", clock_of(CLOCK_THREAD_CPUTIME_ID));
	small_uint(&small, "waited_ns", waited_ns);
	small_uint(&small, "busy_ns", busy_ns(&mask));
	small_uint(&small, "threads", threads);
	small_append(&small);
}
