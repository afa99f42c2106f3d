/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compression while the program runs. One process looks at the growing traces from time to time. What it
 * reads and writes of them takes some microseconds for thousands of calls; the compression itself is done by
 * threads that the system runs where a core is idle only. So when no core is, the traces grow, and get
 * smaller later. The two are apart, because a thread that may not run must not hold a lock of a file that the
 * program writes to: threads of the second kind touch no file.
 *
 * Memory: a MiB, and what it becomes, for each core.
 */
#include "follow.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/tool/tool.h"
#include "folder.h"
#include "growing.h"
#include "squeeze.h"

enum {
	LOOK_NS = 100000000,	/* from one look to the next, at least */
	PAUSES = 20,		/* and so many times what a look takes */
	MOST_THREADS = 16,
};

/* ---- threads that compress ---- */

enum state { IDLE, ASKED, DONE_WELL, FAILED };

struct worker {
	pthread_t thread;
	enum state state;		/* under the lock, as all of this where it is not IDLE */
	struct growing *trace;
	struct stretch stretch;
	unsigned char *bytes;
	struct squeeze squeeze;
};

static struct {
	struct worker *workers;
	int count, level;
	pthread_mutex_t lock;
	pthread_cond_t asked, done;
} team = { .lock = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER };

static bool
squeeze_bytes(struct squeeze *s, const unsigned char *bytes, size_t size)
{
	struct message message;
	int got;

	if (reader_bytes(s->in, bytes, size) < 0)
		return false;
	while ((got = reader_next(s->in, &message)) > 0 && !is_kind(&message, "cut"))
		if (squeeze_take(s, &message) < 0)
			return false;
	return got > 0 && squeeze_all(s) == 0;
}

static void *
work(void *argument)
{
	struct worker *w = argument;
	struct sched_param none = { 0 };

	sched_setscheduler(0, SCHED_IDLE, &none);	/* of this thread alone */
	for (;;) {
		bool well;

		pthread_mutex_lock(&team.lock);
		while (w->state != ASKED)
			pthread_cond_wait(&team.asked, &team.lock);
		pthread_mutex_unlock(&team.lock);
		squeeze_start(&w->squeeze, -1, team.level);
		well = reader_open(&w->squeeze.in, NULL, READ_PIECE) == 0 &&
		    squeeze_bytes(&w->squeeze, w->bytes, w->stretch.bytes + 1);
		reader_close(w->squeeze.in);
		pthread_mutex_lock(&team.lock);
		w->state = well ? DONE_WELL : FAILED;
		pthread_cond_signal(&team.done);
		pthread_mutex_unlock(&team.lock);
	}
	return NULL;
}

/* ---- the traces ---- */

struct followed {
	char *path;
	struct growing trace;
	bool busy;		/* a worker has a stretch of it */
	bool over;
};

static struct {
	struct followed **at;
	size_t count, capacity;
	time_t looked_s;	/* when the folder was last looked through */
} traces;

static void
add_trace(const char *path)
{
	struct followed *f;

	for (size_t i = 0; i < traces.count; i++)
		if (strcmp(traces.at[i]->path, path) == 0)
			return;
	f = zalloc(1, sizeof *f);
	if (!growing_open(&f->trace, path)) {
		free(f);
		return;
	}
	f->path = need(strdup(path));
	traces.at = grow(traces.at, &traces.capacity, traces.count + 1, sizeof *traces.at);
	traces.at[traces.count++] = f;
}

static void
add_world(const char *folder)
{
	folder_for_each(folder, add_trace);
}

/* The traces that there are; those of further runs come into folders of their own later. */
static void
look_for_traces(const char *folder, const char *rank)
{
	char path[PATH_MAX];
	struct stat status;

	if (rank != NULL) {
		if (traces.count == 0 && snprintf(path, sizeof path, "%s/rank.%s", folder, rank) < (int)sizeof path &&
		    folder_is_trace(path))
			add_trace(path);
		return;
	}
	/* Times of files are not exact. */
	if (stat(folder, &status) == 0 && status.st_mtim.tv_sec + 2 >= traces.looked_s) {
		traces.looked_s = time(NULL);
		folder_for_each(folder, add_trace);
	}
	folder_for_each_world(folder, add_world);
}

