/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"
#include "tool.h"

void
preload_find(const char *name, char *path, size_t size)
{
	ssize_t got = readlink("/proc/self/exe", path, size - 1);
	char file[100];
	char *slash;

	if (got < 0)
		die("/proc/self/exe: %s", strerror(errno));
	path[got] = '\0';
	for (int up = 0; up < 2; up++)
		if ((slash = strrchr(path, '/')) != NULL)
			*slash = '\0';
	snprintf(file, sizeof file, "/lib/liblongpole-%.60s.so", name);
	strncat(path, file, size - strlen(path) - 1);
	if (access(path, R_OK) != 0)
		die("%s: %s", path, strerror(errno));
	if (strpbrk(path, " :") != NULL)
		die("%s: the dynamic linker preloads nothing from a path with a blank or a colon",
		    path);
}

void
preload_add(const char *library, bool in_front)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;

	if (others == NULL || *others == '\0') {
		setenv("LD_PRELOAD", library, 1);
		return;
	}
	if (asprintf(&all, "%s:%s", in_front ? library : others, in_front ? others : library) < 0)
		die("out of memory");
	setenv("LD_PRELOAD", all, 1);
	free(all);
}
