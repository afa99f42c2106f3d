/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The raw trace of a rank. It is whole at every instant: rows are stored into a block that is mapped
 * from the file, and become part of it when the block's count is stored (blocks.c); other messages
 * are written at the tail, their first byte last. So nothing is lost with the process, however it
 * ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../../base/stream/spare.h"
#include "file.h"
#include "pack.h"
#include "recorder.h"
#include "rows.h"
#include "small.h"

enum {
	FIRST_SPARE = 1 << 18,	/* bytes: for a MiB of messages, compressed */
	PROMISED = 1 << 16,	/* bytes that the disk promises at a time for small messages */
};

static char unnamed[4096 + 20];	/* the file, until it tells what rank it is of */
struct raw_file raw = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

static bool
is_ours(int fd, struct stat *status)
{
	return fd >= 0 && fstat(fd, status) == 0 && status->st_dev == raw.device &&
	    status->st_ino == raw.inode;
}

/* Not the file whose name this is, but the one that was made. The old number may be another's now. */
static bool
open_again(struct stat *status)
{
	int fd = open(raw.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (!is_ours(fd, status)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	raw.fd = fd;
	return true;
}

static int
checked_fd(uint64_t *size)
{
	struct stat status;

	if (lost)
		return -1;
	if (!is_ours(raw.fd, &status) && !open_again(&status)) {
		raw.fd = -1;
		give_up(raw.path, "the program has closed it, and it is not there any more");
		return -1;
	}
	if ((uint64_t)status.st_size < raw.reserved) {
		give_up(raw.path, "somebody has cut it");
		return -1;
	}
	*size = (uint64_t)status.st_size;
	return raw.fd;
}

int
file_fd(void)
{
	uint64_t size;

	return checked_fd(&size);
}

/* The write, of a zero where one is, tells who made it that it is being used (record/ahead.c). */
void
file_take_room(void)
{
	static const unsigned char zero[1];
	uint64_t size;
	int fd;

	if (!options.helped || (fd = checked_fd(&size)) < 0 || size <= raw.reserved)
		return;
	raw.reserved = raw.zeroed = size;
	if (pwrite(fd, zero, 1, (off_t)size - 1) < 0)
		return;		/* it will see by itself */
}

int
file_promise(uint64_t end)
{
	struct rlimit limit;
	int error, fd;

	if (end <= raw.reserved)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur)
		return EFBIG;		/* to try would send the program a signal */
	if ((fd = file_fd()) < 0)
		return EBADF;
	do
		error = posix_fallocate(fd, (off_t)raw.reserved, (off_t)(end - raw.reserved));
	while (error == EINTR);
	if (error == 0)
		raw.reserved = end;
	return error;
}

bool
file_reserve(size_t size)
{
	int error = file_promise(raw.tail + size + 1);

	if (error != 0)
		give_up(raw.path, strerror(error));
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
			give_up(raw.path, strerror(errno));
			return false;
		}
		bytes += wrote;
		offset += (uint64_t)wrote;
		size -= (size_t)wrote;
	}
	return fd >= 0;
}

static bool
tail_write(const unsigned char *bytes, size_t size)
{
	return (file_promise(raw.tail + size + PROMISED) == 0 || file_reserve(size)) &&
	    file_write(bytes + 1, size - 1, raw.tail + 1) && file_write(bytes, 1, raw.tail);
}

void
small_write(struct small *small)
{
	unsigned char *at = small->bytes + small->size;

	if (small->full || !recording || lost)
		return;
	put_text(&at, "xxh3");
	small->size = (size_t)(at - small->bytes);
	put_byte(&at, 0xcf);
	put_big(&at, XXH3_64bits(small->bytes, small->size), 8);
	small->size = (size_t)(at - small->bytes);
	if (!mapped_write(small->bytes, small->size) && !tail_write(small->bytes, small->size))
		return;
	raw.tail += small->size;
	raw.messages++;
}

void
small_append(struct small *small)
{
	pthread_mutex_lock(&raw.lock);
	small_write(small);
	pthread_mutex_unlock(&raw.lock);
	small_free(small);
}

