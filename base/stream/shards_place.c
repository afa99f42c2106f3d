/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The place of a folder's reader, and how it moves. A place is the sum of the offsets in all shards
 * (trace.5, SHARDS). A round begins at one place; the shards' indexes have its offsets.
 */
#include <stdlib.h>
#include <string.h>

#include "shards.h"
#include "tail.h"

double
shards_share(const struct shards *s)
{
	double share = 0;

	for (uint32_t i = 0; i < s->count; i++)
		share += reader_share(s->parts[i].in) / s->count;
	return share;
}

/*
 * The offsets of the rounds in each shard, one shard after the other; free() them. NULL: a shard
 * has no index, or an index of another length.
 */
static uint64_t *
read_rounds(const struct shards *s, size_t *rows)
{
	uint64_t *rounds = NULL;
	bool has = true;

	for (uint32_t i = 0; i < s->count && has; i++) {
		struct tail tail;

		has = tail_open(&tail, s->parts[i].path) && tail.count > 0 &&
		    (i == 0 || tail.count == *rows);
		if (has && i == 0) {
			*rows = tail.count;
			rounds = malloc(s->count * *rows * sizeof *rounds);
		}
		has = has && rounds != NULL && tail_column(&tail, "from", rounds + i * *rows) == 0;
		tail_close(&tail);
	}
	if (has)
		return rounds;
	free(rounds);
	return NULL;
}

/* Moves the shard to the first message of a round, or fails if none begins there. 0 or -1. */
static int
enter_round(struct shards *s, struct part *part, uint64_t offset)
{
	reader_jump(part->in, offset);
	if (shard_advance(s, part) < 0)
		return -1;
	if (part->state == OTHER && part->has_head && is_kind(&part->head, "round") &&
	    part->sample_end == 0)
		return 0;
	reader_fail(part->in, offset, "no round begins here, against the index");
	return shard_fail(s, part);
}

/* Moves every shard by its index. False: there is no index, or none that has the place. */
static bool
jump_to_round(struct shards *s, uint64_t place)
{
	size_t rows = 0, row;
	uint64_t *rounds = read_rounds(s, &rows), sum = 0;

	for (row = 0; row < rows && rounds != NULL; row++) {
		sum = 0;
		for (uint32_t i = 0; i < s->count; i++)
			sum += rounds[i * rows + row];
		if (sum == place)
			break;
	}
	if (rounds == NULL || row == rows) {
		free(rounds);
		return false;
	}
	for (uint32_t i = 0; i < s->count; i++)
		if (enter_round(s, &s->parts[i], rounds[i * rows + row]) < 0)
			break;
	free(rounds);
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
	if (jump_to_round(in->shards, place))
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
