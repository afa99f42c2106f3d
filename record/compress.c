/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw traces made smaller after the run: every block with the narrowest columns that hold it and
 * compressed, small blocks of a location as one, the definitions between them together. Memory: one
 * such block for each thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/stream/calls.h"
#include "../base/tool/tool.h"
#include "compress.h"
#include "folder.h"

enum { ROWS = 1 << 14 };	/* of a block, at least, but for the last */

struct work {
	struct reader *in;
	struct writer out, one;		/* one: messages to be compressed together; never written */
	struct calls calls;
	struct calls *pending;		/* by location: rows not yet written */
	size_t pending_count, pending_capacity;
	int level;
};

static int
put_one(struct work *w)
{
	int done = w->one.buffer.size == 0 ? 0 :
	    put_compressed(&w->out, &w->one, w->level);

	msgpack_sbuffer_clear(&w->one.buffer);
	return done;
}

/* Definitions first: the rows may need them. */
static int
put_rows(struct work *w, struct calls *rows)
{
	if (rows->count == 0)
		return 0;
	if (put_one(w) < 0 || calls_write_gaps(&w->one, rows) < 0)
		return -1;
	w->out.messages++;
	w->out.rows += rows->count;
	rows->first += rows->count;
	rows->count = 0;
	return put_one(w);
}

static int
take_block(struct work *w, const struct message *message)
{
	struct calls *rows;

	if (calls_read(&w->calls, w->in, message) < 0)
		return -1;
	if (w->calls.location > 1 << 20)
		return -1;
	w->pending = grow(w->pending, &w->pending_capacity, w->calls.location + (size_t)1,
	    sizeof *w->pending);
	while (w->pending_count <= w->calls.location)
		w->pending[w->pending_count++] = (struct calls){ 0 };
	rows = &w->pending[w->calls.location];
	rows->location = w->calls.location;
	if (rows->first + rows->count != w->calls.first)
		return -1;
	if (calls_append(rows, &w->calls) < 0)
		return -1;
	return rows->count >= ROWS ? put_rows(w, rows) : 0;
}

static int
put_all(struct work *w)
{
	for (size_t i = 0; i < w->pending_count; i++)
		if (put_rows(w, &w->pending[i]) < 0)
			return -1;
	return put_one(w);
}

/* A rank that died has no end: its trace goes on with unwritten space, of which a byte is enough. */
static int
end_cut(struct work *w)
{
	if (put_all(w) < 0 || msgpack_sbuffer_write(&w->out.buffer, "", 1) < 0)
		return -1;
	return writer_flush(&w->out);
}

static int
take(struct work *w, const struct message *message)
{
	if (is_kind(message, "longpole")) {
		int passed = writer_pass(&w->out, message, 0);

		w->out.messages = w->out.rows = 0;
		for (size_t i = 0; i < w->pending_count; i++)
			w->pending[i].first = 0;
		return passed;
	}
	if (is_kind(message, "calls"))
		return take_block(w, message);
	if (is_kind(message, "end"))
		return put_all(w) < 0 ? -1 : writer_end_more(&w->out);
	if (is_kind(message, "cut"))
		return end_cut(w);
	w->out.messages++;
	return writer_pass(&w->one, message, 0);
}

static int
compress_to(const char *path, int fd, int level)
{
	struct work w = { .level = level };
	struct message message;
	int got;

	if (reader_open(&w.in, path, READ_NUMBERED) < 0)
		return -1;
	writer_start(&w.out, fd);
	writer_start(&w.one, -1);
	while ((got = reader_next(w.in, &message)) > 0)
		if (take(&w, &message) < 0)
			return -1;
	reader_close(w.in);
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