void
file_spare(size_t size)
{
	const size_t all = SPARE_HEAD + size + SPARE_TAIL;
	unsigned char head[SPARE_HEAD];

	spare_head(head, 0, (uint32_t)size);
	if (!options.spare || !file_reserve(all) ||
	    !file_write(spare_tail, sizeof spare_tail, raw.tail + SPARE_HEAD + size) ||
	    !file_write(head + 1, sizeof head - 1, raw.tail + 1) || !file_write(head, 1, raw.tail))
		return;
	raw.tail += all;
}

/* The words of the program's command line, blanks between them. */
static void
command_line(char *line, size_t size)
{
	FILE *words = fopen("/proc/self/cmdline", "r");
	size_t got = words != NULL ? fread(line, 1, size - 1, words) : 0;

	if (words != NULL)
		fclose(words);
	while (got > 0 && line[got - 1] == '\0')
		got--;
	for (size_t i = 0; i < got; i++)
		if (line[i] == '\0' || line[i] == '\n')
			line[i] = ' ';
	line[got] = '\0';
}

/*
 * What lies at the path: nothing, a trace (or the beginning of one: a process may die between any two
 * writes), or something that is not ours. Nothing is followed or waited for: it may be a link or a
 * pipe.
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

/* A high number: programs close low ones that they take for their own. */
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

bool
file_begin(const char *folder, int rank)
{
	struct small small;
	struct stat status;
	char line[2048];
	int fd = -1;

	snprintf(raw.path, sizeof raw.path, "%s/rank.%d", folder, rank);
	if (snprintf(unnamed, sizeof unnamed, "%s/.rank.%d.%d", folder, rank, (int)getpid()) < (int)sizeof unnamed) {
		unlink(unnamed);
		fd = open(unnamed, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	}
	if (fd < 0 || fstat(fd, &status) != 0) {
		give_up(raw.path, strerror(errno));
		return false;
	}
	raw.fd = move_up(fd);
	raw.device = status.st_dev;
	raw.inode = status.st_ino;
	guard_begin();
	command_line(line, sizeof line);
	small_begin(&small, "longpole", 4);
	small_uint(&small, "version", 1);
	small_string(&small, "content", "raw");
	small_true(&small, "hashed");
	small_strings(&small, "history", line);
	small_append(&small);
	file_spare(FIRST_SPARE);
	raw.messages = 0;
	return !lost;
}

/* Some file systems have no links: there another run may come in between. */
static bool
give_name(const char *path)
{
	if (link(unnamed, path) == 0) {
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

bool
file_is_first(void)
{
	return lost || give_name(raw.path) || errno != EEXIST;
}

void
file_name(const char *folder, int rank)
{
	char path[sizeof raw.path];

	if (lost) {
		unlink(unnamed);
		return;
	}
	snprintf(path, sizeof path, "%s/rank.%d", folder, rank);
	if (access(unnamed, F_OK) != 0 && strcmp(path, raw.path) == 0)
		return;			/* it has it, as the first one */
	strcpy(raw.path, path);
	if (look(path) == TRACE)
		unlink(path);		/* not cut: a run that still goes on may have it mapped */
	if (!give_name(path)) {
		const char *why = strerror(errno);

		unlink(unnamed);
		give_up(path, why);
	}
}

void
file_close(struct thread *threads)
{
	struct small small;
	int fd;

	pthread_mutex_lock(&raw.lock);
	for (struct thread *thread = threads; thread != NULL; thread = thread->next)
		block_close(&thread->block);
	recording = true;	/* for small_write; no call is recorded any more */
	small_begin(&small, "end", 2);
	small_uint(&small, "messages", raw.messages);
	small_uint(&small, "rows", raw.rows);
	small_write(&small);
	recording = false;
	raw.reserved = raw.tail;	/* who made room may have seen the end, and taken the rest away */
	if ((fd = file_fd()) >= 0 && (ftruncate(fd, (off_t)raw.tail) != 0 || close(fd) != 0))
		give_up(raw.path, strerror(errno));
	raw.fd = -1;
	guard_end();
	pthread_mutex_unlock(&raw.lock);
}
