/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw traces made smaller after the run: every block with the narrowest columns that hold it and
 * compressed, small blocks of a location as one, the definitions between them together. Memory: one
 * such block for each thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/stream/calls.h"
#include "../base/tool/tool.h"
#include "compress.h"

enum { ROWS = 1 << 14 };	/* of a block, at least, but for the last */

struct work {
	struct reader in;
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
	    put_compressed(&w->out, w->one.buffer.data, w->one.buffer.size, w->level);

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

	if (calls_read(&w->calls, &w->in, message) < 0)
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

	if (reader_open_raw(&w.in, path) < 0)
		return -1;
	w.in.names_late = true;		/* numbers of calls stay as they are */
	writer_start(&w.out, fd);
	writer_start(&w.one, -1);
	while ((got = reader_next(&w.in, &message)) > 0)
		if (take(&w, &message) < 0)
			return -1;
	reader_close(&w.in);
	return got;
}

/* 0, or -1: the trace is as it was. */
static int
compress_trace(const char *path, int level)
{
	char *new;
	int fd, done = -1;

	if (asprintf(&new, "%s.new", path) < 0)
		return -1;
	if ((fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) >= 0) {
		done = compress_to(path, fd, level);
		if (close(fd) != 0)
			done = -1;
		if (done == 0)
			done = rename(new, path);
		if (done != 0)
			unlink(new);
	}
	free(new);
	return done;
}

void
compress_traces(char **paths, int count, int level)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int running = 0, status, failed = 0;

	for (int i = 0; i < count || running > 0; ) {
		if (i < count && running < cores) {
			pid_t child = fork();

			if (child == 0)
				_exit(compress_trace(paths[i], level) < 0);
			running += child > 0;
			failed += child < 0;
			i++;
		} else if (wait(&status) > 0) {
			running--;
			failed += status != 0;
		} else if (errno != EINTR)
			break;
	}
	if (failed > 0)
		note("%d of %d traces could not be compressed and stay as they were", failed, count);
}
