/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of what the program's threads do between their calls, and when they leave their cores.
 * The kernel samples by a timer that runs while a thread is on a core, and writes all into one ring
 * per thread; it sends no signals. At times a wrapper reads the rings and appends their content to
 * the trace.
 *
 * Each thread of the process has a ring from its beginning. Threads that began earlier, or without
 * pthread_create(), are found in /proc/self/task when rings are read. The trace names a thread by
 * its location if it makes MPI calls, otherwise by a number as a worker.
 *
 * Callers are found in the registers and the top of the stack, and by frame pointers from there on.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../base/tool/order.h"
#include "../front/front.h"
#include "clock.h"
#include "sample.h"
#include "sites.h"

enum {
	/* of a thread that makes MPI calls; halved until there is room */
	RING_BYTES = 1 << 19,
	WORKER_BYTES = 1 << 17,
	/* how often rings are read, if calls are made */
	DUE_NS = 100000000,
	COST_TRIES = 5,
	/* also look when this many threads have begun, as others may have ended */
	NEW_RINGS = 64,
};

const char sample_mark[1];
uint64_t sample_due_ticks = UINT64_MAX;
/* when to read the rings; sample_call() hears of calls even earlier */
static uint64_t due_ticks;
/* main_ring: of the thread that called MPI_Init, for switches */
static struct ring *rings, *main_ring;
static int new_rings;
static bool clocked;			/* without rings, threads read their own CPU clocks */
pthread_mutex_t sampling = PTHREAD_MUTEX_INITIALIZER;

/* ---- rings ---- */

struct perf_event_attr
event_of(uint64_t config, uint64_t period, int stack_bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME |
		    PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1, .exclude_hv = 1, .exclude_callchain_kernel = 1,
		.sample_id_all = 1, .use_clockid = 1, .clockid = CLOCK_MONOTONIC,
		.sample_max_stack = FRAMES,
	};

	if (stack_bytes > 0) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = SAMPLE_REGISTER_MASK;
		attr.sample_stack_user = (uint32_t)stack_bytes;
	}
	return attr;
}

int
buffer_open(struct buffer *buffer, struct perf_event_attr *attr, pid_t tid, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int error;

	buffer->fd = (int)syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (buffer->fd < 0)
		return errno;
	do	/* an ordinary user may lock little memory */
		buffer->page = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED, buffer->fd, 0);
	while (buffer->page == MAP_FAILED && (bytes /= 2) >= page);
	buffer->bytes = bytes;
	if (buffer->page != MAP_FAILED)
		return 0;
	error = errno;
	close(buffer->fd);
	return error;
}

void
buffer_close(struct buffer *buffer)
{
	munmap(buffer->page, (size_t)sysconf(_SC_PAGESIZE) + buffer->bytes);
	close(buffer->fd);
}

