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
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "file.h"
#include "pack.h"

struct raw_file raw = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

int
file_promise(uint64_t end)
{
	struct rlimit limit;
	int error;

	if (end <= raw.reserved)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur)
		return EFBIG;		/* to try would send the program a signal */
	do
		error = posix_fallocate(raw.fd, (off_t)raw.reserved, (off_t)(end - raw.reserved));
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
		give_up(raw.path, error);
	return error == 0;
}

bool
file_write(const unsigned char *bytes, size_t size, uint64_t offset)
{
	while (size > 0) {
		ssize_t wrote = pwrite(raw.fd, bytes, size, (off_t)offset);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			give_up(raw.path, errno);
			return false;
		}
		bytes += wrote;
		offset += (uint64_t)wrote;
		size -= (size_t)wrote;
	}
	return true;
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
	if (!file_reserve(small->size) || !file_write(small->bytes + 1, small->size - 1, raw.tail + 1) ||
	    !file_write(small->bytes, 1, raw.tail))
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

bool
file_claim(const char *path)
{
	raw.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return raw.fd >= 0 || errno != EEXIST;
}

bool
file_open(const char *folder, int rank)
{
	struct small small;
	char line[2048];

	snprintf(raw.path, sizeof raw.path, "%s/rank.%d", folder, rank);
	if (raw.fd < 0) {
		unlink(raw.path);	/* not cut: a run that still goes on may have it mapped */
		if (!file_claim(raw.path))
			errno = EEXIST;
	}
	if (raw.fd < 0) {
		give_up(raw.path, errno);
		return false;
	}
	command_line(line, sizeof line);
	small_begin(&small, "longpole", 4);
	small_uint(&small, "version", 1);
	small_string(&small, "content", "raw");
	small_true(&small, "hashed");
	small_strings(&small, "history", line);
	small_append(&small);
	raw.messages = 0;
	return !lost;
}

void
file_close(struct thread *threads)
{
	struct small small;

	pthread_mutex_lock(&raw.lock);
	for (struct thread *thread = threads; thread != NULL; thread = thread->next)
		block_close(&thread->block);
	recording = true;	/* for small_write; no call is recorded any more: depth is 1 */
	small_begin(&small, "end", 2);
	small_uint(&small, "messages", raw.messages);
	small_uint(&small, "rows", raw.rows);
	small_write(&small);
	recording = false;
	if (ftruncate(raw.fd, (off_t)raw.tail) != 0 || close(raw.fd) != 0)
		give_up(raw.path, errno);
	raw.fd = -1;
	pthread_mutex_unlock(&raw.lock);
}
