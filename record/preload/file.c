/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The raw trace of a rank. The file is whole at every instant. Rows are stored into a block that is
 * mapped from the file, and become part of the trace when the block's count is stored (blocks.c).
 * Other messages are written at the tail, their first byte last. So nothing is lost with the
 * process, however it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/stream/shell.h"
#include "file.h"
#include "small.h"

static char unnamed[4096 + 20];	/* the file until the rank is known */
static struct segment first = { .fd = -1 };
struct raw_file raw = { .now = &first, .lock = PTHREAD_MUTEX_INITIALIZER };

static bool
is_ours(int fd, struct stat *status)
{
	return fd >= 0 && fstat(fd, status) == 0 && status->st_dev == raw.now->device &&
	    status->st_ino == raw.now->inode;
}

int
file_fd(void)
{
	struct stat status;

	if (lost)
		return -1;
	if (!is_ours(raw.now->fd, &status)) {
		/* the old descriptor may be someone else's; so may a file of our name */
		const int fd = open(raw.now->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		const bool found = is_ours(fd, &status);

		raw.now->fd = found ? fd : -1;
		if (fd >= 0 && !found)
			close(fd);
		if (!found) {
			give_up(raw.now->path,
			    "the program has closed it, and it is not there any more");
			return -1;
		}
	}
	if ((uint64_t)status.st_size < raw.now->reserved) {
		/* as NFS does if its server is full */
		give_up(raw.now->path, fsync(raw.now->fd) != 0 ? strerror(errno) :
		    "somebody has cut it");
		return -1;
	}
	return raw.now->fd;
}

int
file_promise(uint64_t end)
{
	struct rlimit limit;
	int error, fd;

	if (end <= raw.now->reserved)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur)
		return EFBIG;		/* trying would send the program SIGXFSZ */
	if ((fd = file_fd()) < 0)
		return EBADF;
	do
		error = posix_fallocate(fd, (off_t)raw.now->reserved,
		    (off_t)(end - raw.now->reserved));
	while (error == EINTR);
	if (error == 0)
		raw.now->reserved = end;
	return error;
}

bool
file_reserve(size_t size)
{
	int error = file_promise(raw.now->tail + size + 1);

	if (error != 0)
		give_up(raw.now->path, strerror(error));
	return error == 0;
}

bool
file_write(const unsigned char *bytes, size_t size, uint64_t offset)
{
	const int fd = file_fd();

	while (fd >= 0 && size > 0) {
		ssize_t wrote = pwrite(fd, bytes, size, (off_t)offset);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			give_up(raw.now->path, strerror(errno));
			return false;
		}
		bytes += wrote;
		offset += (uint64_t)wrote;
		size -= (size_t)wrote;
	}
	return fd >= 0;
}

enum { COMMAND = 2048 };		/* bytes kept of a command line */

/* The program's command line, quoted for a shell. */
static void
command_line(char line[SHELL_WORD_BYTES(COMMAND)])
{
	FILE *file = fopen("/proc/self/cmdline", "r");
	char words[COMMAND], *end = line;
	const size_t got = file != NULL ? fread(words, 1, sizeof words - 1, file) : 0;

	if (file != NULL)
		fclose(file);
	words[got] = '\0';
	*end = '\0';
	for (size_t i = 0; i < got && (size_t)(end - line) + SHELL_WORD_BYTES(strlen(words + i)) <
	    SHELL_WORD_BYTES(COMMAND); i += strlen(words + i) + 1) {
		if (i > 0)
			*end++ = ' ';
		end = shell_word(end, words + i);
	}
}

/*
 * What lies at the path: nothing, a trace (or its beginning: a process may die between two writes),
 * or something foreign. The path may be a link or a pipe, so it is neither followed nor waited for.
 */
enum found { NOTHING, TRACE, FOREIGN };

static enum found
look(const char *path)
{
	static const char head[] = "\222\250longpole";
	char bytes[sizeof head - 1];
	enum found found = FOREIGN;
	struct stat status;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? NOTHING : FOREIGN;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (got = read(fd, bytes, sizeof bytes)) >= 0 &&
	    (got <= 1 || ((bytes[0] == head[0] || bytes[0] == 0) && got == (ssize_t)sizeof bytes &&
	    memcmp(bytes + 1, head + 1, sizeof bytes - 1) == 0)))
		found = TRACE;
	close(fd);
	return found;
}

/* To a high number: programs close low ones that they take for theirs. */
static int
move_up(int fd)
{
	struct rlimit limit;
	int most = 1024, high;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)most)
		most = (int)limit.rlim_cur;
	if (most < 64 || (high = fcntl(fd, F_DUPFD_CLOEXEC, most - 24)) < 0)
		return fd;
	close(fd);
	return high;
}

