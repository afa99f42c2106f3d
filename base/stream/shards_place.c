/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the reader of a folder is, and how it goes elsewhere. A place is the sum of offsets in all shards
 * (trace.5, SHARDS); a round begins at one in all of them, which their indexes tell.
 */
#include <stdlib.h>
#include <string.h>

#include "shard_parts.h"
#include "tail.h"

bool
shards_place(const struct reader *in, uint64_t *offset)
{
	if (in->shards->last_place == 0)
		return false;
	*offset = in->shards->last_offset;
	return true;
}

uint64_t
shards_offset(const struct reader *in)
{
	return in->shards->skip_to > in->shards->place ? in->shards->skip_to : in->shards->place;
}

double
shards_share(const struct reader *in)
{
	const struct shards *s = in->shards;
	double share = 0;

	for (uint32_t i = 0; i < s->count; i++)
		share += reader_share(s->parts[i].in) / s->count;
	return share;
}

/* ROWS of the index of a shard become TO: offsets where rounds begin. False: it has no such index. */
static bool
read_rounds(const struct part *part, size_t rows, uint64_t *to)
{
	struct tail tail;
	const bool has = tail_open(&tail, part->path) && (rows == 0 || tail.count == rows) &&
	    tail_column(&tail, "from", to) == 0;

	tail_close(&tail);
	return has;
}

/* The row of the index of all shards that tells of a round which begins at the place; -1: none does. */
static int64_t
find_round(const struct shards *s, uint64_t place, uint64_t *rounds, size_t *rows)
{
	uint64_t sums[INDEX_ROWS] = { 0 };
	struct tail tail;

	if (tail_open(&tail, s->parts[0].path))
		*rows = tail.count;
	tail_close(&tail);
	if (*rows == 0)
		return -1;
	for (uint32_t i = 0; i < s->count; i++) {
		if (!read_rounds(&s->parts[i], *rows, rounds))
			return -1;
		for (size_t row = 0; row < *rows; row++)
			sums[row] += rounds[row];
	}
	for (size_t row = 0; row < *rows; row++)
		if (sums[row] == place)
			return (int64_t)row;
	return -1;
}

/* The shard stands before the round's first message, or what is there is none. 0 or -1. */
static int
enter_round(struct reader *in, struct part *part, uint64_t offset)
{
	reader_jump(part->in, offset);
	if (shard_advance(in, part) < 0)
		return -1;
	if (part->state == OTHER && part->has_head && is_kind(&part->head, "round") && part->sample_end == 0)
		return 0;
	reader_fail(part->in, offset, "no round begins here, against the index");
	return shard_fail(in, part);
}

/* Every shard goes where its index says. False: they have none, or none that tells of the place. */
static bool
jump_to_round(struct reader *in, uint64_t place)
{
	struct shards *s = in->shards;
	uint64_t rounds[INDEX_ROWS];
	size_t rows = 0;
	const int64_t row = find_round(s, place, rounds, &rows);

	if (row < 0)
		return false;
	for (uint32_t i = 0; i < s->count; i++)
		if (!read_rounds(&s->parts[i], rows, rounds) || enter_round(in, &s->parts[i], rounds[row]) < 0) {
			reader_fail(in, 0, "its index has changed");
			return true;
		}
	in->site_end = s->parts[0].in->site_end;
	s->current = NULL;
	s->heap_count = 0;
	s->defined = 0;
	s->defined_all = true;
	s->other = s->count;
	s->round = s->passed = 0;
	s->next_place = 0;
	s->place = place;
	return true;
}

void
shards_jump(struct reader *in, uint64_t place)
{
	in->jumped = true;
	if (jump_to_round(in, place))
		return;
	if (place < in->shards->place && shards_rewind(in) < 0)
		return;
	in->shards->skip_to = place;
}

int
shards_rewind(struct reader *in)
{
	char *folder = strdup(in->shards->folder);
	const enum reading how = in->shards->how;
	int opened;

	if (folder == NULL)
		return reader_fail(in, 0, "out of memory");
	shards_close(in);
	in->content[0] = in->error[0] = '\0';
	opened = shards_open(in, folder, how);
	free(folder);
	return opened;
}

const char *
shards_lost(const struct reader *in, size_t i)
{
	return in->shards != NULL && i < in->shards->lost_count ? in->shards->lost[i] : NULL;
}

const struct shard_head *
shards_head(const struct reader *in)
{
	return in->shards != NULL ? &in->shards->head : NULL;
}
