/* SPDX-License-Identifier: BSD-3-Clause */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

int
spool_open(void)
{
	const char *folder = getenv("TMPDIR");
	char *path;
	int fd;

	path = formatted("%s/%s.XXXXXX", folder != NULL && *folder != '\0' ? folder : "/tmp", tool);
	if ((fd = mkostemp(path, O_CLOEXEC)) < 0)
		die("%s: %s", path, strerror(errno));
	unlink(path);
	free(path);
	return fd;
}

int
spool_copy(int fd, const char *file)
{
	static char chunk[1 << 16];
	int to = spool_open();
	uint64_t size = 0;

	for (ssize_t got; (got = read(fd, chunk, sizeof chunk)) != 0; )
		if (got > 0) {
			spool_put(to, chunk, (size_t)got, size);
			size += (uint64_t)got;
		} else if (errno != EINTR)
			die("%s: %s", file, strerror(errno));
	return to;
}

void
spool_put(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const char *at = bytes;

	for (ssize_t wrote; size > 0; at += wrote, size -= (size_t)wrote, offset += (uint64_t)wrote)
		if ((wrote = pwrite(fd, at, size, (off_t)offset)) < 0) {
			if (errno != EINTR)
				die("temporary file: %s", strerror(errno));
			wrote = 0;
		}
}

void
spool_get(int fd, void *bytes, size_t size, uint64_t offset)
{
	char *at = bytes;

	for (ssize_t got; size > 0; at += got, size -= (size_t)got, offset += (uint64_t)got)
		if ((got = pread(fd, at, size, (off_t)offset)) <= 0) {
			if (got == 0 || errno != EINTR)
				die("temporary file: %s",
				    got == 0 ? "it was cut" : strerror(errno));
			got = 0;
		}
}

void
spool_stdin(void)
{
	int fd;

	if (lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
		return;
	fd = spool_copy(STDIN_FILENO, "standard input");
	if (dup2(fd, STDIN_FILENO) < 0)
		die("temporary file: %s", strerror(errno));
	close(fd);
}
