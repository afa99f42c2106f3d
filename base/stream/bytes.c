/* SPDX-License-Identifier: BSD-3-Clause */
#include "bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 20, PIPE_BYTES = 1 << 19 };

/*
 * A pipe of 64 KB is full or empty at each switch between its ends, which then take turns on one
 * core. The kernel allows a user 64 MB in all pipes; beyond that a pipe stays as it is.
 */
void
widen_pipe(int fd)
{
	const int bytes = fcntl(fd, F_GETPIPE_SZ);

	if (bytes > 0 && bytes < PIPE_BYTES)
		fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
}

int
buffer_open(struct buffer *b, const char *file)
{
	const bool named = file != NULL && strcmp(file, "-") != 0;

	b->fd = named ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (b->fd < 0)
		return -1;
	if (b->chunk_bytes == 0)
		b->chunk_bytes = CHUNK_BYTES;
	b->by_offset = named && buffer_file_bytes(b) >= 0;
	widen_pipe(b->fd);
	return 0;
}

void
buffer_close(struct buffer *b)
{
	free(b->bytes);
	if (b->fd > STDIN_FILENO && !b->lent)
		close(b->fd);
	*b = (struct buffer){ .fd = -1, .chunk_bytes = b->chunk_bytes };
}

int64_t
buffer_file_bytes(const struct buffer *b)
{
	struct stat status;

	return b->fd >= 0 && fstat(b->fd, &status) == 0 && S_ISREG(status.st_mode) ?
	    status.st_size : -1;
}

int
buffer_room(struct buffer *b, size_t bytes)
{
	size_t unread = b->end - b->begin, more;
	unsigned char *bigger;

	if (b->capacity - b->end >= bytes)
		return 0;
	if (b->begin > 0)
		memmove(b->bytes, b->bytes + b->begin, unread);
	b->offset += b->begin;
	b->begin = 0;
	b->end = unread;
	if (b->capacity - b->end >= bytes)
		return 0;
	more = 2 * b->capacity + bytes;
	if ((bigger = realloc(b->bytes, more)) == NULL)
		return -1;
	b->bytes = bigger;
	b->capacity = more;
	return 0;
}

int
buffer_more(struct buffer *b)
{
	const size_t unread = b->end - b->begin;
	size_t wanted;
	ssize_t got;

	if (b->eof)
		return 0;
	if (buffer_room(b, b->chunk_bytes) < 0)
		return -1;
	wanted = b->capacity - b->end;
	if (b->few_bytes > 0 && wanted > (b->few_bytes > unread ? b->few_bytes : unread))
		wanted = b->few_bytes > unread ? b->few_bytes : unread;
	do
		got = b->by_offset ? pread(b->fd, b->bytes + b->end, wanted, (off_t)buffer_end(b)) :
		    read(b->fd, b->bytes + b->end, wanted);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -1;
	b->eof = got == 0;
	b->end += (size_t)got;
	return got > 0;
}

int
buffer_seek(struct buffer *b, uint64_t offset)
{
	if (!b->by_offset && lseek(b->fd, (off_t)offset, SEEK_SET) < 0)
		return -1;
	b->begin = b->end = 0;
	b->offset = offset;
	b->eof = false;
	return 0;
}

int
buffer_again(const struct buffer *b, void *to, size_t size, uint64_t offset)
{
	for (size_t done = 0; done < size; ) {
		ssize_t got = pread(b->fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (got == 0)
			errno = 0;
		if (got == 0 || (got < 0 && errno != EINTR))
			return -1;
		done += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

int
buffer_spool(struct buffer *b, int fd)
{
	for (int more = 1; more > 0; ) {
		while (b->begin < b->end) {
			ssize_t wrote = write(fd, b->bytes + b->begin, b->end - b->begin);

			if (wrote < 0 && errno != EINTR)
				return -1;
			b->begin += wrote > 0 ? (size_t)wrote : 0;
		}
		if ((more = buffer_more(b)) < 0)
			return -1;
	}
	if (b->fd > STDIN_FILENO)
		close(b->fd);
	b->fd = fd;
	return 0;
}
