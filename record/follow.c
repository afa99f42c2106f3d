/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compression while the program runs: a process beside it looks for segments that have got their end, and has each
 * made smaller by a process of its own, under another name that then becomes the segment's. These run where a core is
 * idle only; when ranks are too far ahead of them they take their share of the cores, which is said once.
 */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/tool/tool.h"
#include "compress.h"
#include "folder.h"

enum {
	LOOK_NS = 50000000,	/* from one look to the next */
	MOST_BEHIND = 4,	/* segments that wait, for each core, before cores are shared with the program */
	SEGMENT_END_BYTES = 58,	/* the message that ends a segment before others: preload/file.c */
};

static struct {
	void *known;		/* paths, for tsearch() */
	char **open;		/* those that have no end yet, or wait */
	size_t count, capacity;
	const char *rank;	/* whose traces alone; NULL: all */
	time_t looked_s;	/* when the folder was last looked through */
	int level;
	bool hurries;
} segments;

static int
by_path(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void
add_segment(const char *path)
{
	char *copy;

	if (!folder_is_of_rank(path, segments.rank) || tfind(path, &segments.known, by_path) != NULL)
		return;
	copy = need(strdup(path));
	need(tsearch(copy, &segments.known, by_path));
	segments.open = grow(segments.open, &segments.capacity, segments.count + 1, sizeof *segments.open);
	segments.open[segments.count++] = copy;
}

static void
add_world(const char *folder)
{
	folder_for_each(folder, add_segment);
}

/* Those of further runs come into folders of their own. */
static void
look(const char *folder)
{
	struct stat status;

	/* Times of files are not exact. */
	if (stat(folder, &status) == 0 && status.st_mtim.tv_sec + 2 >= segments.looked_s) {
		segments.looked_s = time(NULL);
		folder_for_each(folder, add_segment);
	}
	folder_for_each_world(folder, add_world);
}

/* The file ends with the message that ends it, and not with room for more. */
static bool
has_end(const char *path)
{
	static const char end[] = "\222\243end";
	unsigned char tail[SEGMENT_END_BYTES];
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	bool has = fd >= 0 && fstat(fd, &status) == 0 && status.st_size > SEGMENT_END_BYTES &&
	    pread(fd, tail, sizeof tail, status.st_size - SEGMENT_END_BYTES) == SEGMENT_END_BYTES &&
	    memcmp(tail, end, strlen(end)) == 0;

	if (fd >= 0)
		close(fd);
	return has;
}

/* Those that have their end come first; how many. */
static size_t
find_ended(void)
{
	size_t ended = 0;

	for (size_t i = 0; i < segments.count; i++)
		if (has_end(segments.open[i])) {
			char *path = segments.open[i];

			segments.open[i] = segments.open[ended];
			segments.open[ended++] = path;
		}
	return ended;
}

static void
give_work(long cores)
{
	size_t ended = find_ended();
	const bool hurries = ended > MOST_BEHIND * (size_t)cores;

	if (hurries && !segments.hurries)
		note("no core is idle: compression takes its share of the cores");
	segments.hurries |= hurries;
	compress_when_idle(!hurries);
	while (ended > 0 && compress_running() < cores) {
		compress_start(segments.open[--ended], segments.level);
		segments.open[ended] = segments.open[--segments.count];
	}
}

static _Noreturn void
follow(const char *folder)
{
	const long online = sysconf(_SC_NPROCESSORS_ONLN), cores = segments.rank != NULL || online < 1 ? 1 : online;
	const struct timespec pause = { 0, LOOK_NS };

	for (;;) {
		look(folder);
		compress_reap();
		give_work(cores);
		nanosleep(&pause, NULL);
	}
}

/* ---- the process ---- */

static pid_t follower;

bool
follow_can(const char *folder)
{
	static const unsigned long own[] = { 0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1,
		0xf2f52010, 0xca451a4e };	/* ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs */
	struct statfs status;

	if (statfs(folder, &status) == 0)
		for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
			if ((unsigned long)status.f_type == own[i])
				return true;
	return false;
}

void
follow_start(const char *folder, const char *rank, int level)
{
	const pid_t parent = getpid();

	if ((follower = fork()) != 0)
		return;
	/* Signals stay held back: a terminal's are for the program. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(TROUBLE);
	segments.rank = rank;
	segments.level = level;
	follow(folder);
}

void
follow_stop(void)
{
	if (follower <= 0)
		return;
	kill(follower, SIGKILL);
	while (waitpid(follower, NULL, 0) < 0 && errno == EINTR)
		continue;
	follower = 0;
}
