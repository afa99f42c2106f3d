/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of what the program's threads do between their calls. The kernel takes them, by a timer
 * that runs while a thread is on a core, and writes them into a ring for each thread; no signal is
 * sent. A wrapper at times reads the rings and appends what they hold to the trace.
 *
 * Each thread of the process has a ring: they are found in /proc/self/task when rings are read, so
 * one that lives shorter than that is not seen. A thread is told by its location where it makes MPI
 * calls, and by a number as a worker where it does not.
 *
 * Callers are found by the kernel, along frame pointers. Where that is asked for, registers and the top
 * of the stack go into the trace, too, for lp-merge to unwind.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "recorder.h"
#include "sample.h"
#include "sites.h"

enum {
	RING_BYTES = 1 << 19,		/* of a thread that makes MPI calls, halved until there is room */
	WORKER_BYTES = 1 << 17,
	DUE_NS = 100000000,		/* rings are read that often, at least where calls are made */
};

uint64_t sample_due_ticks = UINT64_MAX;
static struct ring *rings;
static pthread_mutex_t sampling = PTHREAD_MUTEX_INITIALIZER;

/* ---- rings ---- */

static int
open_event(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000000u / (unsigned)options.sample_hz,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1, .exclude_hv = 1, .exclude_callchain_kernel = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC, .sample_max_stack = FRAMES,
	};

	if (options.sample_stack > 0) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = SAMPLE_REGISTER_MASK;
		attr.sample_stack_user = (uint32_t)options.sample_stack;
	}
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* 0, or why there is none. */
static int
add_ring(pid_t tid, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ring *ring = calloc(1, sizeof *ring);
	int error;

	if (ring == NULL)
		return ENOMEM;
	ring->tid = tid;
	ring->there = true;
	if ((ring->fd = open_event(tid)) < 0) {
		error = errno;
		free(ring);
		return error;
	}
	do	/* of an ordinary user's locked memory there is little */
		ring->page = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	while (ring->page == MAP_FAILED && (bytes /= 2) >= page);
	if (ring->page == MAP_FAILED) {
		error = errno;
		close(ring->fd);
		free(ring);
		return error;
	}
	ring->bytes = bytes;
	ring->next = rings;
	rings = ring;
	return 0;
}

static void
close_ring(struct ring *ring)
{
	munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->bytes);
	close(ring->fd);
	free(ring);
}

static struct ring *
ring_of(pid_t tid)
{
	for (struct ring *ring = rings; ring != NULL; ring = ring->next)
		if (ring->tid == tid)
			return ring;
	return NULL;
}

/* A ring for each thread that has none; 0, or why the first of them could not be made. */
static int
find_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int error = 0;

	if (tasks == NULL)
		return add_ring(0, RING_BYTES);
	for (struct ring *ring = rings; ring != NULL; ring = ring->next)
		ring->there = false;
	while ((entry = readdir(tasks)) != NULL) {
		pid_t tid = (pid_t)atoi(entry->d_name);
		struct ring *ring = tid > 0 ? ring_of(tid) : NULL;
		uint32_t location;

		if (ring != NULL)
			ring->there = true;
		else if (tid > 0 && error == 0)
			error = add_ring(tid, thread_location(tid, &location) ? RING_BYTES : WORKER_BYTES);
	}
	closedir(tasks);
	return error;
}

/* ---- at times ---- */

/* From the kernel's clock to the one of the trace: they run at one rate for the time between two. */
static int64_t
offset_ns(void)
{
	struct instant now = clock_instant();

	return ticks_ns(clock_ticks_at(&now)) - now.monotonic_ns + clock_namespace_ns();
}

static void
set_due(void)
{
	__int128 ticks = ((__int128)DUE_NS << 32) / (__int128)clock_map.rate;

	__atomic_store_n(&sample_due_ticks, clock_ticks() + (uint64_t)ticks, __ATOMIC_RELEASE);
}

void
sample_drain(void)
{
	int64_t offset, until_ns;

	if (pthread_mutex_trylock(&sampling) != 0)
		return;			/* another thread is at it */
	if (__atomic_load_n(&sample_due_ticks, __ATOMIC_ACQUIRE) != UINT64_MAX && recording && !lost) {
		offset = offset_ns();
		until_ns = clock_ns();
		modules_append();
		find_threads();
		for (struct ring **at = &rings, *ring; (ring = *at) != NULL; ) {
			sample_read(ring, offset, until_ns);
			if (!ring->there) {
				*at = ring->next;
				close_ring(ring);
			} else
				at = &ring->next;
		}
		set_due();
	}
	pthread_mutex_unlock(&sampling);
}

/* ---- beginning and end ---- */

void
sample_start(int rank)
{
	int error;

	if (options.sample_hz == 0 || !recording || lost)
		return;
	pthread_mutex_lock(&sampling);
	if (options.sample_stack > 0 && !sample_room())
		options.sample_stack = 0;
	if ((error = find_threads()) == 0 || rings != NULL)
		set_due();
	else if (rank == 0) {
		char line[400];

		snprintf(line, sizeof line, "--sample: the kernel refuses it: %s; it is allowed by "
		    "kernel.perf_event_paranoid of 2 or less (sysctl), and in a container by a seccomp profile "
		    "with perf_event_open; no samples are taken", strerror(error));
		say(line);
	}
	pthread_mutex_unlock(&sampling);
}

void
sample_end(void)
{
	sample_drain();
	pthread_mutex_lock(&sampling);
	__atomic_store_n(&sample_due_ticks, UINT64_MAX, __ATOMIC_RELEASE);
	for (struct ring *ring; (ring = rings) != NULL; ) {
		rings = ring->next;
		close_ring(ring);
	}
	pthread_mutex_unlock(&sampling);
}

/* The rings are not mapped in a forked child. */
void
sample_forget(void)
{
	sample_due_ticks = UINT64_MAX;
	rings = NULL;
	pthread_mutex_init(&sampling, NULL);
}

/* A program may end without MPI_Finalize. */
static __attribute__((destructor)) void
at_exit(void)
{
	if (in_recorded_process())
		sample_end();
}
