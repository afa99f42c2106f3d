/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

void
folder_remove(const char *folder)
{
	DIR *open = opendir(folder);
	struct dirent *entry;

	if (open == NULL)
		return;
	while ((entry = readdir(open)) != NULL) {
		char *path;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			die("out of memory");
		if (unlink(path) != 0 && (errno == EISDIR || errno == EPERM))
			folder_remove(path);
		free(path);
	}
	closedir(open);
	rmdir(folder);
}
