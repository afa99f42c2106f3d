/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a run need not do themselves, done beside them by one process: room for the next blocks
 * of a raw trace that grows fast, which the disk has promised and whose pages are in memory, and hashes of
 * blocks that are full. It is told of changes by the system (inotify), and takes part in nothing else: a rank
 * that finds no room makes its own, and a block without its hash is valid (lp-trace(5), RAW TRACES).
 *
 * The hashes are all that it writes. Room is made by fallocate() and by touching the pages with
 * MADV_POPULATE_WRITE, which change no byte, so that it does not matter what the rank does meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/tool/tool.h"
#include "ahead.h"
#include "filled.h"
#include "folder.h"

#ifndef MADV_POPULATE_WRITE	/* glibc 2.36 has it */
#define MADV_POPULATE_WRITE 23
#endif

enum {
	LEAST_BLOCK = 1 << 17,		/* bytes: a trace with smaller ones does not grow fast */
	MOST_BLOCKS = 16,		/* of room */
	ROOM_NS = 20000000,		/* for which the room is to last */
	HASH_NS = 10000000,		/* between two blocks that are hashed where no core is idle */
	PAUSE_NS = 500000,		/* between two looks, so that many changes are one */
	BUSY_PAUSE_NS = 20000000,	/* the same where no core was idle */
	LOOK_MS = 1000,			/* at least so often, in case that nothing is told */
};

static struct filled *traces;
static size_t trace_count, trace_capacity;
static int changes = -1;		/* inotify's */
static long pause_ns = PAUSE_NS;

static int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The rank has taken blocks: the next ones, for as long as this may not look again at that rate. */
static void
make_room(struct filled *trace)
{
	const uint64_t block = trace->block_bytes;
	const int64_t at_ns = now_ns(), each_ns = (at_ns - trace->served_ns) / (int64_t)(trace->blocks - trace->served);
	const uint64_t blocks = each_ns <= ROOM_NS / MOST_BLOCKS ? MOST_BLOCKS : 2 + (uint64_t)(ROOM_NS / each_ns);
	uint64_t from;
	void *map;

	trace->served = trace->blocks;
	trace->served_ns = at_ns;
	if (trace->at + blocks / 2 * block < trace->size)
		return;
	from = trace->size & ~UINT64_C(4095);
	if (fallocate(trace->fd, 0, (off_t)trace->size, (off_t)(trace->at + blocks * block - trace->size)) != 0)
		return;
	trace->size = trace->at + blocks * block;
	map = mmap(NULL, trace->size - from, PROT_READ | PROT_WRITE, MAP_SHARED, trace->fd, (off_t)from);
	if (map == MAP_FAILED)
		return;
	madvise(map, trace->size - from, MADV_POPULATE_WRITE);
	munmap(map, trace->size - from);
}

/*
 * Where all cores are busy this would only take from the program, and could hold it up: a process that has to
 * wait for a core may have a lock of the file just then.
 */
static bool
core_is_idle(void)
{
	static long cores;
	FILE *load = fopen("/proc/loadavg", "re");
	long runnable = LONG_MAX;

	if (cores == 0)
		cores = sysconf(_SC_NPROCESSORS_ONLN);
	if (load != NULL) {
		if (fscanf(load, "%*s %*s %*s %ld", &runnable) != 1)
			runnable = LONG_MAX;
		fclose(load);
	}
	pause_ns = runnable <= cores ? PAUSE_NS : BUSY_PAUSE_NS;	/* this one is among them */
	return runnable <= cores;
}

/* Room first, as the rank may be in need of it; then hashes, where no core is idle few at a time. */
static void
look_at(struct filled *trace, bool run_ended)
{
	static int64_t hashed_ns;
	bool idle;

	if (trace->fd < 0)
		return;
	filled_look(trace);
	idle = run_ended || ((trace->full_count > 0 || trace->blocks > trace->served) && core_is_idle());
	if (idle && trace->fd >= 0 && !trace->ended && trace->blocks > trace->served && trace->block_bytes >= LEAST_BLOCK) {
		make_room(trace);
		filled_look(trace);	/* has it ended before it had this room? */
	}
	if (idle)
		filled_hash(trace, SIZE_MAX);
	else if (now_ns() - hashed_ns > HASH_NS && filled_hash(trace, 1) > 0)
		hashed_ns = now_ns();
	if (trace->ended && trace->full_count == 0)
		filled_close(trace);
}

