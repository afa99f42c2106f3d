/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process beside the run compresses segments that are full, the oldest first, each in a process
 * of its own that runs only on idle cores. When compression falls behind the ranks, these processes
 * take their share of the cores. When that is not enough, segments wait on the disk. The user gets
 * a note of each. After the run, all segments that are left are compressed, one on each core.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/tool/hash_table.h"
#include "../base/tool/process.h"
#include "../base/tool/tool.h"
#include "record.h"

enum {
	LOOK_MS = 50,		/* between two looks */
	/* waiting segments per core; above, cores are shared with the program */
	MOST_BEHIND = 4,
	MANY_BEHIND = 16,	/* the same; above, the user gets a note */
	MOST_WORKERS = 256,
	SEGMENT_END_BYTES = 58,	/* of the message that ends a segment: preload/file.c */
};

struct trace {
	char *path;
	bool of_world;		/* belongs to a further run */
	bool has_end;		/* the segment is full: nobody writes to it any more */
	bool failed;		/* while the program ran; there is one more try at the end */
};

struct known { const char *path; };
HASH_TABLE_OF_TEXT(known_paths, struct known, path)

static struct {
	struct trace *open;	/* waiting, the oldest first */
	size_t count, capacity;
	struct known_paths *known;	/* of all traces */
	int failed_count;
	time_t looked_s;	/* when the folder was last looked through */
} traces;

static struct {
	struct { pid_t pid; struct trace trace; } each[MOST_WORKERS];
	int count;
	bool share;		/* share the cores with the program */
} workers;

static struct {
	const char *rank;	/* only this rank's traces; NULL: all */
	int level;
	long cores;
	bool ended;		/* the run has ended */
} job;

/* ---- what to compress ---- */

/* Takes the paths over. */
static void
add(struct paths found, bool of_world)
{
	for (int i = 0; i < found.count; i++)
		if (known_paths_add(&traces.known, &(struct known){ found.at[i] })->path ==
		    found.at[i])
			*APPEND(traces.open, traces.count, traces.capacity) =
			    (struct trace){ .path = found.at[i], .of_world = of_world };
		else
			free(found.at[i]);
	free(found.at);
}

/* Further runs have folders of their own. */
static void
look(const char *folder)
{
	struct paths worlds = folder_paths(folder, is_world_name);
	struct stat status;

	/* Times of files are not exact. */
	if (job.ended ||
	    (stat(folder, &status) == 0 && status.st_mtim.tv_sec + 2 >= traces.looked_s)) {
		traces.looked_s = time(NULL);
		add(folder_traces(folder, job.rank), false);
	}
	for (int i = 0; i < worlds.count; i++)
		add(folder_traces(worlds.at[i], job.rank), true);
	paths_free(&worlds);
}

/* A segment ends with an end message; else with reserved space, or a process writes to it. */
static bool
may_be_taken(struct trace *trace)
{
	static const char end[] = "\222\243end";
	char tail[SEGMENT_END_BYTES];

	/* a rank's process cannot know when its further runs end */
	if (job.ended && (!trace->of_world || job.rank == NULL))
		return true;
	if (!trace->has_end)
		trace->has_end = file_part(trace->path, -SEGMENT_END_BYTES, tail,
		    sizeof tail) == SEGMENT_END_BYTES && memcmp(tail, end, strlen(end)) == 0;
	return trace->has_end && !trace->failed;
}

/* ---- worker processes ---- */

static void
set_policy(pid_t pid)
{
	const struct sched_param none = { 0 };

	sched_setscheduler(pid, workers.share || job.ended ? SCHED_OTHER : SCHED_IDLE, &none);
}

/* Returns false if no worker is free. */
static bool
start(struct trace trace)
{
	pid_t pid;

	/* must not outlive this process: it might overwrite the trace of a later run */
	if (workers.count == job.cores || workers.count == MOST_WORKERS ||
	    (pid = fork_bound()) < 0)
		return false;
	if (pid == 0) {
		set_policy(0);
		_exit(squeeze_trace(trace.path, job.level) < 0);
	}
	workers.each[workers.count].pid = pid;
	workers.each[workers.count].trace = trace;
	workers.each[workers.count++].trace.failed |= job.ended;	/* no second try */
	return true;
}

