/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a folder of shards as one stream: the definitions of one shard; then, round by round, the
 * blocks of calls of all shards in order of their first enter, each after its samples, and then all
 * other messages of the round. Memory: a reader for each shard.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "samples.h"
#include "shards.h"
#include "tail.h"

/* ---- a shard's next message ---- */

static int
keep_samples(struct shards *s, struct part *part)
{
	const size_t size = part->head.size, needed = part->sample_end + sizeof size + size;

	if (needed > part->sample_capacity) {
		unsigned char *more = realloc(part->samples, 2 * needed);

		if (more == NULL)
			return reader_fail(s->in, 0, "out of memory");
		part->samples = more;
		part->sample_capacity = 2 * needed;
	}
	memcpy(part->samples + part->sample_end, &size, sizeof size);
	memcpy(part->samples + part->sample_end + sizeof size, part->head.bytes, size);
	part->sample_end = needed;
	return 0;
}

/* A block without rows takes the place of the block before. */
static int
place_block(struct part *part)
{
	uint64_t rows;

	if (calls_count(part->in, &part->head, &rows) < 0 ||
	    body_int(part->in, &part->head, "location", 0, INT32_MAX, &part->location) < 0)
		return -1;
	return rows > 0 ? calls_begin(part->in, &part->head, &part->enter_ns) : 0;
}

/* Makes the next message, after its samples, the head. 0 or -1. */
static int
advance(struct shards *s, struct part *part)
{
	int got;

	part->sample_at = part->sample_end = 0;
	while ((got = reader_next(part->in, &part->head)) > 0 &&
	    comes_before_calls(&part->head))
		if (keep_samples(s, part) < 0)
			return -1;
	part->has_head = got > 0;
	part->state = got > 0 || part->sample_end > 0 ? OTHER : ENDED;
	if (got > 0 && is_kind(&part->head, "calls")) {
		part->state = BLOCK;
		got = place_block(part);
	}
	return got < 0 ? shard_damaged(s, part) : 0;
}

/* ---- the order of blocks ---- */

static bool
earlier(const struct shards *s, uint32_t a, uint32_t b)
{
	const struct part *x = &s->parts[a], *y = &s->parts[b];

	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns;
	return x->location != y->location ? x->location < y->location : a < b;
}

static void
sink(struct shards *s, uint32_t at)
{
	for (;;) {
		uint32_t least = at, swap;

		for (uint32_t child = 2 * at + 1;
		    child <= 2 * at + 2 && child < s->heap_count; child++)
			if (earlier(s, s->heap[child], s->heap[least]))
				least = child;
		if (least == at)
			return;
		swap = s->heap[at];
		s->heap[at] = s->heap[least];
		s->heap[least] = swap;
		at = least;
	}
}

static void
make_heap(struct shards *s)
{
	s->heap_count = 0;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->parts[i].state == BLOCK)
			s->heap[s->heap_count++] = i;
	for (uint32_t i = s->heap_count / 2; i-- > 0; )
		sink(s, i);
}

/* Moves on in the shard whose message was returned last. 0 or -1. */
static int
go_on(struct shards *s)
{
	struct part *part = s->current;

	if (part == NULL || part->sample_at < part->sample_end)
		return 0;
	s->current = NULL;
	if (advance(s, part) < 0)
		return -1;
	if (s->other < s->count || s->heap_count == 0)
		return 0;
	if (part->state != BLOCK)
		s->heap[0] = s->heap[--s->heap_count];
	sink(s, 0);
	return 0;
}

/* ---- messages ---- */

/* Parses a message whose bytes are in memory and whose hash has been checked. */
static int
take_again(struct shards *s, const void *bytes, size_t size, struct message *message)
{
	const char *why;

	return message_parse(message, &s->unpacked, bytes, size, &why) > 0 ? 1 :
	    reader_fail(s->in, 0, "out of memory");
}

static int
give(struct shards *s, struct part *part, struct message *message)
{
	size_t size;

	s->current = part;
	s->in->file = part->path;
	if (part->sample_at < part->sample_end) {
		const unsigned char *at = part->samples + part->sample_at;

		memcpy(&size, at, sizeof size);
		if (take_again(s, at + sizeof size, size, message) < 0)
			return -1;
		part->sample_at += sizeof size + size;
		/* The block itself follows, or nothing. */
		if (part->sample_at == part->sample_end)
			part->sample_at = part->sample_end = 0;
		s->current = part->sample_end > 0 || part->has_head ? NULL : part;
	} else
		*message = part->head;
	s->last_offset = message->offset;
	return 1;
}

/* READ_ANY: the header, and an end that counts the messages of all shards. */
static int
give_frame(struct shards *s, struct message *message)
{
	struct writer *frame = &s->header;

	if (s->last_place > 0) {
		s->end_given = true;
		message_begin(frame, "end", 2);
		put_uint(frame, "messages", s->in->messages);
		put_uint(frame, "rows", s->in->rows);
		if (message_end(frame) < 0)
			return reader_fail(s->in, 0, "out of memory");
	}
	if (take_again(s, frame->buffer.data, frame->buffer.size, message) < 0)
		return -1;
	msgpack_sbuffer_clear(&frame->buffer);
	return 1;
}

