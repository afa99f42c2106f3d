/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/stream/stream.h"
#include "../base/tool/tool.h"
#include "folder.h"

static void
make_folders(const char *folder)
{
	char *path = need(strdup(folder));

	for (char *c = path + 1; *c != '\0'; c++)
		if (*c == '/') {
			*c = '\0';
			mkdir(path, 0777);
			*c = '/';
		}
	free(path);
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		die("%s: %s", folder, strerror(errno));
	if (access(folder, W_OK | X_OK) != 0)
		die("%s: %s", folder, strerror(errno));
}

static int
is_raw_name(const struct dirent *entry)
{
	return strncmp(entry->d_name, "rank.", 5) == 0 && entry->d_name[5] != '\0' &&
	    strspn(entry->d_name + 5, "0123456789") == strlen(entry->d_name + 5);
}

bool
folder_is_trace(const char *path)
{
	static const char head[] = "\222\250longpole";
	char bytes[sizeof head - 1];
	FILE *file = fopen(path, "r");
	bool is = file != NULL && fread(bytes, sizeof bytes, 1, file) == 1 &&
	    memcmp(bytes, head, sizeof bytes) == 0;

	if (file != NULL)
		fclose(file);
	return is;
}

int
folder_for_each(const char *folder, void (*do_it)(const char *path))
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_raw_name, versionsort), found = 0;
	char path[PATH_MAX];

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
		if (folder_is_trace(path)) {
			found++;
			if (do_it != NULL)
				do_it(path);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return found;
}

static void
remove_file(const char *path)
{
	unlink(path);
}

static int
is_world_name(const struct dirent *entry)
{
	return strncmp(entry->d_name, "world.", 6) == 0 && entry->d_name[6] != '\0' &&
	    strspn(entry->d_name + 6, "0123456789") == strlen(entry->d_name + 6);
}

int
folder_remove_traces(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_world_name, alphasort), spawned = 0;
	char path[PATH_MAX];

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
		spawned += folder_for_each(path, remove_file);
		rmdir(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	folder_for_each(folder, remove_file);
	return spawned;
}

void
folder_make(const char *folder, char *real)
{
	const char *parent = getenv("TMPDIR");
	char temporary[PATH_MAX];

	if (folder != NULL)
		make_folders(folder);
	else {
		snprintf(temporary, sizeof temporary, "%s/lp-record.XXXXXX",
		    parent != NULL ? parent : "/tmp");
		if ((folder = mkdtemp(temporary)) == NULL)
			die("%s: %s", temporary, strerror(errno));
	}
	if (realpath(folder, real) == NULL)
		die("%s: %s", folder, strerror(errno));
}
