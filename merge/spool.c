/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge.h"

/* Standard input that cannot be read twice is kept in an unnamed file. */
void
make_stdin_seekable(void)
{
	static char chunk[1 << 16];
	const char *folder = getenv("TMPDIR");
	char path[4096];
	ssize_t got;
	int fd;

	if (lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
		return;
	snprintf(path, sizeof path, "%s/lp-merge.XXXXXX", folder != NULL ? folder : "/tmp");
	if ((fd = mkstemp(path)) < 0)
		die("%s: %s", path, strerror(errno));
	unlink(path);
	while ((got = read(STDIN_FILENO, chunk, sizeof chunk)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			die("standard input: %s", strerror(errno));
		for (ssize_t done = 0, wrote; done < got; done += wrote)
			if ((wrote = write(fd, chunk + done, (size_t)(got - done))) < 0)
				die("%s: %s", path, strerror(errno));
	}
	if (lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0)
		die("%s: %s", path, strerror(errno));
	close(fd);
}