static void
ask(struct worker *w, struct followed *f, const struct stretch *stretch)
{
	unsigned char *bytes = growing_read(&f->trace, stretch);

	if (bytes == NULL) {
		f->over = true;
		return;
	}
	pthread_mutex_lock(&team.lock);
	w->trace = &f->trace;
	w->stretch = *stretch;
	w->bytes = bytes;
	w->state = ASKED;
	f->busy = true;
	pthread_cond_broadcast(&team.asked);
	pthread_mutex_unlock(&team.lock);
}

/* What a worker has done takes its place. */
static void
take_done(struct worker *w)
{
	struct squeeze *s = &w->squeeze;

	if (w->state == DONE_WELL)
		growing_replace(w->trace, &w->stretch, s->out.buffer.data, s->out.buffer.size,
		    s->taken - s->out.messages);
	else
		growing_close(w->trace);
	squeeze_end(s);
	free(w->bytes);
	for (size_t i = 0; i < traces.count; i++)
		if (&traces.at[i]->trace == w->trace)
			traces.at[i]->busy = false;
	w->state = IDLE;
}

/* The next trace that has something to do, in turns. */
static struct followed *
next_trace(struct stretch *stretch)
{
	static size_t turn;

	for (size_t i = 0; i < traces.count; i++) {
		struct followed *f = traces.at[turn++ % traces.count];

		if (f->over || f->busy)
			continue;
		if (growing_stretch(&f->trace, stretch))
			return f;
		f->over = f->trace.ended || f->trace.fd < 0;
		if (f->over)
			growing_close(&f->trace);
	}
	return NULL;
}

static void
give_work(void)
{
	for (int i = 0; i < team.count; i++) {
		struct worker *w = &team.workers[i];
		struct followed *f;
		struct stretch stretch;
		enum state state;

		pthread_mutex_lock(&team.lock);
		state = w->state;
		pthread_mutex_unlock(&team.lock);
		if (state == DONE_WELL || state == FAILED)
			take_done(w);
		if (state != ASKED && (f = next_trace(&stretch)) != NULL)
			ask(w, f, &stretch);
	}
}

static int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Until a worker is done, or UNTIL_NS. */
static void
wait_for_work(int64_t until_ns)
{
	const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
	bool done = false;

	pthread_mutex_lock(&team.lock);
	for (int i = 0; i < team.count; i++)
		done |= team.workers[i].state == DONE_WELL || team.workers[i].state == FAILED;
	if (!done)
		pthread_cond_timedwait(&team.done, &team.lock, &until);
	pthread_mutex_unlock(&team.lock);
}

static _Noreturn void
follow(const char *folder, const char *rank)
{
	for (;;) {
		const int64_t begin_ns = now_ns();
		int64_t until_ns;

		look_for_traces(folder, rank);
		for (size_t i = 0; i < traces.count; i++)
			if (!traces.at[i]->over)
				growing_look(&traces.at[i]->trace);
		until_ns = now_ns();
		until_ns += PAUSES * (until_ns - begin_ns) > LOOK_NS ? PAUSES * (until_ns - begin_ns) : LOOK_NS;
		do {
			give_work();
			wait_for_work(until_ns);
		} while (now_ns() < until_ns);
	}
}

/* ---- the process ---- */

static pid_t follower;

bool
follow_can(const char *folder)
{
	static const unsigned long own[] = { 0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1,
		0xf2f52010, 0xca451a4e };	/* ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs */
	struct statfs status;

	if (statfs(folder, &status) == 0)
		for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
			if ((unsigned long)status.f_type == own[i])
				return true;
	return false;
}

static void
start_workers(int count)
{
	team.workers = zalloc((size_t)count, sizeof *team.workers);
	while (team.count < count &&
	    pthread_create(&team.workers[team.count].thread, NULL, work, &team.workers[team.count]) == 0)
		team.count++;
}

void
follow_start(const char *folder, const char *rank, int level)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	const pid_t parent = getpid();
	struct rlimit files;

	if ((follower = fork()) != 0)
		return;
	/* Signals stay held back: a terminal's are for the program. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(TROUBLE);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	team.level = level;
	start_workers(rank != NULL || cores < 1 ? 1 : cores < MOST_THREADS ? (int)cores : MOST_THREADS);
	if (team.count == 0)
		_exit(TROUBLE);
	follow(folder, rank);
}

void
follow_stop(void)
{
	if (follower <= 0)
		return;
	kill(follower, SIGKILL);
	while (waitpid(follower, NULL, 0) < 0 && errno == EINTR)
		continue;
	follower = 0;
}
