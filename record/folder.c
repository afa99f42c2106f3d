/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../base/tool/tool.h"
#include "record.h"

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

/* rank.N.new and rank.N.K.new, or a segment without a name. */
static int
is_unfinished_name(const struct dirent *entry)
{
	struct dirent name = *entry;
	const size_t length = strlen(name.d_name), tail = strlen(UNFINISHED);

	if (strncmp(name.d_name, ".rank.", 6) == 0)
		return !is_starting_name(entry);
	if (length <= tail || strcmp(name.d_name + length - tail, UNFINISHED) != 0)
		return 0;
	name.d_name[length - tail] = '\0';
	return is_raw_name(&name);
}

ssize_t
file_part(const char *path, off_t offset, void *to, size_t size)
{
	/* a pipe does not block */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat status;
	ssize_t got = -1;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		got = pread(fd, to, size, offset < 0 ? status.st_size + offset : offset);
	if (fd >= 0)
		close(fd);
	return got;
}

/* A raw trace, or the empty beginning of one. A folder may hold other files. */
static bool
is_trace(const char *path)
{
	static const char head[] = "\222\250longpole";
	char bytes[sizeof head - 1];
	const ssize_t got = file_part(path, 0, bytes, sizeof bytes);

	return got == 0 || (got == (ssize_t)sizeof bytes && memcmp(bytes, head, sizeof bytes) == 0);
}

static bool
is_of_rank(const char *path, const char *rank)
{
	const char *number = strstr(strrchr(path, '/'), "rank.") + strlen("rank.");

	return rank == NULL || (strncmp(number, rank, strlen(rank)) == 0 &&
	    strspn(number, "0123456789") == strlen(rank));
}

static struct paths
traces_named(const char *folder, const char *rank, int (*is_name)(const struct dirent *))
{
	struct paths found = folder_paths(folder, is_name);
	int kept = 0;

	for (int i = 0; i < found.count; i++)
		if (is_of_rank(found.at[i], rank) && is_trace(found.at[i]))
			found.at[kept++] = found.at[i];
		else
			free(found.at[i]);
	found.count = kept;
	return found;
}

struct paths
folder_traces(const char *folder, const char *rank)
{
	return traces_named(folder, rank, is_raw_name);
}

struct paths
folder_starting(const char *folder, const char *rank)
{
	return traces_named(folder, rank, is_starting_name);
}

static void
remove_files(struct paths paths)
{
	for (int i = 0; i < paths.count; i++)
		unlink(paths.at[i]);
	paths_free(&paths);
}

void
folder_remove_unfinished(const char *folder, const char *rank)
{
	struct paths found = folder_traces(folder, rank);
	struct paths worlds = folder_paths(folder, is_world_name);
	char *new;

	for (int i = 0; i < found.count; i++)
		if (asprintf(&new, "%s" UNFINISHED, found.at[i]) >= 0) {
			unlink(new);
			free(new);
		}
	for (int i = 0; i < worlds.count; i++)
		folder_remove_unfinished(worlds.at[i], rank);
	paths_free(&worlds);
	paths_free(&found);
}

static void
remove_traces(const char *folder)
{
	remove_files(folder_paths(folder, is_unfinished_name));
	remove_files(folder_traces(folder, NULL));
}

void
folder_remove_traces(const char *folder)
{
	struct paths worlds = folder_paths(folder, is_world_name);

	for (int i = 0; i < worlds.count; i++) {
		remove_traces(worlds.at[i]);
		rmdir(worlds.at[i]);
	}
	paths_free(&worlds);
	remove_traces(folder);
}

void
folder_remove_starting(const char *folder, const char *rank)
{
	remove_files(folder_starting(folder, rank));
}

void
folder_refuse_others(const char *folder)
{
	struct paths found = folder_paths(folder, is_raw_name);
	struct stat status;

	for (int i = 0; i < found.count; i++)
		if (!is_trace(found.at[i]) && lstat(found.at[i], &status) == 0)
			die("%s: is not a raw trace, but has the name of one", found.at[i]);
	paths_free(&found);
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

bool
folder_is_local(const char *folder)
{
	/* ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs */
	static const unsigned long own[] = { 0xef53, 0x58465342, 0x9123683e, 0x01021994,
	    0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e };
	struct statfs status;

	if (statfs(folder, &status) == 0)
		for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
			if ((unsigned long)status.f_type == own[i])
				return true;
	return false;
}