int64_t
buffer_cost_ns(const struct buffer *buffer)
{
	int64_t least_ns = INT64_MAX;

	for (int i = 0; i < COST_TRIES; i++) {
		const int64_t begin_ns = clock_ns();

		ioctl(buffer->fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(buffer->fd, PERF_EVENT_IOC_ENABLE, 0);
		least_ns = smaller(least_ns, clock_ns() - begin_ns);
	}
	return least_ns;
}

/* Returns 0, or the error number. */
static int
add_ring(pid_t tid)
{
	const bool sampled = options.sample_hz > 0;
	struct perf_event_attr attr = sampled ? event_of(PERF_COUNT_SW_TASK_CLOCK,
	    1000000000u / (unsigned)options.sample_hz,
	    options.sample_stack > 0 ? options.sample_stack : SAMPLED_BYTES) :
	    event_of(PERF_COUNT_SW_DUMMY, 0, 0);
	const size_t bytes = thread_of(tid) != NULL ? RING_BYTES : WORKER_BYTES;
	struct ring *ring = calloc(1, sizeof *ring);
	int error;

	if (ring == NULL)
		return ENOMEM;
	ring->tid = tid;
	ring->there = true;
	counters_prepare(&attr);
	attr.context_switch = attr.task = options.switches;	/* task: reports the thread's end */
	attr.exclude_kernel = !sampled;		/* not everybody may see system calls */
	error = buffer_open(&ring->buffer, &attr, tid, bytes);
	if (error != 0 && sampled) {
		attr.exclude_kernel = 1;
		error = buffer_open(&ring->buffer, &attr, tid, bytes);
	}
	if (error != 0) {
		free(ring);
		return error;
	}
	if ((error = counters_add(ring)) != 0) {
		counters_close(ring);
		buffer_close(&ring->buffer);
		free(ring);
		return error;
	}
	collect_from(&ring->buffer);
	if (options.switches)
		places_begin(ring);
	switch_found(ring);
	ring->next = rings;
	rings = ring;
	new_rings++;
	return 0;
}

static void
close_ring(struct ring *ring)
{
	counters_close(ring);
	buffer_close(&ring->buffer);
	places_end(ring);
	if (ring == main_ring)
		main_ring = NULL;
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

uint32_t
thread_number(pid_t tid)
{
	const struct ring *ring;
	uint32_t number = 0;

	if (pthread_mutex_trylock(&sampling) == 0) {	/* else it gets another one */
		if ((ring = ring_of(tid)) != NULL)
			number = ring->worker;
		pthread_mutex_unlock(&sampling);
	}
	return number > 0 ? number : next_number();
}

/*
 * Makes a ring for each thread without one, unless one of them is about to begin: it knows better
 * since when it is there. Returns 0, or the error number of the first failure.
 */
static int
find_threads(void)
{
	const bool beginning = longpole_threads_to_begin > 0;
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int error = 0;

	if (tasks == NULL)
		return ring_of(gettid()) != NULL ? 0 : add_ring(gettid());
	for (struct ring *ring = rings; ring != NULL; ring = ring->next)
		ring->there = false;
	while ((entry = readdir(tasks)) != NULL) {
		pid_t tid = (pid_t)atoi(entry->d_name);
		struct ring *ring = tid > 0 ? ring_of(tid) : NULL;

		if (ring != NULL)
			ring->there = true;
		else if (tid > 0 && error == 0 && !beginning && !is_collector(tid))
			error = add_ring(tid);
	}
	closedir(tasks);
	return error;
}

/* ---- periodic reading ---- */

/* Offset of the trace's clock from the kernel's; both run at one rate between two readings. */
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

	due_ticks = clock_ticks() + (uint64_t)ticks;
	__atomic_store_n(&sample_due_ticks, options.switches ? 0 : due_ticks, __ATOMIC_RELEASE);
}

static bool
is_on(void)
{
	return __atomic_load_n(&sample_due_ticks, __ATOMIC_ACQUIRE) != UINT64_MAX;
}

/* Reads all rings. */
static void
look(void)
{
	const int64_t offset = offset_ns(), until_ns = clock_ns();

	modules_append();
	if (!clocked)
		find_threads();
	for (struct ring **at = &rings, *ring; (ring = *at) != NULL; ) {
		sample_read(ring, offset, until_ns);
		if (!ring->there) {
			*at = ring->next;
			close_ring(ring);
		} else
			at = &ring->next;
	}
	pthread_mutex_lock(&table_lock);
	for (struct thread *thread = all_threads; clocked && thread != NULL; thread = thread->next)
		stretch_write(thread, until_ns);
	pthread_mutex_unlock(&table_lock);
	new_rings = 0;
	set_due();
}

static void
look_locked(void)
{
	if (is_on() && recording && !lost)
		look();
	pthread_mutex_unlock(&sampling);
}

void
sample_collect(void)
{
	pthread_mutex_lock(&sampling);
	look_locked();
}

/* NULL: of another thread than that which called MPI_Init. */
static struct ring *
main_ring_of(const struct thread *thread)
{
	return main_ring != NULL && main_ring->tid == thread->tid ? main_ring : NULL;
}

/*
 * A rank that yields in a call may fill half of its ring there, and then everything later is lost.
 */
static bool
fills_up(const struct thread *thread)
{
	const struct ring *ring = main_ring_of(thread);

	return ring != NULL && ring->buffer.page->data_head - ring->buffer.page->data_tail >
	    ring->buffer.bytes / 2;
}

void
sample_enter(struct thread *thread)
{
	struct ring *ring = main_ring_of(thread);

	thread->within = NULL;
	if (clocked)
		stretch_end(thread);
	else if (ring != NULL && ring->places != NULL)
		places_enter(ring);
}

void
sample_call(struct thread *thread, int64_t enter_ns, uint64_t leave_ticks)
{
	struct ring *ring;

	if (clocked && thread->switching == NULL)
		stretch_start(thread);
	else if (!clocked && thread->switching != NULL)
		switch_call(thread, enter_ns, ticks_ns(leave_ticks));
	if ((leave_ticks >= due_ticks || fills_up(thread)) &&
	    pthread_mutex_trylock(&sampling) == 0)	/* else another thread is reading */
		look_locked();
	if (clocked && thread->switching != NULL)
		stretch_begin(thread, leave_ticks);
	if ((ring = main_ring_of(thread)) != NULL && ring->places != NULL) {
		places_leave(ring);
		thread->within = sample_mark;
	}
}

/* Runs before each new thread, and in it. */
static int64_t
thread_begins(int64_t created_ns)
{
	int64_t begun_ns;

	if (created_ns == 0)
		return clock_ns();
	if (!in_recorded_process())
		return 0;
	begun_ns = clock_ns() - clock_of(CLOCK_THREAD_CPUTIME_ID);
	pthread_mutex_lock(&sampling);
	if (is_on() && recording && !lost && !clocked && ring_of(gettid()) == NULL) {
		if (add_ring(gettid()) == 0)
			switch_created(rings, created_ns, begun_ns);
		if (new_rings >= NEW_RINGS)
			look();
	}
	pthread_mutex_unlock(&sampling);
	return 0;
}

/* ---- beginning and end ---- */


static void
say_refused(int error)
{
	char line[400];

	snprintf(line, sizeof line, "--%s: the kernel refuses it: %s; it is allowed by "
	    "kernel.perf_event_paranoid of 2 or less (sysctl), and in a container by a seccomp profile "
	    "with perf_event_open; the threads' clocks tell how long they are off their cores, not when and "
	    "why; no samples are taken", options.sample_hz > 0 ? "sample" : "switches",
	    strerror(error));
	say(line);
}

void
sample_start(int rank)
{
	const struct ring *ring;
	int error;

	if ((options.sample_hz == 0 && !options.switches) || !recording || lost)
		return;
	pthread_mutex_lock(&sampling);
	collect_begin();
	error = find_threads();
	clocked = rings == NULL;
	if (clocked) {
		collect_end();
		stretch_start(self);
		stretch_begin(self, clock_ticks());
		if (rank == 0)
			say_refused(error);
	} else {
		collect_start();
		if (rank == 0)
			counters_say();
		if ((ring = ring_of(self->tid)) != NULL)
			cores_switch_costs(buffer_cost_ns(&ring->buffer) + places_cost_ns(ring));
		if (options.switches && !many_threads) {
			main_ring = ring_of(self->tid);
			switch_begin(self);
			if (main_ring != NULL && main_ring->places != NULL)
				self->within = sample_mark;
		}
		longpole_thread_begins = thread_begins;
	}
	set_due();
	pthread_mutex_unlock(&sampling);
}

void
sample_end(void)
{
	sample_collect();
	pthread_mutex_lock(&sampling);
	longpole_thread_begins = NULL;
	__atomic_store_n(&sample_due_ticks, UINT64_MAX, __ATOMIC_RELEASE);
	for (struct ring *ring; (ring = rings) != NULL; ) {
		rings = ring->next;
		close_ring(ring);
	}
	pthread_mutex_unlock(&sampling);
	collect_end();
}

/* A forked child does not have the rings mapped. */
void
sample_forget(void)
{
	sample_due_ticks = UINT64_MAX;
	longpole_thread_begins = NULL;
	rings = main_ring = NULL;
	collect_forget();
	pthread_mutex_init(&sampling, NULL);
}

/* A program may end without MPI_Finalize. */
static __attribute__((destructor)) void
at_exit(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;		/* a signal's handler may end a program in the middle of a look */
	if (in_recorded_process() && pthread_mutex_timedlock(&sampling, &until) == 0)
		look_locked();
}
