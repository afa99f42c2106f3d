/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a stream, from a file, a pipe, or memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"
#include "skim.h"

int
input_open(struct reader *in, const char *file)
{
	in->file = file;
	in->fd = STDIN_FILENO;
	if (file == NULL || strcmp(file, "-") == 0)
		in->file = "standard input";
	else if ((in->fd = open(file, O_RDONLY | O_CLOEXEC)) < 0)
		return reader_fail(in, 0, "%s", strerror(errno));
	return 0;
}

int
input_room(struct reader *in, size_t bytes)
{
	size_t unread = in->end - in->begin, more;
	unsigned char *bigger;

	if (in->capacity - in->end >= bytes)
		return 0;
	if (in->begin > 0)
		memmove(in->buffer, in->buffer + in->begin, unread);
	in->buffer_offset += in->begin;
	in->begin = 0;
	in->end = unread;
	if (in->capacity - in->end >= bytes)
		return 0;
	more = 2 * in->capacity + bytes;
	if ((bigger = realloc(in->buffer, more)) == NULL)
		return reader_fail(in, input_here(in), "out of memory");
	in->buffer = bigger;
	in->capacity = more;
	return 0;
}

/* How much to ask for where blocks are skimmed: as little as will do, but more for what is large. */
static size_t
skimmed_bytes(const struct reader *in, size_t most)
{
	size_t least = in->hint_bytes > 0 ? in->hint_bytes : SKIM_BYTES, unread = in->end - in->begin;

	least = least < unread ? unread : least;
	return most < least ? most : least;
}

int
input_more(struct reader *in)
{
	size_t wanted;
	ssize_t got;

	if (in->eof)
		return 0;
	if (input_room(in, in->chunk_bytes) < 0)
		return -1;
	wanted = in->capacity - in->end;
	if (in->skims)
		wanted = skimmed_bytes(in, wanted);
	do
		got = in->by_offset ? pread(in->fd, in->buffer + in->end, wanted,
		    (off_t)(in->buffer_offset + in->end)) : read(in->fd, in->buffer + in->end, wanted);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return reader_fail(in, in->buffer_offset + in->end, "%s", strerror(errno));
	in->eof = got == 0;
	in->end += (size_t)got;
	return got > 0;
}

int
input_fill(struct reader *in, const struct message *message)
{
	unsigned char *bytes = in->buffer + (message->bytes - in->buffer);

	for (size_t done = 0; done < message->size; ) {
		ssize_t got = pread(in->fd, bytes + done, message->size - done,
		    (off_t)(message->offset + done));

		if (got < 0 && errno != EINTR)
			return reader_fail(in, message->offset, "%s", strerror(errno));
		if (got == 0)
			return reader_fail(in, message->offset, "the file has shrunk");
		done += got > 0 ? (size_t)got : 0;
	}
	in->hollow = false;
	return 0;
}

int
input_skip_zeros(struct reader *in)
{
	for (;;) {
		int more;

		while (in->begin < in->end && in->buffer[in->begin] == 0)
			in->begin++;
		if (in->begin < in->end)
			return 1;
		if ((more = input_more(in)) <= 0)
			return more;
	}
}

int
input_is_file(struct reader *in)
{
	struct stat status;

	if (fstat(in->fd, &status) < 0)
		return reader_fail(in, 0, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return reader_fail(in, 0, "not a file, and it is read more than once");
	return 0;
}

int
input_copy(struct reader *in, const void *bytes, size_t size)
{
	if (in->capacity < size) {
		unsigned char *bigger = realloc(in->buffer, size);

		if (bigger == NULL)
			return reader_fail(in, 0, "out of memory");
		in->buffer = bigger;
		in->capacity = size;
	}
	memcpy(in->buffer, bytes, size);
	in->begin = 0;
	in->end = size;
	in->buffer_offset = 0;
	in->eof = true;
	return 0;
}

bool
reader_is_seekable(const struct reader *in)
{
	return in->shards != NULL || lseek(in->fd, 0, SEEK_CUR) >= 0;
}

/* All that is unread, and what is still to come. 0 or -1. */
static int
copy_rest(struct reader *in, int fd)
{
	for (int more = 1; more > 0; ) {
		while (in->begin < in->end) {
			ssize_t wrote = write(fd, in->buffer + in->begin, in->end - in->begin);

			if (wrote < 0 && errno != EINTR)
				return reader_fail(in, 0, "temporary file: %s", strerror(errno));
			in->begin += wrote > 0 ? (size_t)wrote : 0;
		}
		if ((more = input_more(in)) < 0)
			return -1;
	}
	return 0;
}

int
reader_spool(struct reader *in, int fd)
{
	if (copy_rest(in, fd) < 0)
		return -1;
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->fd = fd;
	return reader_rewind(in);
}

void
input_seek(struct reader *in, uint64_t offset)
{
	in->begin = in->end = 0;
	in->buffer_offset = offset;
	in->eof = false;
}

int
input_rewind(struct reader *in)
{
	if (lseek(in->fd, 0, SEEK_SET) < 0)
		return reader_fail(in, input_here(in), "%s", strerror(errno));
	in->begin = in->end = 0;
	in->buffer_offset = 0;
	in->eof = false;
	return 0;
}

void
input_close(struct reader *in)
{
	free(in->buffer);
	if (in->fd > STDIN_FILENO && !in->lent)
		close(in->fd);
	in->buffer = NULL;
	in->capacity = in->begin = in->end = 0;
	in->buffer_offset = 0;
	in->eof = in->lent = false;
	in->fd = -1;
}
