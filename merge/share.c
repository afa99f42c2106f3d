/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several processes survey a run. A file seen by several of them, of one host or through a network
 * file system, is one file: it has the same name, number, size and time for all. The first process
 * that sees it reads it.
 *
 * Each process scans its raw traces and keeps their definitions as messages. Then all receive these
 * messages and scan them in the order of a single process, so that all know the same. Blocks of
 * calls stay in the files; all receive the numbers that their reader found.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../base/run/raw_folder.h"
#include "../base/tool/hash_table.h"
#include "../base/tool/spool.h"
#include "../base/tool/text.h"
#include "order.h"

enum {
	COPIED = 1 << 20,	/* bytes of a file at once */
	TRIM_RANKS = 4096,	/* more often takes time */
};

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

/* Keeps the files that no process before this one sees. */
static void
keep_own(struct input *input, const struct team *team, const struct seen *own)
{
	struct files *first = NULL;
	const uint64_t count = input->file_count;
	size_t all, before, kept = 0;
	struct seen *seen = team_share(team, own, input->file_count, sizeof *own, &all);
	uint64_t *counts = team_share(team, &count, 1, sizeof *counts, &before);

	before = 0;
	for (int member = 0; member < team->rank; member++)
		before += counts[member];
	for (size_t i = 0; i < all; i++) {
		seen[i].place = i;
		if (files_find(first, &seen[i]) == NULL)
			*files_add(&first, &seen[i]) = seen[i];
	}
	for (size_t i = 0; i < input->file_count; i++)
		if (files_find(first, &own[i])->place == before + i)
			input->files[kept++] = input->files[i];
	input->file_count = kept;
	free(first);
	free(counts);
	free(seen);
}

void
divide_files(struct input *input, const struct team *team)
{
	struct seen *own = zalloc(input->file_count, sizeof *own);
	int64_t hash, most[2];

	for (size_t i = 0; i < input->file_count; i++)
		own[i] = see(input->files[i]);
	hash = (int64_t)(XXH3_64bits(own, input->file_count * sizeof *own) >> 2);
	most[0] = hash;
	most[1] = -hash;
	team_max(team, most, 2);
	if (most[0] != -most[1]) {	/* not all see the same files */
		keep_own(input, team, own);
		input->holders = (uint32_t)team->size;
	}
	free(own);
	team_part(team);
	if (input->holders == 0 && input->file_count == 0)
		die("%s", input->no_file);
	team_meet(team);
}

/* ---- copies of files ---- */

