/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw traces made smaller after the run, each by a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/tool/tool.h"
#include "compress.h"
#include "folder.h"
#include "squeeze.h"

/* A rank that died has no end: its trace goes on with unwritten space, of which a byte is enough. */
static int
end_cut(struct squeeze *s)
{
	if (squeeze_all(s) < 0 || msgpack_sbuffer_write(&s->out.buffer, "", 1) < 0)
		return -1;
	return writer_flush(&s->out);
}

static int
end_whole(struct squeeze *s, const struct message *message)
{
	const msgpack_object *more = body_get(message, "more");

	return squeeze_all(s) < 0 ? -1 :
	    writer_end_of(&s->out, more != NULL && more->type == MSGPACK_OBJECT_BOOLEAN && more->via.boolean);
}

static int
take(struct squeeze *s, const struct message *message)
{
	if (is_kind(message, "longpole")) {
		int passed = writer_pass(&s->out, message, 0);

		s->out.messages = 0;
		return passed;
	}
	if (is_kind(message, "end"))
		return end_whole(s, message);
	if (is_kind(message, "cut"))
		return end_cut(s);
	return squeeze_take(s, message);
}

static int
compress_to(const char *path, int fd, int level)
{
	struct squeeze s;
	struct message message;
	int got;

	squeeze_start(&s, fd, level);
	if (reader_open(&s.in, path, READ_RAW) < 0)
		return -1;
	while ((got = reader_next(s.in, &message)) > 0)
		if (take(&s, &message) < 0)
			return -1;
	reader_close(s.in);
	return got;
}

/* While the program ran. Behind a header, which has less than this, nothing else begins so. */
static bool
is_compressed(const char *path)
{
	static const char begin[] = "\222\244zstd";
	char bytes[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t got = fd >= 0 ? read(fd, bytes, sizeof bytes) : 0;

	if (fd >= 0)
		close(fd);
	return got > 0 && memmem(bytes, (size_t)got, begin, strlen(begin)) != NULL;
}

/* A later run may have put its own trace there meanwhile. */
static bool
is_same(const struct stat *before, const char *path)
{
	struct stat now;

	return lstat(path, &now) == 0 && now.st_dev == before->st_dev && now.st_ino == before->st_ino;
}

/* 0, or -1: the trace is as it was. */
static int
compress_trace(const char *path, int level)
{
	struct stat before;
	char *new;
	int fd, done = -1;

	if (is_compressed(path))
		return 0;
	if (lstat(path, &before) != 0 || asprintf(&new, "%s" UNFINISHED, path) < 0)
		return -1;
	unlink(new);
	if ((fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)) >= 0) {
		done = compress_to(path, fd, level);
		if (close(fd) != 0)
			done = -1;
		if (done == 0)
			done = is_same(&before, path) ? rename(new, path) : -1;
		if (done != 0)
			unlink(new);
	}
	free(new);
	return done;
}

/* The processes that compress; a signal handler ends them. */
enum { WORKERS = 256 };
static struct {
	volatile pid_t pid[WORKERS];	/* 0: none */
	volatile sig_atomic_t stopped;
	bool idle;			/* they run where a core is idle only */
} workers;

void
compress_stop(void)
{
	workers.stopped = 1;
	for (int i = 0; i < WORKERS; i++)
		if (workers.pid[i] > 0)
			kill(workers.pid[i], SIGKILL);
}

/* It must not outlive this process, and overwrite the trace of a later run. */
static _Noreturn void
work(const char *path, int level, pid_t parent, const sigset_t *mask)
{
	const struct sched_param none = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (workers.idle)
		sched_setscheduler(0, SCHED_IDLE, &none);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	_exit(getppid() != parent || compress_trace(path, level) < 0);
}

bool
compress_start(const char *path, int level)
{
	const pid_t parent = getpid();
	sigset_t all, before;
	int slot = 0;

	while (slot < WORKERS - 1 && workers.pid[slot] != 0)
		slot++;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);	/* the handler sees it as soon as it is there */
	if ((workers.pid[slot] = fork()) == 0)
		work(path, level, parent, &before);
	if (workers.pid[slot] < 0)
		workers.pid[slot] = 0;
	else if (workers.stopped)
		kill(workers.pid[slot], SIGKILL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return workers.pid[slot] != 0;
}

int
compress_running(void)
{
	int running = 0;

	for (int i = 0; i < WORKERS; i++)
		running += workers.pid[i] > 0;
	return running;
}

void
compress_when_idle(bool idle)
{
	const struct sched_param none = { 0 };

	for (int i = 0; i < WORKERS && idle != workers.idle; i++)
		if (workers.pid[i] > 0)
			sched_setscheduler(workers.pid[i], idle ? SCHED_IDLE : SCHED_OTHER, &none);
	workers.idle = idle;
}

/* Waits for one; returns whether it did its work, -1: there is none. */
static int
end_worker(int how)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, how)) < 0 && errno == EINTR)
		continue;
	for (int i = 0; pid > 0 && i < WORKERS; i++)
		if (workers.pid[i] == pid)
			workers.pid[i] = 0;
	return pid <= 0 ? -1 : status == 0;
}

void
compress_reap(void)
{
	while (end_worker(WNOHANG) >= 0)
		continue;
}

static void
remove_unfinished(char **paths, int count)
{
	for (int i = 0; i < count; i++) {
		char *new;

		if (asprintf(&new, "%s" UNFINISHED, paths[i]) < 0)
			return;
		unlink(new);
		free(new);
	}
}

void
compress_traces(char **paths, int count, int level)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int running = 0, failed = 0, did, next = 0;

	while ((next < count && !workers.stopped) || running > 0)
		if (next < count && !workers.stopped && running < cores && running < WORKERS) {
			did = compress_start(paths[next++], level);
			running += did;
			failed += !did;
		} else if ((did = end_worker(0)) >= 0) {
			running--;
			failed += !did;
		} else
			break;
	if (workers.stopped)
		remove_unfinished(paths, count);
	else if (failed > 0)
		note("%d of %d traces could not be compressed and stay as they were", failed, count);
}