/* Waits for one worker, or for none (WNOHANG). Returns false if none has ended. */
static bool
reap(int how)
{
	struct trace trace;
	pid_t pid;
	int status, i = 0;

	while ((pid = waitpid(-1, &status, how)) < 0 && errno == EINTR)
		continue;
	if (pid <= 0)
		return false;
	while (workers.each[i].pid != pid)
		i++;
	trace = workers.each[i].trace;
	workers.each[i] = workers.each[--workers.count];
	if (status != 0 && trace.failed)
		traces.failed_count++;
	else if (status != 0) {
		trace.failed = true;
		*APPEND(traces.open, traces.count, traces.capacity) = trace;
	}
	return true;
}

/* Notes how far the program is ahead. */
static void
compare_with_program(size_t waiting)
{
	static bool said;

	if (!workers.share && waiting > MOST_BEHIND * (size_t)job.cores) {
		note("no core is idle: compression takes its share of the cores");
		workers.share = true;
		for (int i = 0; i < workers.count; i++)
			set_policy(workers.each[i].pid);
	}
	if (!said && waiting > MANY_BEHIND * (size_t)job.cores) {
		note("the program is faster than compression: %zu segments wait on the disk",
		    waiting);
		said = true;
	}
}

static void
give_work(void)
{
	size_t left = 0, waiting = 0;

	for (size_t i = 0; i < traces.count; i++) {
		const bool may = may_be_taken(&traces.open[i]);

		if (may && start(traces.open[i]))
			continue;
		traces.open[left++] = traces.open[i];
		waiting += may;
	}
	traces.count = left;
	if (!job.ended)
		compare_with_program(waiting);
}

/* RUN is a pipe whose other end closes when the program ends. */
static _Noreturn void
work(const char *folder, int run)
{
	const long online = sysconf(_SC_NPROCESSORS_ONLN), cores = online < 1 ? 1 : online;
	struct pollfd end = { .fd = run, .events = POLLIN };

	job.cores = job.rank != NULL ? 1 : cores;
	while (!job.ended) {
		if (poll(&end, 1, LOOK_MS) > 0) {
			job.ended = true;
			job.cores = cores;
			for (int i = 0; i < workers.count; i++)
				set_policy(workers.each[i].pid);
		}
		while (reap(WNOHANG))
			continue;
		look(folder);
		give_work();
	}
	while (reap(0))
		give_work();
	for (size_t i = 0; i < traces.count; i++)
		traces.failed_count += may_be_taken(&traces.open[i]);
	if (traces.failed_count > 0)
		note("%d of %zu traces could not be compressed and stay as they were",
		    traces.failed_count, known_paths_count(traces.known));
	_exit(DONE);
}

/* ---- the process beside the run ---- */

static volatile pid_t worker;
static volatile sig_atomic_t stopped, ending;
static int running = -1;	/* open as long as the program runs */

void
compress_begin(const char *folder, const char *rank, int level)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	if ((worker = fork_bound()) == 0) {
		ignore_signals();
		close(ends[1]);
		job.rank = rank;
		job.level = level;
		work(folder, ends[0]);
	}
	close(ends[0]);
	running = ends[1];
}

void
compress_end(const char *folder, const char *rank, int level)
{
	if (worker <= 0 && !stopped)
		compress_begin(folder, rank, level);
	ending = 1;
	if (stopped && worker > 0)
		kill(worker, SIGKILL);
	close(running);
	while (worker > 0 && waitpid(worker, NULL, 0) < 0 && errno == EINTR)
		continue;
	worker = 0;
	if (stopped)
		folder_remove_unfinished(folder, rank);
}

void
compress_stop(void)
{
	stopped = 1;
	if (ending && worker > 0)
		kill(worker, SIGKILL);
}
