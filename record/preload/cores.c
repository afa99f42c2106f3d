/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores this rank could use, and the time it got: lp-trace(5), cores. It reads some files of
 * /proc when recording begins and when it ends.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "recorder.h"
#include "small.h"

/* a thread counts if it ran for at least 1/BUSY_PART of the time */
enum { BUSY_PART = 10 };

int64_t
clock_of(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void
file_text(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd >= 0 ? read(fd, text, size - 1) : 0;

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
}

void
thread_file(pid_t tid, const char *name, char *text, size_t size)
{
	char path[60];

	snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, name);
	file_text(path, text, size);
}

bool
thread_scheduled(pid_t tid, uint64_t *ran_ns, uint64_t *waited_ns)
{
	char text[100];

	thread_file(tid, "schedstat", text, sizeof text);
	return sscanf(text, "%" SCNu64 " %" SCNu64, ran_ns, waited_ns) == 2;
}

enum { MOST_THREADS = 64 };

/* As of the first message: a program may bind its threads to cores later, and threads may end. */
static struct {
	int64_t at_ns;
	uint64_t ticks[CPU_SETSIZE];	/* by core: busy with any process, in units of 0.01 s */
	struct { int id; uint64_t waited_ns; } threads[MOST_THREADS];
	size_t thread_count;
	uint64_t switches, switch_ns;	/* so far; what one costs since they are recorded */
} begun;

static uint64_t
switches_so_far(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

void
cores_switch_costs(int64_t ns)
{
	begun.switches = switches_so_far();
	begun.switch_ns = (uint64_t)ns;
}

static void
read_ticks(uint64_t *ticks)
{
	unsigned long long user, nice, system, irq, soft_irq, stolen;
	FILE *file = fopen("/proc/stat", "re");
	char line[512];
	unsigned core;

	while (file != NULL && fgets(line, sizeof line, file) != NULL &&
	    strncmp(line, "cpu", 3) == 0)
		if (sscanf(line, "cpu%u %llu %llu %llu %*u %*u %llu %llu %llu", &core, &user,
		    &nice, &system, &irq, &soft_irq, &stolen) == 7 && core < CPU_SETSIZE)
			ticks[core] = user + nice + system + irq + soft_irq + stolen;
	if (file != NULL)
		fclose(file);
}

/* How long the cores of the mask were busy with any process since the first message. */
static uint64_t
busy_ns(const cpu_set_t *mask)
{
	static uint64_t now[CPU_SETSIZE];	/* large for a stack */
	uint64_t ticks = 0;

	read_ticks(now);
	for (unsigned core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, mask) && now[core] > begun.ticks[core])
			ticks += now[core] - begun.ticks[core];
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/*
 * How long the present threads have waited for a core since the first message, how many of them ran
 * for LEAST_NS, and the cores that these may use, or the calling one.
 */
static uint64_t
threads_waited_ns(uint64_t least_ns, uint64_t *busy, cpu_set_t *mask)
{
	DIR *folder = opendir("/proc/self/task");
	const struct dirent *entry;
	uint64_t ran, waited, sum = 0;
	cpu_set_t own;

	*busy = 0;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		const int id = atoi(entry->d_name);

		if (id == 0 || !thread_scheduled(id, &ran, &waited))
			continue;
		sum += waited;
		for (size_t i = 0; i < begun.thread_count; i++)
			if (begun.threads[i].id == id)
				sum -= begun.threads[i].waited_ns;
		*busy += ran >= least_ns;
		if (begun.at_ns == 0 && begun.thread_count < MOST_THREADS) {
			begun.threads[begun.thread_count].id = id;
			begun.threads[begun.thread_count++].waited_ns = waited;
		}
		if (ran >= least_ns && sched_getaffinity(id, sizeof own, &own) == 0)
			CPU_OR(mask, mask, &own);
	}
	if (folder != NULL)
		closedir(folder);
	return begun.at_ns == 0 ? 0 : sum;
}

void
cores_append(void)
{
	const int64_t at_ns = clock_of(CLOCK_MONOTONIC);
	uint64_t waited_ns, busy = 0, threads;
	cpu_set_t mask;

	if (sched_getaffinity(0, sizeof mask, &mask) != 0)
		return;		/* more cores than the set holds */
	waited_ns = threads_waited_ns(begun.at_ns == 0 ? 0 :
	    (uint64_t)(at_ns - begun.at_ns) / BUSY_PART, &threads, &mask);
	if (begun.at_ns == 0)
		read_ticks(begun.ticks);
	else
		busy = busy_ns(&mask);
	begun.at_ns = begun.at_ns == 0 ? at_ns : begun.at_ns;
	small_append("cores", PAIRS(
	    pair_int("at_ns", at_ns),
	    pair_bytes("mask", &mask, sizeof mask),
	    pair_int("cpu_ns", clock_of(CLOCK_PROCESS_CPUTIME_ID)),
	    pair_int("thread_cpu_ns", clock_of(CLOCK_THREAD_CPUTIME_ID)),
	    pair_uint("waited_ns", waited_ns),
	    pair_uint("busy_ns", busy),
	    pair_unless_0("switches_ns",
	        begun.switch_ns * (switches_so_far() - begun.switches)),
	    pair_uint("threads", threads)));
}
