/* SPDX-License-Identifier: BSD-3-Clause */
#include "meet.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tool/folder.h"
#include "../tool/tool.h"

enum { COPIED = 1 << 16 };	/* bytes of a file at once */

struct meeting {
	const char *folder;
	unsigned turn;		/* of what is told; the same on all members */
};

static struct meeting *
meeting_of(const struct team *team)
{
	return team->comm;
}

char *
meet_file(const struct team *team, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", meeting_of(team)->folder, name) < 0)
		die("out of memory");
	return path;
}

static char *
told_file(const struct team *team, int member, unsigned turn)
{
	char name[40];

	snprintf(name, sizeof name, "told.%d.%u", member, turn);
	return meet_file(team, name);
}

/* ---- who fails ---- */

/* True for the first that does. Where there is no room for a file an empty one is enough, or nobody knows. */
static bool
is_first_to_fail(const char *folder)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/failed", folder) < 0)
		return true;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	free(path);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EEXIST;
}

/* What the child says, to its end. */
static size_t
hear(int from, char **said)
{
	size_t size = 0, capacity = 0;
	ssize_t got;

	do {
		*said = grow(*said, &capacity, size + 4096, 1);
		got = read(from, *said + size, 4096);
		size += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	return size;
}

static _Noreturn void
watch(pid_t child, int from, const char *folder)
{
	char *said = NULL;
	size_t size = hear(from, &said);
	int status = 0;
	bool well;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	well = WIFEXITED(status) && WEXITSTATUS(status) == DONE;
	if (!well && !is_first_to_fail(folder))
		_exit(TROUBLE);
	if (size > 0 && write(STDERR_FILENO, said, size) < 0)
		_exit(TROUBLE);
	if (WIFSIGNALED(status))
		note("ended by signal %d", WTERMSIG(status));
	_exit(well ? DONE : TROUBLE);
}

struct team
meet_begin(const char *folder, int member, int size)
{
	struct meeting *meeting = zalloc(1, sizeof *meeting);
	int ends[2];
	pid_t child;

	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		die("%s: %s", folder, strerror(errno));
	if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0)
		die("cannot start a process: %s", strerror(errno));
	if (child > 0) {
		close(ends[1]);
		watch(child, ends[0], folder);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(ends[1], STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	meeting->folder = folder;
	return (struct team){ .rank = member, .size = size, .comm = meeting, .apart = true };
}

/* ---- what is told ---- */

/* It has its name when all of it is there. */
static void
put_bytes_as(const char *path, const char *bytes, size_t size)
{
	char *new;
	int fd;

	if (asprintf(&new, "%s.new", path) < 0)
		die("out of memory");
	if ((fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		die("%s: %s", new, strerror(errno));
	for (ssize_t wrote; size > 0; bytes += wrote, size -= (size_t)wrote)
		if ((wrote = write(fd, bytes, size)) < 0) {
			if (errno != EINTR)
				die("%s: %s", new, strerror(errno));
			wrote = 0;
		}
	if (close(fd) != 0 || rename(new, path) != 0)
		die("%s: %s", path, strerror(errno));
	free(new);
}

static void
tell(const struct team *team, const void *bytes, size_t size)
{
	char *path = told_file(team, team->rank, meeting_of(team)->turn);

	put_bytes_as(path, bytes, size);
	free(path);
}

/* Until it is there; where a member has failed it never will be. */
static int
wait_for(const struct team *team, const char *path)
{
	char *failed = meet_file(team, "failed");
	long pause_ns = 1000000;
	int fd;

	while ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
		struct timespec pause = { 0, pause_ns };

		if (errno != ENOENT && errno != ESTALE)
			die("%s: %s", path, strerror(errno));
		if (access(failed, F_OK) == 0)
			_exit(TROUBLE);		/* which says why */
		if (access(meeting_of(team)->folder, F_OK) != 0)
			die("%s: %s", meeting_of(team)->folder, strerror(errno));
		nanosleep(&pause, NULL);
		pause_ns = pause_ns < 128000000 ? 2 * pause_ns : pause_ns;
	}
	free(failed);
	return fd;
}

/* What the member has told this turn, behind what is in ALL. */
static void
listen(const struct team *team, int member, char **all, size_t *size, size_t *capacity)
{
	char *path = told_file(team, member, meeting_of(team)->turn);
	const int fd = wait_for(team, path);
	struct stat status;

	if (fstat(fd, &status) != 0)
		die("%s: %s", path, strerror(errno));
	*all = grow(*all, capacity, *size + (size_t)status.st_size + 1, 1);
	for (size_t left = (size_t)status.st_size; left > 0; ) {
		ssize_t got = read(fd, *all + *size, left);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			die("%s: %s", path, got < 0 ? strerror(errno) : "cut short");
		*size += (size_t)got;
		left -= (size_t)got;
	}
	close(fd);
	free(path);
}

void *
meet_share(const struct team *team, const void *items, size_t count, size_t bytes, size_t *received)
{
	size_t size = 0, capacity = 0;
	char *all = NULL;

	tell(team, items, count * bytes);
	for (int m = 0; m < team->size; m++)
		listen(team, m, &all, &size, &capacity);
	meeting_of(team)->turn++;
	*received = size / bytes;
	return all;
}

void
meet_copy(const struct team *team, void *data, size_t bytes)
{
	size_t size = 0, capacity = 0;
	char *all = NULL;

	if (team->rank == 0)
		tell(team, data, bytes);
	else {
		listen(team, 0, &all, &size, &capacity);
		if (size != bytes)
			die("%s: a member tells something else than is asked for", meeting_of(team)->folder);
		if (bytes > 0)
			memcpy(data, all, bytes);
		free(all);
	}
	meeting_of(team)->turn++;
}

/* Growing traces have holes, which stay holes. */
static void
put_piece(const char *path, int fd, const char *bytes, size_t size)
{
	static const char zeros[COPIED];

	if (memcmp(bytes, zeros, size) == 0) {
		if (lseek(fd, (off_t)size, SEEK_CUR) < 0)
			die("%s: %s", path, strerror(errno));
		return;
	}
	for (ssize_t wrote; size > 0; bytes += wrote, size -= (size_t)wrote)
		if ((wrote = write(fd, bytes, size)) < 0) {
			if (errno != EINTR)
				die("%s: %s", path, strerror(errno));
			wrote = 0;
		}
}

void
meet_put_file(const struct team *team, const char *name, const char *file)
{
	static char bytes[COPIED];
	char *path = meet_file(team, name);
	int from = open(file, O_RDONLY | O_CLOEXEC), to;
	off_t size = 0;
	ssize_t got;

	if (from < 0)
		die("%s: %s", file, strerror(errno));
	if ((to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		die("%s: %s", path, strerror(errno));
	while ((got = read(from, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR))
		if (got > 0) {
			put_piece(path, to, bytes, (size_t)got);
			size += got;
		}
	if (got < 0)
		die("%s: %s", file, strerror(errno));
	if (ftruncate(to, size) != 0 || close(to) != 0)
		die("%s: %s", path, strerror(errno));
	close(from);
	free(path);
}

/* ---- the end ---- */

void
meet_end(const struct team *team)
{
	char *all = NULL;
	size_t size, capacity = 0;

	free(meet_share(team, "", 1, 1, &size));	/* nobody reads anything else any more */
	if (team->rank > 0) {
		tell(team, "", 1);
		return;
	}
	size = 0;
	for (int m = 1; m < team->size; m++)		/* nor that */
		listen(team, m, &all, &size, &capacity);
	folder_remove(meeting_of(team)->folder);
	free(all);
}
