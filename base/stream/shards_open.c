/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the shards of a folder, checks that they are of one run, and reports missing ones. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shards.h"

enum {
	ALL_CHUNKS = 1 << 22,		/* bytes to read at once, for all shards together */
	LEAST_CHUNK = 1 << 16,
	OTHER_FILES = 64,		/* that the process may have open besides the shards */
};

int
shard_read(struct reader *in, const struct message *message, struct shard_head *head)
{
	int64_t count;
	size_t ranks;

	if (body_uint(in, message, "run", &head->run) < 0 ||
	    body_int(in, message, "shards", 1, 1 << 24, &count) < 0 ||
	    body_int(in, message, "number", 0, count - 1, &head->number) < 0 ||
	    body_int(in, message, "defined", 1, INT64_MAX, &head->defined) < 0 ||
	    body_count(in, message, "count", 1, 1 << 24, "of", &ranks) < 0)
		return -1;
	free(head->of);
	if ((head->of = calloc(ranks, sizeof *head->of)) == NULL)
		return reader_fail(in, message->offset, "out of memory");
	head->count = (uint32_t)count;
	head->ranks = (uint32_t)ranks;
	return body_column(in, message, "of", ranks, head->of);
}

/* Is it named like "shard.000012"? */
static int
is_shard(const struct dirent *entry)
{
	const char *digits = entry->d_name + strlen("shard.");

	return strncmp(entry->d_name, "shard.", strlen("shard.")) == 0 &&
	    strlen(digits) >= 6 && strspn(digits, "0123456789") == strlen(digits) &&
	    strtoul(digits, NULL, 10) <= UINT32_MAX;
}

static bool
holds(const struct shards *s, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", s->folder, name);
	return access(path, F_OK) == 0;
}

static int
find_files(struct shards *s)
{
	struct dirent **entries;
	const int count = scandir(s->folder, &entries, is_shard, versionsort);
	bool failed;

	if (count < 0)
		return reader_fail(s->in, 0, "%s", strerror(errno));
	s->parts = calloc((size_t)count + 1, sizeof *s->parts);
	failed = s->parts == NULL;
	for (int i = 0; i < count; i++) {
		struct part *part = &s->parts[s->count];

		if (!failed && asprintf(&part->path, "%s/%s", s->folder, entries[i]->d_name) >= 0)
			s->parts[s->count++].number = (uint32_t)strtoul(entries[i]->d_name +
			    strlen("shard."), NULL, 10);
		else
			failed = true;
		free(entries[i]);
	}
	free(entries);
	if (failed)
		return reader_fail(s->in, 0, "out of memory");
	return s->count > 0 ? 0 :
	    reader_fail(s->in, 0, "a folder without shards (shard.000000, ...)%s",
	    holds(s, "graph") ? "; a run's folder: name its graph" :
	    holds(s, "rank.0") ? "; raw traces: lp-merge reads them" : "");
}

int
shard_fail(struct shards *s, const struct part *part)
{
	struct reader *in = s->in;
	int64_t offset;
	const char *why = reader_error(part->in, &offset);

	in->file = part->path;
	if (in->error[0] == '\0') {
		snprintf(in->error, sizeof in->error, "%s", why);
		in->error_offset = offset;
	}
	return -1;
}

/* Adds a line about a part that is left out. 0, or -1 without memory. */
static int
lose(struct shards *s, const char *file, const char *what)
{
	char **more = realloc(s->lost, (s->lost_count + 1) * sizeof *more);

	if (more == NULL)
		return reader_fail(s->in, 0, "out of memory");
	s->lost = more;
	if (asprintf(&more[s->lost_count], "%s: %s", file, what) < 0)
		return reader_fail(s->in, 0, "out of memory");
	s->lost_count++;
	return 0;
}

int
shard_damaged(struct shards *s, struct part *part)
{
	char what[300];
	int64_t offset;
	const char *why = reader_error(part->in, &offset);

	part->state = ENDED;
	part->sample_at = part->sample_end = 0;
	if (s->how != READ_PARTIAL)
		return shard_fail(s, part);
	snprintf(what, sizeof what, "%lld: %s; the rest is not read",
	    (long long)offset, why);
	return lose(s, part->path, what);
}

