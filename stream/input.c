/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a stream, from a file, a pipe, or memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

enum { READ_BYTES = 1 << 20 };		/* asked of the kernel at once */

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
input_more(struct reader *in)
{
	ssize_t got;

	if (in->eof)
		return 0;
	if (in->capacity - in->end < READ_BYTES) {
		size_t unread = in->end - in->begin;

		if (in->begin > 0)
			memmove(in->buffer, in->buffer + in->begin, unread);
		in->buffer_offset += in->begin;
		in->begin = 0;
		in->end = unread;
		if (in->capacity - in->end < READ_BYTES) {
			size_t more = 2 * in->capacity + READ_BYTES;
			unsigned char *bigger = realloc(in->buffer, more);

			if (bigger == NULL)
				return reader_fail(in, input_here(in), "out of memory");
			in->buffer = bigger;
			in->capacity = more;
		}
	}
	do
		got = read(in->fd, in->buffer + in->end, in->capacity - in->end);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return reader_fail(in, in->buffer_offset + in->end, "%s", strerror(errno));
	in->eof = got == 0;
	in->end += (size_t)got;
	return got > 0;
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
input_map(struct reader *in)
{
	struct stat status;
	void *bytes;

	if (fstat(in->fd, &status) < 0)
		return reader_fail(in, 0, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return reader_fail(in, 0, "not a file, and it is read more than once");
	in->capacity = in->end = (size_t)status.st_size;
	in->eof = in->mapped = true;
	if (in->capacity > 0) {
		bytes = mmap(NULL, in->capacity, PROT_READ, MAP_PRIVATE, in->fd, 0);
		if (bytes == MAP_FAILED) {
			in->mapped = false;
			return reader_fail(in, 0, "%s", strerror(errno));
		}
		in->buffer = bytes;
	}
	return 0;
}

int
input_copy(struct reader *in, const void *bytes, size_t size, uint64_t offset)
{
	if (in->capacity < size) {
		unsigned char *bigger = realloc(in->buffer, size);

		if (bigger == NULL)
			return reader_fail(in, offset, "out of memory");
		in->buffer = bigger;
		in->capacity = size;
	}
	memcpy(in->buffer, bytes, size);
	in->begin = 0;
	in->end = size;
	in->buffer_offset = offset;
	in->eof = true;
	return 0;
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
	if (in->mapped && in->buffer != NULL)
		munmap(in->buffer, in->capacity);
	else if (!in->mapped)
		free(in->buffer);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->buffer = NULL;
	in->fd = -1;
}
