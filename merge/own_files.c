/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file seen by several processes, of one host or through a network file system, is one file: it
 * has the same name, number, size and time for all. The first process that sees it reads it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../base/tool/hash_table.h"
#include "../base/tool/spool.h"
#include "../base/tool/text.h"
#include "merge.h"

enum { COPIED = 1 << 20 };	/* bytes of a file at once */

struct seen {
	/* name: a hash of its last part; 0: the slot is free */
	uint64_t name, number, size, time_ns;
	uint64_t place;	/* index among all processes' files, one process after another */
};

#define HASH(s) mix((s)->name ^ (s)->number, (s)->size ^ (s)->time_ns)
#define SAME(a, b) (memcmp(a, b, offsetof(struct seen, place)) == 0)
HASH_TABLE_BY(files, struct seen, HASH, SAME, name, 0)

static struct seen
see(const char *file)
{
	const char *name = file_name(file);
	struct seen seen = { .name = XXH3_64bits(name, strlen(name)) | 1 };
	struct stat status;

	if (stat(file, &status) == 0) {		/* else reading will report the error */
		seen.number = status.st_ino;
		seen.size = (uint64_t)status.st_size;
		seen.time_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
		    (uint64_t)status.st_mtim.tv_nsec;
	}
	return seen;
}

static bool
all_see_the_same(const struct seen *own, size_t count, const struct team *team)
{
	const int64_t hash = (int64_t)(XXH3_64bits(own, count * sizeof *own) >> 2);
	int64_t most[2] = { hash, -hash };

	team_max(team, most, 2);
	return most[0] == -most[1];
}

/* Keeps the files that no process before this one sees. */
static void
keep_own(struct input *input, const struct team *team, const struct seen *own)
{
	struct files first = { 0 };
	const uint64_t count = input->file_count;
	size_t all, before, kept = 0;
	struct seen *seen = team_share(team, own, input->file_count, sizeof *own, &all);
	uint64_t *counts = team_share(team, &count, 1, sizeof *counts, &before);

	before = 0;
	for (int member = 0; member < team->rank; member++)
		before += counts[member];
	files_begin(&first, 1024);
	for (size_t i = 0; i < all; i++) {
		seen[i].place = i;
		if (files_find(&first, &seen[i]) == NULL)
			*files_add(&first, &seen[i]) = seen[i];
	}
	for (size_t i = 0; i < input->file_count; i++)
		if (files_find(&first, &own[i])->place == before + i)
			input->files[kept++] = input->files[i];
	input->file_count = kept;
	free(first.slots);
	free(counts);
	free(seen);
}

void
divide_files(struct input *input, const struct team *team)
{
	struct seen *own = zalloc(input->file_count, sizeof *own);

	for (size_t i = 0; i < input->file_count; i++)
		own[i] = see(input->files[i]);
	if (!all_see_the_same(own, input->file_count, team)) {
		keep_own(input, team, own);
		input->holders = (uint32_t)team->size;
	}
	free(own);
	team_part(team);
	if (input->holders == 0 && input->file_count == 0)
		die("%s", input->no_file);
	team_meet(team);
}

/* ---- copies ---- */

/* Sends the file to all, in pieces; processes that want it store it at OFFSET. Returns its size. */
static uint64_t
copy_file(const char *file, bool own, const struct team *team, int spool, bool wanted,
    uint64_t offset)
{
	static char piece[COPIED];
	const int fd = own ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	uint64_t size = 0;
	size_t count;

	team_part(team);
	if (own && fd < 0)
		die("%s: %s", file, strerror(errno));
	team_meet(team);
	do {
		const ssize_t got = own ? pread(fd, piece, sizeof piece, (off_t)size) : 0;
		char *bytes;

		team_part(team);
		if (got < 0)
			die("%s: %s", file, strerror(errno));
		team_meet(team);
		bytes = team_share(team, piece, (size_t)got, 1, &count);
		if (wanted)
			spool_put(spool, bytes, count, offset + size);
		size += count;
		free(bytes);
	} while (count > 0);
	if (own)
		close(fd);
	return size;
}

void
files_to_all(struct input *input, const struct team *team)
{
	const bool reads = team->rank == 0;
	const int spool = reads ? spool_open() : -1;
	uint64_t offset = 0;
	char *name;

	name = formatted("/proc/self/fd/%d", spool);
	for (struct rank *rank = input->ranks; rank < input->ranks + input->rank_count; rank++) {
		const bool own = rank->holder == team->rank, wanted = reads && !own;

		for (size_t i = 0; rank->present && i < rank->segments_count; i++) {
			struct raw_segment *segment = &rank->segments[i];
			const uint64_t size = copy_file(segment->file, own, team, spool,
			    wanted, offset);

			if (!wanted)
				continue;
			segment->file = name;
			segment->base = offset;
			offset += size;
		}
	}
}
