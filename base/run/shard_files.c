/* SPDX-License-Identifier: BSD-3-Clause */
#include "shard_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tool/tool.h"

void
shard_name(char name[SHARD_NAME], uint32_t number)
{
	snprintf(name, SHARD_NAME, "shard.%06u", number);
}

static bool
is_shard_name(const char *name)
{
	return strncmp(name, "shard.", 6) == 0 && strlen(name) >= 12 &&
	    strspn(name + 6, "0123456789") == strlen(name) - 6;
}

/* Removes the shards of an earlier run, which would pass for shards of this run. */
static void
make_folder(const char *folder)
{
	struct dirent *entry;
	DIR *open;

	if (mkdir(folder, 0777) == 0)
		return;
	if (errno != EEXIST || (open = opendir(folder)) == NULL)
		die("%s: %s", folder, strerror(errno));
	while ((entry = readdir(open)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !is_shard_name(entry->d_name))
			die("%s: holds %s: shards have a folder of their own", folder,
			    entry->d_name);
	rewinddir(open);
	while ((entry = readdir(open)) != NULL)
		if (is_shard_name(entry->d_name) && unlinkat(dirfd(open), entry->d_name, 0) < 0)
			die("%s/%s: %s", folder, entry->d_name, strerror(errno));
	closedir(open);
}

void
shards_prepare(const char *folder, const struct team *team)
{
	if (team->rank == 0)
		make_folder(folder);
	team_sum(team, 0);
}

int
shard_create(const char *folder, uint32_t number)
{
	static char *path;
	char name[SHARD_NAME];
	int fd;

	shard_name(name, number);
	free(path);
	path = formatted("%s/%s", folder, name);
	output_name = path;
	if ((fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		die_output();
	return fd;
}

void
shard_write(struct writer *out, const struct shard_head *head)
{
	message_begin(out, "shard", 6);
	put_uint(out, "run", head->run);
	put_uint(out, "number", head->number);
	put_uint(out, "shards", head->count);
	put_uint(out, "defined", head->defined);
	put_uint(out, "count", head->ranks);
	put_column(out, "of", head->of, head->ranks);
	end_message(out);
}

void
shards_of_member(const struct team *team, int member, uint32_t count, uint32_t *first,
    uint32_t *end)
{
	*first = (uint32_t)((uint64_t)count * (uint64_t)member / (uint64_t)team->size);
	*end = (uint32_t)((uint64_t)count * (uint64_t)(member + 1) / (uint64_t)team->size);
}
