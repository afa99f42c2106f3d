/* SPDX-License-Identifier: BSD-3-Clause */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"
#include "tool.h"

/* False for devices and pipes, which are written directly: root could replace /dev/null. */
static bool
is_replaced(const char *name)
{
	struct stat there;

	return stat(name, &there) < 0 || S_ISREG(there.st_mode);
}

/* A file without a name in the folder of NAME; negative: the file system has none. */
static int
open_unnamed(const char *name)
{
	char *folder = need(strndup(name, (size_t)(file_name(name) - name)));
	const int fd = open(*folder != '\0' ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);

	free(folder);
	return fd;
}

static bool
give_name(const struct whole_file *whole)
{
	char *from = formatted("/proc/self/fd/%d", fileno(whole->file));
	const bool given = fflush(whole->file) == 0 &&
	    linkat(AT_FDCWD, from, AT_FDCWD, whole->temporary, AT_SYMLINK_FOLLOW) == 0;

	free(from);
	return given;
}

struct whole_file
whole_file_begin(const char *name)
{
	struct whole_file whole = { stdout, name, NULL, false };
	mode_t mask;
	int fd;

	if (name == NULL)
		return whole;
	if (!is_replaced(name)) {
		if ((whole.file = fopen(name, "w")) == NULL)
			die("%s: %s", name, strerror(errno));
		return whole;
	}
	if ((fd = open_unnamed(name)) >= 0) {
		whole.unnamed = true;
		whole.temporary = formatted("%s.%ld", name, (long)getpid());
		whole.file = need(fdopen(fd, "w"));
		return whole;
	}
	whole.temporary = formatted("%s.XXXXXX", name);
	if ((fd = mkstemp(whole.temporary)) < 0 || (whole.file = fdopen(fd, "w")) == NULL)
		die("%s: %s", name, strerror(errno));
	mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	return whole;
}

void
whole_file_end(struct whole_file *whole)
{
	int error = 0;

	if (whole->name == NULL)
		return;
	if (ferror(whole->file) != 0)	/* after an earlier write; its reason is lost */
		error = EIO;
	else if (whole->unnamed && !give_name(whole))
		error = errno;
	if (fclose(whole->file) != 0 || (error == 0 && whole->temporary != NULL &&
	    rename(whole->temporary, whole->name) != 0))
		error = errno;
	if (error != 0) {
		if (whole->temporary != NULL)
			unlink(whole->temporary);
		die("%s: %s", whole->name, strerror(error));
	}
	free(whole->temporary);
}