void
file_room(void)
{
	const int fd = open("/", O_PATH | O_CLOEXEC);

	if (fd >= 0)
		close(move_up(fd));
}

/* Begins a segment's file without a name, up to its header. Sets raw.now->path. */
static bool
begin_unnamed(void)
{
	const char *slash = strrchr(raw.now->path, '/');
	struct stat status;
	char line[SHELL_WORD_BYTES(COMMAND)];
	int fd = -1;

	if (snprintf(unnamed, sizeof unnamed, "%.*s/.%s.%d", (int)(slash - raw.now->path),
	    raw.now->path, slash + 1, (int)getpid()) < (int)sizeof unnamed) {
		unlink(unnamed);
		fd = open(unnamed,
		    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	}
	if (fd < 0 || fstat(fd, &status) != 0) {
		give_up(raw.now->path, strerror(errno));
		return false;
	}
	raw.now->fd = move_up(fd);
	raw.now->device = status.st_dev;
	raw.now->inode = status.st_ino;
	command_line(line);
	small_write("longpole", PAIRS(
	    pair_uint("version", 1),
	    pair_text("content", "raw"),
	    pair_true("hashed", true),
	    { PAIR_TEXTS, "history", 0, line }));
	raw.now->messages = 0;
	return !lost;
}

bool
file_begin(const char *folder, int rank)
{
	const bool begun = first.tail > 0;	/* as the rank that the launcher told */

	snprintf(first.path, sizeof first.path, "%s/rank.%d", folder, rank);
	return begun || lost ? !lost : begin_unnamed();
}

/*
 * Network file systems may lack renameat2(), others have no links; there a race with another run is
 * possible.
 */
static bool
give_name(const char *path)
{
	if (renameat2(AT_FDCWD, unnamed, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EEXIST && link(unnamed, path) == 0) {
		unlink(unnamed);
		return true;
	}
	if (errno == EEXIST)
		return false;
	if (look(path) != NOTHING) {
		errno = EEXIST;
		return false;
	}
	return rename(unnamed, path) == 0;
}

/* Takes the name, from the trace of an earlier run if necessary. */
static void
take_name(void)
{
	const char *path = raw.now->path, *why;

	if (look(path) == TRACE)
		unlink(path);		/* not truncated: a run in progress may have it mapped */
	if (give_name(path))
		return;
	why = strerror(errno);
	unlink(unnamed);
	give_up(path, why);
}

bool
file_is_first(void)
{
	return lost || give_name(raw.now->path) || errno != EEXIST;
}

void
file_name(const char *folder, int rank)
{
	char path[sizeof raw.now->path];

	if (lost) {
		unlink(unnamed);
		return;
	}
	guard_begin();		/* after MPI_Init, which sets handlers, too */
	snprintf(path, sizeof path, "%s/rank.%d", folder, rank);
	if (access(unnamed, F_OK) != 0 && strcmp(path, raw.now->path) == 0)
		return;			/* the first segment has its name already */
	strcpy(raw.now->path, path);
	take_name();
}

void
segment_next(void)
{
	struct segment *next = zeroed(sizeof *next);

	if (next == NULL)
		return;
	next->fd = -1;
	next->number = raw.now->number + 1;
	if (snprintf(next->path, sizeof next->path, "%s.%04u", first.path,
	    next->number) >= (int)sizeof next->path) {
		give_up(first.path, strerror(ENAMETOOLONG));
		return;
	}
	if (raw.now->blocks == 0)
		segment_end(raw.now, true);
	raw.now = next;
	if (!begin_unnamed())
		return;
	rank_write(next->number);
	if (!lost)
		take_name();
}

void
segment_end(struct segment *segment, bool more)
{
	struct segment *now = raw.now;
	int fd;

	raw.now = segment;
	small_write("end", PAIRS(
	    pair_uint("messages", segment->messages),
	    pair_uint("rows", segment->rows),
	    pair_true("more", more)));
	if ((fd = file_fd()) >= 0 && (ftruncate(fd, (off_t)segment->tail) != 0 || close(fd) != 0))
		give_up(segment->path, strerror(errno));
	mapping_leave(segment);
	segment->fd = -1;
	raw.now = now;
	if (more && segment != &first)
		free(segment);
}

void
file_close(void)
{
	regions_stop();
	pthread_mutex_lock(&raw.lock);
	recording = true;	/* needed by small_write; no calls are recorded any more */
	for (struct thread *thread = all_threads; thread != NULL; thread = thread->next) {
		block_close(&thread->block, false);
		block_close(&thread->regions, thread != self);
	}
	segment_end(raw.now, false);
	recording = false;
	guard_end();
	pthread_mutex_unlock(&raw.lock);
}
