/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw traces made smaller after the run, each by a process of its own. */
#include <errno.h>
#include <fcntl.h>
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

/* As many messages and rows as the trace had, less those that are now parts of others. */
static int
end_whole(struct squeeze *s, const struct message *message)
{
	int64_t messages, rows;

	if (squeeze_all(s) < 0 || body_int(s->in, message, "messages", 0, INT64_MAX, &messages) < 0 ||
	    body_int(s->in, message, "rows", 0, INT64_MAX, &rows) < 0)
		return -1;
	s->out.messages += (uint64_t)messages - s->taken;
	s->out.rows = (uint64_t)rows;
	return writer_end_more(&s->out);
}

/* What was compressed while the program ran stays as it is, and the room between goes. */
static int
take_packed(struct squeeze *s, const struct message *message)
{
	int64_t fewer;

	if (is_kind(message, "zstd"))
		return squeeze_all(s) < 0 || writer_pass(&s->out, message, 0) < 0 ? -1 : (s->out.messages--, 0);
	if (body_int(s->in, message, "messages", 0, UINT32_MAX, &fewer) < 0)
		return -1;
	s->taken += (uint64_t)fewer;
	return 0;
}

static int
take(struct squeeze *s, const struct message *message)
{
	if (is_kind(message, "longpole")) {
		int passed = writer_pass(&s->out, message, 0);

		s->out.messages = s->taken = 0;
		return passed;
	}
	if (is_kind(message, "zstd") || is_kind(message, "spare"))
		return take_packed(s, message);
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
	if (reader_open(&s.in, path, READ_PACKED) < 0)
		return -1;
	while ((got = reader_next(s.in, &message)) > 0)
		if (take(&s, &message) < 0)
			return -1;
	reader_close(s.in);
	return got;
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
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	_exit(getppid() != parent || compress_trace(path, level) < 0);
}

static bool
start_worker(const char *path, int level)
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

/* Waits for one; returns whether it did its work, -1: there is none. */
static int
end_worker(void)
{
	pid_t pid;
	int status;

	while ((pid = wait(&status)) < 0 && errno == EINTR)
		continue;
	for (int i = 0; pid > 0 && i < WORKERS; i++)
		if (workers.pid[i] == pid)
			workers.pid[i] = 0;
	return pid < 0 ? -1 : status == 0;
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
			did = start_worker(paths[next++], level);
			running += did;
			failed += !did;
		} else if ((did = end_worker()) >= 0) {
			running--;
			failed += !did;
		} else
			break;
	if (workers.stopped)
		remove_unfinished(paths, count);
	else if (failed > 0)
		note("%d of %d traces could not be compressed and stay as they were", failed, count);
}
