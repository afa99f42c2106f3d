/* SPDX-License-Identifier: BSD-3-Clause */
#include "raw_folder.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/memory.h"

static const char digits[] = "0123456789";

const char *
raw_name_segment(const char *name)
{
	size_t length;

	if (strncmp(name, "rank.", 5) != 0 || (length = strspn(name + 5, digits)) == 0)
		return NULL;
	name += 5 + length;
	if (*name == '.' && name[1] != '\0')
		name++;
	return name[strspn(name, digits)] == '\0' ? name : NULL;
}

int
is_raw_name(const struct dirent *entry)
{
	return raw_name_segment(entry->d_name) != NULL;
}

int
is_world_name(const struct dirent *entry)
{
	const char *number = entry->d_name + strlen("world.");

	return strncmp(entry->d_name, "world.", strlen("world.")) == 0 && *number != '\0' &&
	    number[strspn(number, digits)] == '\0';
}

struct paths
folder_paths(const char *folder, int (*is_name)(const struct dirent *))
{
	struct dirent **entries;
	struct paths paths = { .count = scandir(folder, &entries, is_name, versionsort) };

	if (paths.count < 0)
		return paths;
	paths.at = zalloc((size_t)paths.count, sizeof *paths.at);
	for (int i = 0; i < paths.count; i++) {
		paths.at[i] = formatted("%s/%s", folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return paths;
}

void
paths_free(struct paths *paths)
{
	for (int i = 0; i < paths->count; i++)
		free(paths->at[i]);
	free(paths->at);
}
