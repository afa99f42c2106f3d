/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A launcher kills what it has started as soon as one of it fails. So the process that merges is none of that: it
 * is started by the node's first lp-record, in a session of its own, and sleeps until nobody holds the lock
 * of those whose program runs. All that lp-records and this process have in common is a file in the folder of
 * raw traces: locks on its first bytes, the ranks in its lines, and a last line with how it went.
 */
#include "gather.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/run/shard_files.h"
#include "../base/team/launcher.h"
#include "../base/tool/tool.h"
#include "gatherer.h"
#include "nodes.h"

struct gather_job job = { .fd = -1 };

/* ---- locks ---- */

bool
try_lock(int fd, enum lock which, short how, int command)
{
	struct flock bytes = { .l_type = how, .l_whence = SEEK_SET, .l_start = which, .l_len = 1 };

	if (fcntl(fd, command, &bytes) == 0)
		return true;
	if (errno != EAGAIN && errno != EACCES && errno != EINTR)
		die("%s: no locks can be had there: %s", job.folder, strerror(errno));
	return false;
}

void
lock(int fd, enum lock which, short how)
{
	while (!try_lock(fd, which, how, F_OFD_SETLKW))
		continue;
}

void
unlock(int fd, enum lock which)
{
	lock(fd, which, F_UNLCK);
}

static char *
lock_file(void)
{
	char *path;

	if (asprintf(&path, "%s/.merging.%s", job.folder, job.host) < 0)
		die("out of memory");
	return path;
}

static int
open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return fd;
}

static bool
is_held(int fd, enum lock which)
{
	struct flock bytes = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = which, .l_len = 1 };

	if (fcntl(fd, F_OFD_GETLK, &bytes) < 0)
		die("%s: no locks can be had there: %s", job.folder, strerror(errno));
	return bytes.l_type != F_UNLCK;
}

bool
is_file_at(const char *path, int fd)
{
	struct stat there, own;

	return lstat(path, &there) == 0 && fstat(fd, &own) == 0 && there.st_dev == own.st_dev &&
	    there.st_ino == own.st_ino;
}

/*
 * The file, with the lock of those who start. One who ended has perhaps taken it away meanwhile; and the
 * process of a job that was killed may still wait for those who never came.
 */
static int
open_to_start(const char *path)
{
	for (;;) {
		int fd = open_file(path);

		lock(fd, STARTING, F_WRLCK);
		if (is_file_at(path, fd)) {
			if (!is_held(fd, GATHERING) || is_held(fd, ALIVE))
				return fd;
			unlink(path);
		}
		close(fd);
	}
}

char *
read_lines(int fd)
{
	struct stat status;
	char *text;
	ssize_t got;

	if (fstat(fd, &status) != 0)
		die("%s: %s", job.folder, strerror(errno));
	text = zalloc((size_t)status.st_size + 1, 1);
	if ((got = pread(fd, text, (size_t)status.st_size, 0)) < 0)
		die("%s: %s", job.folder, strerror(errno));
	return text;
}

void
add_line(int fd, const char *word, int number)
{
	char line[40];
	const int size = snprintf(line, sizeof line, "%s %d\n", word, number);

	if (write(fd, line, (size_t)size) != size)
		note("%s: %s", job.folder, strerror(errno));
}

/* ---- in each lp-record ---- */

static void
remove_file(const char *path)
{
	unlink(path);
}

/* What ranks of an earlier job have left on this node, where rank 0 does not see it. */
static void
remove_earlier(void)
{
	struct node node = { .run_count = 0 };

	find_runs(&node, job.folder, job.host);
	for (size_t i = 0; i < node.run_count; i++)
		for (size_t f = 0; f < node.runs[i].count; f++)
			remove_file(node.runs[i].files[f]);
}

static void
start_gatherer(const char *path)
{
	const int fd = open_file(path);	/* locks belong to an opening: it has one of its own */
	pid_t child;

	lock(fd, GATHERING, F_WRLCK);
	if ((child = fork()) < 0)
		die("cannot start a process: %s", strerror(errno));
	if (child == 0) {
		close(job.fd);
		gather_here(path, fd);
	}
	close(fd);
}

void
gather_begin(const char *shards, const char *folder)
{
	const struct team alone = { .size = 1 };
	char *path;

	job.launched = launcher_tells(&job.rank, &job.ranks);
	if (!job.launched)
		job.ranks = 1;
	job.shards = shards;
	job.folder = folder;
	if (asprintf(&job.meeting, "%s.merging", shards) < 0)
		die("out of memory");
	gethostname(job.host, sizeof job.host - 1);
	if (job.rank == 0) {
		shards_prepare(shards, &alone);
		nodes_prepare(job.meeting);
	}
	if (!job.launched)
		return;
	path = lock_file();
	job.fd = open_to_start(path);
	if (!is_held(job.fd, GATHERING)) {
		if (ftruncate(job.fd, 0) != 0)
			die("%s: %s", path, strerror(errno));
		if (job.rank != 0)
			remove_earlier();
		start_gatherer(path);
	}
	add_line(job.fd, "rank", job.rank);
	lock(job.fd, RUNNING, F_RDLCK);
	lock(job.fd, ALIVE, F_RDLCK);
	unlock(job.fd, STARTING);
	free(path);
}

int
gather_end(bool failed)
{
	char *lines, *done;
	int status = TROUBLE;

	if (!job.launched)
		return gather_alone();
	if (failed)
		add_line(job.fd, "failed", job.rank);
	unlock(job.fd, RUNNING);
	if (failed)
		return DONE;
	if (!try_lock(job.fd, GATHERING, F_RDLCK, F_OFD_SETLKW))
		return TROUBLE;		/* a signal: somebody wants an end */
	lines = read_lines(job.fd);
	if ((done = strstr(lines, "done ")) != NULL)
		status = atoi(done + strlen("done "));
	else if (sscanf(lines, "rank %d", &job.ranks) == 1 && job.ranks == job.rank)
		note("%s: the process that merges was killed; the raw traces stay", job.folder);
	free(lines);
	return status;
}
