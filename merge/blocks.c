/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/tool/heap.h"
#include "merge.h"

enum {
	FEW_LOCATIONS = 64,		/* each keeps its block, of up to 16 464 rows */
	/* rows of all ranks, in slices that overlap in time; a round of lp-graph takes two */
	FEW_IN_FLIGHT = 1 << 14, FEW_IN_SHARDS = FEW_IN_FLIGHT / 2,
	ROWS_IN_FLIGHT = 1 << 22,	/* of more locations */
	LEAST_SLICE = 32, MOST_SLICE = 4096,	/* rows; the most, of few locations */
	MOST_SLICES = 8,		/* of a block that is read again for each */
	SPARE_BYTES = 256,	/* the next block may be this much larger */
};

/* ---- messages by rank and place ---- */

void
source_open(struct source *source, const struct input *input)
{
	memset(source, 0, sizeof *source);
	source->input = input;
	source->in = input->in;
}

static void
close_file(struct open_file *file)
{
	if (file->name != NULL && file->fd > STDIN_FILENO)
		close(file->fd);
	file->name = NULL;
}

void
source_close(struct source *source)
{
	for (int i = 0; i < OPEN_FILES; i++)
		close_file(&source->files[i]);
	reader_leave(source->in);
}

static int
open_file(struct source *source, int32_t rank)
{
	const char *name = source->input->ranks[rank].segments[source->segment].file;
	struct open_file *file = &source->files[rank % OPEN_FILES];

	if (file->name == name)
		return file->fd;
	close_file(file);
	file->fd = strcmp(name, "standard input") == 0 ? STDIN_FILENO :
	    open(name, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		die("%s: %s", name, strerror(errno));
	file->name = name;
	return file->fd;
}

bool
source_look(struct source *source, int32_t rank, uint64_t offset, struct message *message)
{
	const struct rank *from = &source->input->ranks[rank];
	int got;

	for (;;) {
		const struct raw_segment *segment =
		    &from->segments[source->segment = (size_t)(offset >> SEGMENT_BITS)];

		source->base = segment->base;
		reader_turn(source->in, segment->file, open_file(source, rank),
		    segment->base + (offset & SEGMENT_OFFSET));
		if ((got = reader_next(source->in, message)) < 0)
			die_input(source->in);
		if (got > 0 && !is_kind(message, "end") && !is_kind(message, "cut"))
			return true;
		if (source->segment + 1 == from->segments_count)
			return false;
		offset = (uint64_t)(source->segment + 1) << SEGMENT_BITS |
		    from->segments[source->segment + 1].offset;
	}
}

uint64_t
source_place(const struct source *source, const struct message *message)
{
	return (uint64_t)source->segment << SEGMENT_BITS | (message->offset - source->base);
}

uint64_t
source_behind(const struct source *source)
{
	return (uint64_t)source->segment << SEGMENT_BITS |
	    (reader_offset(source->in) - source->base);
}

void
source_message(struct source *source, int32_t rank, uint64_t offset, struct message *message)
{
	if (!source_look(source, rank, offset, message))
		source_changed(source);
}

void
source_calls(struct source *source, const struct message *message, struct calls *calls)
{
	if (!is_kind(message, "calls"))
		source_changed(source);
	if (reader_verify(source->in, message) < 0 || calls_read(calls, source->in, message) < 0)
		die_input(source->in);
	reader_hint(source->in,
	    (size_t)(reader_offset(source->in) - message->offset) + SPARE_BYTES);
}

void
source_changed(const struct source *source)
{
	die("%s:%llu: the file has changed", reader_file(source->in),
	    (unsigned long long)reader_offset(source->in));
}

/* ---- blocks in order of time ---- */

/* Offsets of blocks that were skipped in the search for another thread's; first in, first out. */
struct passed {
	uint64_t *offsets;
	size_t begin, count, capacity;
};

/*
 * When a location continues: the enter of its next row. A lower bound if that row is not read yet.
 */
struct next {
	int64_t at_ns;
	uint32_t location;
};

struct cursor {
	int64_t leave_ns;	/* of its last row, own clock */
	uint64_t row;		/* seq of the next one */
	uint64_t rows;		/* of the location */
	uint64_t block;		/* offset of the next row's block, if found */
	bool found;		/* the block is known, and the row's enter, too */
	bool held;		/* the block is in memory */
};

struct blocks {
	const struct input *input;
	struct source *source;
	struct cursor *cursors;		/* by location */
	struct passed *passed;		/* by location */
	uint64_t *search_from;	/* by rank: where blocks begin that have not been searched */
	struct next *heap;		/* locations with rows left; the earliest first */
	size_t count;
	struct calls *calls;		/* by location: its block; of many locations: the last */
	uint32_t kept;			/* of these */
	bool few;			/* locations, at most FEW_LOCATIONS */
	bool in_shards;
};

/* ---- the heap ---- */

static inline bool
earlier(const struct next *a, const struct next *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->location < b->location;
}

HEAP(heap, struct next, earlier)

/* ---- from block to block ---- */

struct blocks *
blocks_open(struct source *source, const uint32_t *of, uint32_t shard)
{
	const struct input *input = source->input;
	const uint32_t locations = input->location_count;
	struct blocks *b = zalloc(1, sizeof *b);

	*b = (struct blocks){ .input = input, .source = source, .in_shards = of != NULL,
	    .few = locations <= FEW_LOCATIONS };
	b->kept = b->few ? locations : 1;
	b->calls = zalloc(b->kept, sizeof *b->calls);
	b->cursors = zalloc(locations, sizeof *b->cursors);
	b->passed = zalloc(locations, sizeof *b->passed);
	b->heap = zalloc(locations, sizeof *b->heap);
	b->search_from = zalloc((size_t)input->rank_count, sizeof *b->search_from);
	for (int32_t r = 0; r < input->rank_count; r++)
		b->search_from[r] = input->ranks[r].calls_offset;
	for (uint32_t l = 0; l < locations; l++) {
		const struct thread *thread = thread_of(input, l);

		if (thread == NULL || (of != NULL && of[input->location_rank[l]] != shard))
			continue;
		b->cursors[l] = (struct cursor){ .leave_ns = INT64_MIN, .rows = thread->rows };
		b->heap[b->count++] = (struct next){ event_ns(input, l, 0, thread->begin_ns), l };
	}
	heap_make(b->heap, b->count);
	return b;
}

void
blocks_close(struct blocks *b)
{
	for (uint32_t l = 0; l < b->input->location_count; l++)
		free(b->passed[l].offsets);
	for (uint32_t l = 0; l < b->kept; l++)
		calls_free(&b->calls[l]);
	free(b->calls);
	free(b->cursors);
	free(b->passed);
	free(b->heap);
	free(b->search_from);
	free(b);
}

/* Finds the location's next block: a skipped one, or one after those searched. */
static void
search(struct blocks *b, uint32_t location, struct message *message)
{
	const int32_t r = b->input->location_rank[location];
	const struct rank *rank = &b->input->ranks[r];
	struct passed *passed = &b->passed[location];
	struct reader *in = b->source->in;
	int64_t thread, count;
	uint32_t at;

	if (passed->begin < passed->count) {
		source_message(b->source, r, passed->offsets[passed->begin++], message);
		return;
	}
	if (rank->threads > 1)
		reader_hint(in, 0);	/* it may be any thread's */
	for (uint64_t offset = b->search_from[r]; ; offset = source_behind(b->source)) {
		source_message(b->source, r, offset, message);
		if (!is_kind(message, "calls"))
			continue;
		if (body_int(in, message, "location", 0, (int64_t)rank->threads - 1, &thread) < 0 ||
		    body_int(in, message, "count", 0, UINT32_MAX, &count) < 0)
			die_input(in);
		if (count == 0)
			continue;
		b->search_from[r] = source_behind(b->source);
		at = location_of(b->input, r, (uint32_t)thread);
		if (location == at)
			return;
		passed = &b->passed[at];	/* another thread's */
		*ENQUEUE(passed->offsets, passed->begin, passed->count, passed->capacity) =
		    source_place(b->source, message);
	}
}

/* Finds the location's next block, and when it begins. Blocks must not overlap. */
static void
find_block(struct blocks *b, uint32_t location, struct message *message)
{
	struct cursor *cursor = &b->cursors[location];
	struct reader *in = b->source->in;
	int64_t enter_ns;

	search(b, location, message);
	if (calls_begin(in, message, &enter_ns) < 0)
		die_input(in);
	if (enter_ns < cursor->leave_ns)
		die_message(in, message, "calls: begins before the block before it ends");
	cursor->block = source_place(b->source, message);
	cursor->found = true;
	b->heap[0].at_ns = event_ns(b->input, location, 2 * cursor->row, enter_ns);
	heap_down(b->heap, b->count, 0);
}

/* Reads the block of the earliest location, unless it is still in memory. */
static struct calls *
read_earliest(struct blocks *b)
{
	for (;;) {
		const uint32_t location = b->heap[0].location;
		struct cursor *cursor = &b->cursors[location];
		struct calls *calls = &b->calls[location % b->kept];
		struct message message;

		if (cursor->held && calls->location == location)
			return calls;
		if (!cursor->found) {
			find_block(b, location, &message);
			if (b->heap[0].location != location)
				continue;
		} else
			source_message(b->source, b->input->location_rank[location], cursor->block,
			    &message);
		source_calls(b->source, &message, calls);
		calls->location = location;
		cursor->held = true;
		return calls;
	}
}

/* ---- slices ---- */

/*
 * A reader keeps the rows of all ranks until the last one arrives. So blocks go out in slices: with
 * many ranks, those of a short run would cover all of it; with few, later stages work in turns that
 * no pipe holds, on rows that no cache holds.
 */
static size_t
slice_rows(const struct blocks *b, size_t block_rows)
{
	size_t rows = (!b->few ? ROWS_IN_FLIGHT : b->in_shards ? FEW_IN_SHARDS : FEW_IN_FLIGHT) /
	    b->input->location_count;

	if (b->few)
		return rows < MOST_SLICE ? rows : MOST_SLICE;
	if (rows < LEAST_SLICE)
		rows = LEAST_SLICE;
	return rows < block_rows / MOST_SLICES + 1 ? block_rows / MOST_SLICES + 1 : rows;
}

bool
blocks_next(struct blocks *b, struct calls *slice)
{
	struct calls *calls;
	struct cursor *cursor;
	uint32_t location;
	size_t from, to, end;
	bool added;

	if (b->count == 0)
		return false;
	calls = read_earliest(b);
	location = calls->location;
	cursor = &b->cursors[location];
	if (cursor->row < calls->first || cursor->row - calls->first >= calls->count)
		source_changed(b->source);
	from = (size_t)(cursor->row - calls->first);
	end = calls->count;
	if (end - from > cursor->rows - cursor->row)	/* the rank is alive and wrote more */
		end = from + (size_t)(cursor->rows - cursor->row);
	to = end - from > slice_rows(b, calls->count) ? from + slice_rows(b, calls->count) : end;
	while (to < end && calls->call[to] == 0)	/* a call and its parts stay together */
		to++;
	added = cursor->row + (to - from) == cursor->rows;
	if (added) {
		calls->count = to;
		add_last_row(calls, thread_of(b->input, location));
	}
	*slice = calls_slice(calls, from, added ? calls->count : to);
	cursor->row += to - from;
	cursor->leave_ns = calls->leave_ns[to - 1];
	cursor->found = cursor->held = to < end;
	b->heap[0].at_ns = to < end ?
	    event_ns(b->input, location, 2 * cursor->row, calls->enter_ns[to]) :
	    event_ns(b->input, location, 2 * cursor->row - 1, cursor->leave_ns);
	if (cursor->row == cursor->rows)
		b->heap[0] = b->heap[--b->count];
	if (b->count > 0)
		heap_down(b->heap, b->count, 0);
	return true;
}