static void
add_trace(const char *path)
{
	struct stat status;

	if (lstat(path, &status) != 0)
		return;
	for (size_t i = 0; i < trace_count; i++)
		if (traces[i].device == status.st_dev && traces[i].inode == status.st_ino)
			return;
	traces = grow(traces, &trace_capacity, trace_count + 1, sizeof *traces);
	if (filled_open(&traces[trace_count], path))
		trace_count++;
}

static void
add_world(const char *folder)
{
	inotify_add_watch(changes, folder, IN_MODIFY | IN_CREATE | IN_MOVED_TO);
	folder_for_each(folder, add_trace);
}

static void
add_all(const char *folder, const char *rank)
{
	char path[PATH_MAX];

	if (rank == NULL) {
		folder_for_each(folder, add_trace);
		folder_for_each_world(folder, add_world);
	} else if (snprintf(path, sizeof path, "%s/rank.%s", folder, rank) < (int)sizeof path && folder_is_trace(path))
		add_trace(path);
}

/* Until something has changed or the run has ended, which closes the pipe; whether it has, and what is new. */
static bool
wait_for_changes(int run, bool *made)
{
	static _Alignas(struct inotify_event) char events[1 << 14];
	struct pollfd fds[2] = { { .fd = changes, .events = POLLIN }, { .fd = run, .events = POLLIN } };
	ssize_t got;

	nanosleep(&(struct timespec){ .tv_nsec = pause_ns }, NULL);
	*made = poll(fds, 2, LOOK_MS) <= 0;
	while ((got = read(changes, events, sizeof events)) > 0)
		for (char *at = events; at < events + got; ) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			*made |= (event->mask & (IN_CREATE | IN_MOVED_TO | IN_Q_OVERFLOW)) != 0 || trace_count == 0;
			at += sizeof *event + event->len;
		}
	return fds[1].revents != 0;
}

static _Noreturn void
work(const char *folder, const char *rank, int run)
{
	bool ended = false, made = true;

	while (!ended) {
		ended = wait_for_changes(run, &made);
		if (made || ended)
			add_all(folder, rank);
		for (size_t i = 0; i < trace_count; i++)
			look_at(&traces[i], ended);
	}
	_exit(DONE);
}

static volatile pid_t worker;
static volatile sig_atomic_t waiting;
static int running = -1;	/* open as long as the program runs */

bool
ahead_start(const char *folder, const char *rank)
{
	const pid_t parent = getpid();
	int ends[2];

	changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (changes < 0 || pipe2(ends, O_CLOEXEC) != 0) {
		close(changes);
		return false;
	}
	if (inotify_add_watch(changes, folder, IN_MODIFY | IN_CREATE | IN_MOVED_TO) >= 0 && (worker = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 1; i < NSIG; i++)	/* the run's end is told by the pipe, also on a terminal's interrupt */
			signal(i, SIG_IGN);
		close(ends[1]);
		if (getppid() == parent)
			work(folder, rank, ends[0]);
		_exit(TROUBLE);
	}
	close(changes);
	close(ends[0]);
	running = ends[1];
	if (worker <= 0) {
		worker = 0;
		close(running);
	}
	return worker > 0;
}

void
ahead_stop(void)
{
	if (worker <= 0)
		return;
	waiting = 1;
	close(running);
	while (waitpid(worker, NULL, 0) < 0 && errno == EINTR)
		continue;
	worker = 0;
}

void
ahead_interrupt(void)
{
	if (waiting && worker > 0)
		kill(worker, SIGKILL);
}
