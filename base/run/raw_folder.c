/* SPDX-License-Identifier: BSD-3-Clause */
#include "raw_folder.h"

#include <stdlib.h>
#include <string.h>

#include "../stream/stream.h"
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
is_starting_name(const struct dirent *entry)
{
	const char *segment = entry->d_name[0] == '.' ? raw_name_segment(entry->d_name + 1) : NULL;

	return segment != NULL && *segment != '\0';
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

/* Whether the trace is of a spawned rank. */
static bool
is_spawned(const char *file)
{
	struct message message;
	struct reader *in = NULL;
	bool is = false;

	if (reader_open(&in, file, READ_ANY) == 0)
		while (reader_next(in, &message) > 0 &&
		    !(is = body_get(&message, "spawned") != NULL) && !is_kind(&message, "rank"))
			;
	reader_close(in);
	return is;
}

struct paths
folder_run(const char *folder)
{
	struct paths found = folder_paths(folder, is_raw_name);
	struct paths worlds = folder_paths(folder, is_world_name);

	for (int w = 0; w < worlds.count; w++) {
		struct paths more = folder_run(worlds.at[w]);

		if (found.count < 0 || more.count <= 0 || !is_spawned(more.at[0])) {
			paths_free(&more);
			continue;
		}
		found.at = need(realloc(found.at,
		    (size_t)(found.count + more.count) * sizeof *found.at));
		memcpy(found.at + found.count, more.at, (size_t)more.count * sizeof *found.at);
		found.count += more.count;
		free(more.at);
	}
	paths_free(&worlds);
	return found;
}