/* Sends the file to all, in pieces; processes that want it store it at OFFSET. Returns its size. */
static uint64_t
copy_file(const char *file, bool own, const struct team *team, int spool, bool wanted,
    uint64_t offset)
{
	static char piece[COPIED];
	const int fd = own ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	uint64_t size = 0;
	size_t count;

	do {
		const ssize_t got = !own ? 0 : fd < 0 ? -1 :
		    pread(fd, piece, sizeof piece, (off_t)size);
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
	char *name = formatted("/proc/self/fd/%d", spool);
	uint64_t offset = 0;

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

/* ---- the survey ---- */

/* A rank's data for the others, before the bytes of its segments and definitions. */
struct surveyed {
	int32_t rank, holder;
	uint64_t order;
	uint64_t at, bytes;		/* of all members' */
	uint64_t thread_at;		/* in the array of all threads */
	uint64_t rows, calls_offset;
	int64_t begin_ns, end_ns;
	uint32_t segments, threads;
	bool ended;
};

ORDER(by_rank, struct surveyed, BY(rank) BY(holder))

ORDER(by_order, struct surveyed, BY(holder) BY(order))

/* ---- results of this process --------------------------------------------------------- */

/* What take_rank makes again. */
static void
forget_rank(struct rank *rank)
{
	free(rank->segments);
	free(rank->host);
	free(rank->program);
	free(rank->kernels);
	free(rank->kept.at);
	free(rank->thread);
	free(rank->samples);
	free(rank->comms);
	free(rank->modules);
	free(rank->sites);
	free(rank->regions);
	free(rank->gaps);
	free(rank->cores);
}

/*
 * Moves segments and definitions of each rank into one piece, and the threads of all into another.
 * What has been moved leaves the memory of the process.
 */
static void
pack_ranks(const struct input *input, int member, struct surveyed *own, size_t *count,
    struct bytes *all, struct bytes *threads)
{
	for (int32_t r = 0; r < input->rank_count; r++) {
		struct rank *rank = &input->ranks[r];
		const size_t begin = all->count;

		if (!rank->present)
			continue;
		for (size_t i = 0; i < rank->segments_count; i++) {
			bytes_add(all, &rank->segments[i].offset, sizeof rank->segments[i].offset);
			bytes_add(all, rank->segments[i].file, strlen(rank->segments[i].file) + 1);
		}
		bytes_add(all, rank->kept.at, rank->kept.count);
		bytes_add(threads, rank->thread, rank->threads * sizeof *rank->thread);
		own[(*count)++] = (struct surveyed){ .rank = r, .holder = member,
		    .order = rank->order, .bytes = all->count - begin,
		    .rows = rank->rows, .calls_offset = rank->calls_offset,
		    .begin_ns = rank->begin_ns, .end_ns = rank->end_ns,
		    .segments = (uint32_t)rank->segments_count, .threads = rank->threads,
		    .ended = rank->ended };
		forget_rank(rank);
		if (*count % TRIM_RANKS == 0)
			malloc_trim(0);
	}
	free(input->ranks);
	free(input->worlds);
}

/* Names of calls: for each a number of 2 bytes, and the name with its end. */
static char *
share_names(const struct input *input, const struct team *team, size_t *size)
{
	struct bytes own = { 0 };
	char *all;

	for (unsigned number = 1; number <= UINT16_MAX; number++)
		if (reader_calls(input->in)[number] != 0) {
			const uint16_t of = (uint16_t)number;
			const char *name = call_name(reader_calls(input->in)[number]);

			bytes_add(&own, &of, sizeof of);
			bytes_add(&own, name, strlen(name) + 1);
		}
	all = team_share(team, own.at, own.count, 1, size);
	free(own.at);
	return all;
}

/* ---- results of all processes -------------------------------------------------------- */

static void
take_names(struct input *input, const char *names, size_t size)
{
	for (size_t at = 0; at < size && input->world_count > 0; at += strlen(names + at) + 1) {
		uint16_t number;

		memcpy(&number, names + at, sizeof number);
		at += sizeof number;
		if (reader_name_call(input->in, number, names + at) < 0)
			die("%s: %s", input->worlds->file, reader_error(input->in, NULL));
	}
}

static void
take_rank(struct input *input, const struct surveyed *from, const char *bytes,
    struct thread *threads)
{
	const char *at = bytes + from->at, *end = at + from->bytes;
	struct raw_segment *segments = zalloc(from->segments, sizeof *segments);
	struct rank *rank;

	for (uint32_t i = 0; i < from->segments; i++) {
		memcpy(&segments[i].offset, at, sizeof segments[i].offset);
		segments[i].file = at + sizeof segments[i].offset;
		at = segments[i].file + strlen(segments[i].file) + 1;
	}
	rank = scan_kept(input, segments[0].file, at, (size_t)(end - at));
	free(rank->segments);		/* those of its definitions alone */
	rank->segments = segments;
	rank->segments_count = from->segments;
	rank->holder = from->holder;
	rank->rows = from->rows;
	rank->calls_offset = from->calls_offset;
	rank->begin_ns = from->begin_ns;
	rank->end_ns = from->end_ns;
	rank->ended = from->ended;
	rank->threads = from->threads;
	free(rank->thread);
	rank->thread = threads + from->thread_at;
}

/*
 * If each has files of its own, the history is that of the lowest rank. Otherwise all have read the
 * first file's.
 */
static void
share_history(struct input *input, const struct team *team, int32_t holder)
{
	struct bytes own = { 0 };
	char *all, **lines;
	size_t size, count = 0;

	for (size_t i = 0; team->rank == holder && reader_history(input->in, i) != NULL; i++)
		bytes_add(&own, reader_history(input->in, i),
		    strlen(reader_history(input->in, i)) + 1);
	all = team_share(team, own.at, own.count, 1, &size);
	lines = zalloc(size + 1, sizeof *lines);
	for (size_t at = 0; at < size; at += strlen(all + at) + 1)
		lines[count++] = all + at;
	if (reader_set_history(input->in, lines, count) < 0)
		die_input(input->in);
	free(lines);
	free(all);
	free(own.at);
}

static void
share_survey(struct input *input, const struct team *team)
{
	struct surveyed *own = zalloc((size_t)input->rank_count, sizeof *own), *all;
	size_t count = 0, threads_count, bytes_size, names_size;
	struct bytes own_threads = { 0 }, mine = { 0 };
	struct thread *threads;
	uint64_t at = 0, thread_at = 0;
	const char *bytes, *names = share_names(input, team, &names_size);
	int64_t any[] = { input->died, input->tells_open, input->sampled, input->regions };

	team_max(team, any, 4);
	pack_ranks(input, team->rank, own, &count, &mine, &own_threads);
	threads = team_share(team, own_threads.at, own_threads.count / sizeof *threads,
	    sizeof *threads, &threads_count);
	free(own_threads.at);
	/* names of files stay in these, and threads in those above */
	bytes = team_share(team, mine.at, mine.count, 1, &bytes_size);
	free(mine.at);
	all = team_share(team, own, count, sizeof *own, &count);
	free(own);
	for (size_t i = 0; i < count; i++) {	/* in the order of team_share */
		all[i].at = at;
		all[i].thread_at = thread_at;
		at += all[i].bytes;
		thread_at += all[i].threads;
	}
	qsort(all, count, sizeof *all, input->holders > 0 ? by_rank : by_order);
	*input = (struct input){ .in = input->in, .files = input->files,
	    .file_count = input->file_count, .file_capacity = input->file_capacity,
	    .holders = input->holders, .partial = input->partial, .died = any[0],
	    .tells_open = any[1], .sampled = any[2], .regions = any[3] };
	if (input->holders > 0 && count > 0)
		share_history(input, team, all[0].holder);
	team_part(team);
	for (size_t i = 0; i < count; i++)
		take_rank(input, &all[i], bytes, threads);
	take_names(input, names, names_size);
	team_meet(team);
	free(all);
	free((void *)(uintptr_t)names);
}

/* One process reads all segments of a rank. */
static size_t
first_of(const struct input *input, size_t part, size_t parts)
{
	size_t first = input->file_count * part / parts;

	for (; first > 0 && first < input->file_count; first++) {
		const char *segment = raw_name_segment(file_name(input->files[first]));

		if (segment == NULL || *segment == '\0')
			break;
	}
	return first;
}

void
survey(struct input *input, const struct team *team)
{
	const bool own = input->holders > 0;
	const size_t rank = own ? 0 : (size_t)team->rank;
	const size_t size = own ? 1 : (size_t)team->size;
	const size_t first = first_of(input, rank, size), end = first_of(input, rank + 1, size);
	struct message message;

	input->keeps = team->size > 1;
	/* Processes that read other traces still take names and history from the first one. */
	if (input->file_count == 0) {	/* the others have all */
		reader_open(&input->in, "/dev/null", READ_SKIMMING);
		reader_go_on(input->in, "/dev/null");
		reader_leave(input->in);
	} else if (first > 0 || end == 0) {
		if (reader_open(&input->in, input->files[0], READ_SKIMMING) < 0 ||
		    reader_next(input->in, &message) < 0)
			die_input(input->in);
		reader_leave(input->in);
	}
	for (size_t i = first; i < end; i++)
		survey_file(input, input->files[i]);
	find_ends(input);
	if (team->size > 1)
		share_survey(input, team);
}

/* ---- clocks ---- */

static void
share_knots(struct shift_knots *knots, const struct team *team)
{
	struct shift_knot *of_first = team_share(team, knots->at, team->rank == 0 ? knots->count :
	    0, sizeof *of_first, &knots->count);

	free(knots->at);
	knots->at = of_first;
	knots->capacity = knots->count;
}

void
share_clocks(struct input *input, const struct team *team)
{
	const size_t ranks = (size_t)input->rank_count;
	struct correction *values;
	bool moves = input->shifts != NULL;

	if (team->size == 1)
		return;
	team_copy(team, &input->origin_ns, sizeof input->origin_ns);
	values = zalloc(ranks, sizeof *values);
	for (size_t r = 0; r < ranks; r++)
		values[r] = input->ranks[r].correction;
	team_copy(team, values, ranks * sizeof *values);
	for (size_t r = 0; r < ranks; r++) {	/* all have found the same knots */
		values[r].knots = input->ranks[r].correction.knots;
		input->ranks[r].correction = values[r];
	}
	free(values);
	team_copy(team, &moves, sizeof moves);
	if (moves && team->rank > 0)
		input->shifts = zalloc(input->location_count, sizeof *input->shifts);
	for (uint32_t l = 0; moves && l < input->location_count; l++) {
		share_knots(&input->shifts[l].jumps, team);
		share_knots(&input->shifts[l].ramps, team);
	}
}
