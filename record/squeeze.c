/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/stream/calls.h"
#include "../base/stream/open_call.h"
#include "../base/stream/samples.h"
#include "../base/tool/tool.h"
#include "record.h"

enum {
	ROWS = 1 << 14,			/* of a block, at least; the last block may be smaller */
	MOST_LOCATIONS = 1 << 20,
};

struct squeeze {
	struct reader *in;
	struct writer out, one;		/* one: messages to be compressed together; not a file */
	struct calls calls;
	struct samples regions;
	struct calls *pending;		/* by location: rows not yet written */
	size_t pending_count, pending_capacity;
	int level;
};

static int
put_one(struct squeeze *s)
{
	int done = s->one.buffer.size == 0 ? 0 : put_compressed(&s->out, &s->one, s->level);

	msgpack_sbuffer_clear(&s->one.buffer);
	return done;
}

/* Definitions first: the rows may need them. */
static int
put_rows(struct squeeze *s, struct calls *rows)
{
	if (rows->count == 0)
		return 0;
	if (put_one(s) < 0 || calls_write_small(&s->one, rows) < 0)
		return -1;
	s->out.messages++;
	s->out.rows += rows->count;
	rows->count = 0;
	return put_one(s);
}

/* A compressed block has no open call. The open call of a dead rank becomes a message. */
static int
take_open_call(struct squeeze *s, const struct message *message, uint32_t location)
{
	const struct open_call *open = open_call_of(message);

	if (open == NULL || open->call == 0)
		return 0;
	message_begin(&s->one, "open", 2);
	put_uint(&s->one, "location", location);
	put_bytes(&s->one, "open", open, sizeof *open);
	s->out.messages++;
	return message_end(&s->one);
}

static int
take_block(struct squeeze *s, const struct message *message)
{
	struct calls *rows;

	if (calls_read_numbered(&s->calls, s->in, message) < 0 ||
	    s->calls.location > MOST_LOCATIONS)
		return -1;
	GROW(s->pending, s->pending_capacity, s->calls.location + (size_t)1);
	while (s->pending_count <= s->calls.location)
		s->pending[s->pending_count++] = (struct calls){ 0 };
	rows = &s->pending[s->calls.location];
	rows->location = s->calls.location;
	if (rows->count == 0)		/* earlier rows may have been written already */
		rows->first = s->calls.first;
	if (rows->first + rows->count != s->calls.first || calls_append(rows, &s->calls) < 0)
		return -1;
	if (rows->count >= ROWS && put_rows(s, rows) < 0)
		return -1;
	return take_open_call(s, message, s->calls.location);
}

static int
put_all(struct squeeze *s)
{
	for (size_t i = 0; i < s->pending_count; i++)
		if (put_rows(s, &s->pending[i]) < 0)
			return -1;
	return put_one(s);
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
		return put_all(s) < 0 ? -1 : writer_end_of(&s->out, body_true(message, "more"));
	/* The trace of a dead rank goes on with reserved space; one byte of it is enough. */
	if (is_kind(message, "cut"))
		return put_all(s) < 0 || msgpack_sbuffer_write(&s->out.buffer, "", 1) < 0 ? -1 :
		    writer_flush(&s->out);
	if (is_kind(message, "calls"))
		return take_block(s, message);
	s->out.messages++;
	if (is_kind(message, "regions"))	/* without its room */
		return samples_read(&s->regions, s->in, message) < 0 ? -1 :
		    samples_write(&s->one, &s->regions);
	return writer_pass(&s->one, message, 0);
}

static int
squeeze_to(const char *path, int fd, int level)
{
	struct squeeze s = { .level = level };
	struct message message;
	int got;

	writer_start(&s.out, fd);
	writer_start(&s.one, -1);
	if (reader_open(&s.in, path, READ_RAW) < 0)
		return -1;
	while ((got = reader_next(s.in, &message)) > 0)
		if (take(&s, &message) < 0)
			return -1;
	reader_close(s.in);
	return got;
}

int
squeeze_trace(const char *path, int level)
{
	static const char compressed[] = "\222\244zstd";
	struct stat before, now;
	char bytes[4096], *new;
	int fd, done = -1;
	const ssize_t got = file_part(path, 0, bytes, sizeof bytes);

	/* While the program ran? Only a block begins so: a header has fewer pairs. */
	if (got > 0 && memmem(bytes, (size_t)got, compressed, strlen(compressed)) != NULL)
		return 0;
	if (lstat(path, &before) != 0 || asprintf(&new, "%s" UNFINISHED, path) < 0)
		return -1;
	unlink(new);
	if ((fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)) >= 0) {
		done = squeeze_to(path, fd, level);
		if (close(fd) != 0)
			done = -1;
		/* A later run may have put its own trace there in the meantime. */
		if (done == 0)
			done = lstat(path, &now) == 0 && now.st_dev == before.st_dev &&
			    now.st_ino == before.st_ino ? rename(new, path) : -1;
		if (done != 0)
			unlink(new);
	}
	free(new);
	return done;
}