/* The definitions come from the first shard; the others have the same. */
static int
give_definition(struct shards *s, struct message *message)
{
	struct part *first = &s->parts[0];
	int got = reader_next(first->in, message);

	if (got <= 0)
		return got < 0 ? shard_fail(s, first) :
		    reader_fail(s->in, 0, "definitions are missing");
	s->in->file = first->path;
	s->last_offset = message->offset;
	s->defined--;
	return 1;
}

/* Skips the definitions of the other shards; all shards then stand before their first blocks. */
static int
end_definitions(struct shards *s)
{
	s->place = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		struct part *part = &s->parts[i];
		int got = 1;

		for (uint64_t d = 0; i > 0 && d < s->head.defined && got > 0; d++)
			got = reader_next(part->in, &part->head);
		s->place += reader_offset(part->in);
		if (got < 0 ? shard_damaged(s, part) < 0 : advance(s, part) < 0)
			return -1;
	}
	s->defined_all = true;
	make_heap(s);
	s->other = s->count;
	return 0;
}

/* A shard has reached the end of a round: the next round must be the same for all shards. */
static int
pass_round(struct shards *s, struct part *part)
{
	uint64_t number;

	if (body_uint(part->in, &part->head, "number", &number) < 0)
		return shard_fail(s, part);
	/* After a jump, only this number says where it led. */
	if (s->passed == 0 && s->round == 0)
		s->round = number;
	if (number != s->round) {
		reader_fail(part->in, part->head.offset, "round %llu begins where others have "
		    "round %llu", (unsigned long long)number, (unsigned long long)s->round);
		return shard_fail(s, part);
	}
	s->passed++;
	s->next_place += part->head.offset + part->head.size;
	return advance(s, part);
}

/* All shards have given what they have of the round. */
static int
end_round(struct shards *s)
{
	if (s->passed == 0)
		return 0;	/* a trace has no rounds; or this was the last one */
	for (uint32_t i = 0; i < s->count && s->passed < s->count; i++)
		if (s->parts[i].state == ENDED) {
			reader_fail(s->parts[i].in, reader_offset(s->parts[i].in), "ends before "
			    "round %llu, which others have", (unsigned long long)s->round);
			return shard_fail(s, &s->parts[i]);
		}
	s->place = s->next_place;
	s->next_place = s->passed = 0;
	s->round++;
	return 0;
}

/* The next message after the blocks of a round. 1; 0: the round is over; -1: error. */
static int
give_other(struct shards *s, struct message *message)
{
	while (s->other < s->count) {
		struct part *part = &s->parts[s->other];

		if (part->state != OTHER)
			s->other++;
		else if (part->has_head && is_kind(&part->head, "round")) {
			if (pass_round(s, part) < 0)
				return -1;
			s->other++;
		} else if (part->has_head && is_kind(&part->head, "index")) {
			if (advance(s, part) < 0)
				return -1;
		} else
			return give(s, part, message);
	}
	return end_round(s);
}

static int
next_message(struct shards *s, struct message *message)
{
	int got;

	if (s->defined > 0)
		return give_definition(s, message);
	if (!s->defined_all && end_definitions(s) < 0)
		return -1;
	if (go_on(s) < 0)
		return -1;
	for (bool any = true; any; ) {
		if (s->heap_count > 0)
			return give(s, &s->parts[s->heap[0]], message);
		if (s->other == s->count)
			s->other = 0;
		if ((got = give_other(s, message)) != 0)
			return got;
		any = false;
		for (uint32_t i = 0; i < s->count; i++)
			any |= s->parts[i].state != ENDED;
		make_heap(s);
	}
	return 0;
}

int
shards_next(struct shards *s, struct message *message)
{
	struct reader *in = s->in;
	uint64_t rows = 0;
	int got;

	if (s->end_given)
		return 0;
	if (s->header.buffer.size > 0)
		return give_frame(s, message);
	do {
		const uint64_t copies = s->defined > 0 ? s->count : 1;

		if ((got = next_message(s, message)) <= 0)
			return got == 0 && s->how == READ_ANY ? give_frame(s, message) : got;
		s->last_place = s->place;
		message->offset = s->place;
		s->place += copies * message->size;
		in->messages++;
		if (is_kind(message, "calls") && calls_count(in, message, &rows) == 0)
			in->rows += rows;
	} while (message->offset < s->skip_to);
	return 1;
}

/*
 * ---- other places: one is the sum of the offsets in all shards (trace.5, SHARDS) ----
 *
 * A round begins at one place; the shards' indexes have its offsets.
 */

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
	if (advance(s, part) < 0)
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
