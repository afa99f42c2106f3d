/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
process_read(int64_t pid, const char *name, char *to, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/%lld/%s", (long long)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? 0 : read(fd, to, size - 1);
	to[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

char
process_state(int64_t pid)
{
	char stat[512];
	const char *behind;

	process_read(pid, "stat", stat, sizeof stat);
	behind = strrchr(stat, ')');
	return behind == NULL || behind[1] != ' ' || behind[2] == 'Z' ||
	    behind[2] == 'X' ? '\0' : behind[2];
}