/* Checks by its first message that the shard belongs with the others. */
static int
check_part(struct shards *s, struct part *part, struct message *message)
{
	struct reader *in = s->in;
	struct shard_head head = { 0 };
	int got = reader_next(part->in, message);

	if (got < 0)
		return -1;
	if (got == 0 || !is_kind(message, "shard"))
		return reader_fail(part->in, got == 0 ? 0 : message->offset,
		    "not a shard of a run");
	if (shard_read(part->in, message, &head) < 0) {
		free(head.of);
		return -1;
	}
	if (s->head.of == NULL)
		s->head = head;
	else
		free(head.of);
	if (in->content[0] != '\0' && strcmp(in->content, part->in->content) != 0)
		return reader_fail(part->in, 0, "a %s, but %s is a %s", part->in->content,
		    s->parts[0].path, in->content);
	if (head.run != s->head.run || head.count != s->head.count ||
	    head.defined != s->head.defined)
		return reader_fail(part->in, message->offset, "a shard of another run than %s",
		    s->parts[0].path);
	if (head.number != part->number)
		return reader_fail(part->in, message->offset, "it is shard %u", head.number);
	strcpy(in->content, part->in->content);
	return 0;
}

static int
open_part(struct shards *s, struct part *part)
{
	const bool header = s->how == READ_ANY && s->header.buffer.size == 0;
	const enum reading how = s->how == READ_LAZY || header ? s->how : READ_STREAM;
	struct message message;

	if (reader_open_known(&part->in, part->path, how, s->in->known) < 0)
		return -1;
	if (header) {	/* one for all shards: they have the same history */
		if (reader_next(part->in, &message) <= 0 ||
		    writer_pass(&s->header, &message, 0) < 0)
			return -1;
		part->in->all = false;
	}
	part->in->input.chunk_bytes = ALL_CHUNKS / s->count < LEAST_CHUNK ? LEAST_CHUNK :
	    ALL_CHUNKS / s->count;
	return check_part(s, part, &message);
}

/* Each shard takes an open file, and the default limit may be low. */
static void
allow_files(uint32_t count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= count + OTHER_FILES)
		return;
	limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > count + OTHER_FILES ?
	    count + OTHER_FILES : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);	/* if this fails, opening reports it */
}

/* One line for all missing shards: the number of the first, and whose calls it held. */
static int
check_missing(struct shards *s)
{
	uint32_t missing = s->head.count - s->count, number = 0, first = 0, ranks = 0;
	char more[64] = "", what[200];

	if (missing == 0)
		return 0;
	while (number < s->count && s->parts[number].number == number)
		number++;
	for (uint32_t r = s->head.ranks; r-- > 0; )
		if (s->head.of[r] == number)
			first = r, ranks++;
	if (missing > 1)
		snprintf(more, sizeof more, ", and %u more", missing - 1);
	snprintf(what, sizeof what, "shard %u of %u is missing (rank %u and %u others)%s", number,
	    s->head.count, first, ranks > 0 ? ranks - 1 : 0, more);
	if (s->how == READ_PARTIAL)
		return lose(s, s->folder, what);
	return reader_fail(s->in, 0, "%s; lp-graph --partial goes on without", what);
}

static int
open_parts(struct shards *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		struct part part = s->parts[i];

		if (open_part(s, &part) < 0) {
			if (shard_damaged(s, &part) < 0) {
				s->parts[i] = part;
				return -1;
			}
			reader_close(part.in);
			free(part.path);
			continue;
		}
		s->parts[kept++] = part;
	}
	s->count = kept;
	return kept > 0 ? check_missing(s) : reader_fail(s->in, 0, "no shard can be read");
}

int
shards_open(struct reader *in, const char *folder, enum reading how)
{
	struct shards *s = in->shards = calloc(1, sizeof *s);

	in->file = folder;
	if (s == NULL)
		return reader_fail(in, 0, "out of memory");
	s->in = in;
	s->how = how;
	writer_start(&s->header, -1);
	msgpack_unpacked_init(&s->unpacked);
	if ((s->folder = strdup(folder)) == NULL || find_files(s) < 0)
		return -1;
	allow_files(s->count);
	if (open_parts(s) < 0)
		return -1;
	if ((s->heap = calloc(s->count, sizeof *s->heap)) == NULL)
		return reader_fail(in, 0, "out of memory");
	s->defined = s->head.defined;
	s->other = s->count;
	s->round = 1;
	in->hashed = true;
	for (uint32_t i = 0; i < s->count; i++) {
		s->place += reader_offset(s->parts[i].in);
		in->hashed &= s->parts[i].in->hashed;
	}
	in->messages = in->rows = 0;
	return 0;
}

void
shards_close(struct reader *in)
{
	struct shards *s = in->shards;

	if (s == NULL)
		return;
	for (uint32_t i = 0; i < s->count; i++) {
		reader_close(s->parts[i].in);
		free(s->parts[i].path);
		free(s->parts[i].samples);
	}
	for (size_t i = 0; i < s->lost_count; i++)
		free(s->lost[i]);
	msgpack_unpacked_destroy(&s->unpacked);
	writer_close(&s->header);
	free(s->lost);
	free(s->parts);
	free(s->heap);
	free(s->head.of);
	free(s->folder);
	free(s);
	in->shards = NULL;
}
