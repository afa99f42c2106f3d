/* SPDX-License-Identifier: BSD-3-Clause */
#include "packed.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"

struct chunk {
	union {
		uint64_t offset;	/* in the parts */
		uint8_t *bytes;		/* of a piece that is longer than a part */
	} at;
	uint32_t first;			/* low bits of the seq of its first row: see chunk_row */
	uint32_t count, size;		/* rows, packed bytes */
	uint32_t slot;			/* 1 + slot of its unpacked rows; FRONT: there; 0: none */
};

#define FRONT UINT32_MAX

struct chunks {
	struct chunk *of;		/* BEGIN to END - 1, in order */
	uint32_t begin, end, capacity;
	uint32_t found;			/* index of the last result of find_chunk */
	uint64_t first;			/* rows before it are forgotten */
};

struct slot {
	char *rows;
	size_t capacity;		/* in rows */
	uint64_t first;			/* seq of the chunk's first row */
	uint64_t request;		/* number of the last request for it; 0: none */
	uint32_t location;
	bool used, changed;
};

/*
 * With very many locations each has a front: the chunk that it is read at, in a place of its own.
 * Who follows time takes rows of all locations in turn, and so finds them with one look at memory.
 */
struct front {
	uint64_t first;			/* seq of the chunk's first row */
	uint16_t count, gone;		/* rows, which follow this struct; forgotten ones of them */
	bool changed;
};

struct packed {
	size_t row_bytes;
	struct row_shape shape;
	size_t chunk_rows;
	uint32_t locations;
	struct chunks *chunks;		/* by location */
	struct slot *slots;
	uint32_t slot_count, next_slot, last_slot, pinned;	/* pinned, last: 1 + it; 0: none */
	uint64_t requests;
	uint8_t *scratch;
	size_t scratch_size;
	char *fronts;			/* by location, FRONT_BYTES each; NULL: there are none */
	size_t front_bytes;
	struct parts parts;
};

/* ---- chunks ----------------------------------------------------------------------------- */

struct packed *
packed_new(uint32_t locations, size_t row_bytes, unsigned wide, size_t bytes)
{
	enum { MANY_ROWS = 1 << 17, LEAST_ROWS = 8, MOST_ROWS = 1024 };
	struct packed *p = zalloc(1, sizeof *p);

	p->row_bytes = row_bytes;
	p->locations = locations;
	p->chunks = zalloc(locations, sizeof *p->chunks);
	p->shape = row_shape(row_bytes, wide);
	/*
	 * Some operations unpack a chunk of every location at a time. With many locations most
	 * requests are for one row of a chunk: small chunks take less time.
	 */
	p->chunk_rows = MANY_ROWS / locations;
	if (p->chunk_rows > MOST_ROWS)
		p->chunk_rows = MOST_ROWS;
	if (p->chunk_rows < LEAST_ROWS)
		p->chunk_rows = LEAST_ROWS;
	p->slot_count = (uint32_t)(bytes / 4 / (p->chunk_rows * row_bytes));
	if (p->slot_count < LEAST_SLOTS)
		p->slot_count = LEAST_SLOTS;
	p->slots = zalloc(p->slot_count, sizeof *p->slots);
	parts_begin(&p->parts, bytes - bytes / 4);
	return p;
}

void
packed_add_fronts(struct packed *p)
{
	enum { FRONT_ROWS = 4 };	/* 8 take 0.8 of the time, and 0.4 KB more for each */

	p->chunk_rows = FRONT_ROWS;
	p->front_bytes = sizeof(struct front) + p->chunk_rows * p->row_bytes;
	p->fronts = zalloc(p->locations, p->front_bytes);
}

void
packed_free(struct packed *p)
{
	if (p == NULL)
		return;
	for (struct chunks *chunks = p->chunks; chunks < p->chunks + p->locations; chunks++) {
		for (uint32_t c = chunks->begin; c < chunks->end; c++)
			if (chunks->of[c].size > PART)
				free(chunks->of[c].at.bytes);
		free(chunks->of);
	}
	for (uint32_t s = 0; s < p->slot_count; s++)
		free(p->slots[s].rows);
	parts_free(&p->parts);
	free(p->chunks);
	free(p->slots);
	free(p->fronts);
	free(p->scratch);
	free(p);
}

static inline struct front *
front_of(const struct packed *p, uint32_t location)
{
	return p->fronts == NULL ? NULL :
	    (struct front *)(void *)(p->fronts + location * p->front_bytes);
}

static inline bool
has_row(const struct front *front, uint64_t seq)
{
	return seq - front->first < front->count && seq - front->first >= front->gone;
}

/* The row's number in the chunk; huge if it lies before. So a location keeps up to 2^31 rows. */
static inline uint32_t
chunk_row(const struct chunk *chunk, uint64_t seq)
{
	return (uint32_t)seq - chunk->first;
}

/* The chunk that has the row, which must not precede the first kept row. */
static struct chunk *
find_chunk(const struct packed *p, uint32_t location, uint64_t seq)
{
	struct chunks *chunks = &p->chunks[location];
	uint32_t low = chunks->begin, high = chunks->end;

	/* Often it is the same chunk again, or the one before. */
	for (uint32_t c = chunks->found; c + 2 > chunks->found && c >= low && c < high; c--)
		if (chunk_row(&chunks->of[c], seq) < chunks->of[c].count)
			return &chunks->of[chunks->found = c];
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (chunk_row(&chunks->of[middle], seq) <= INT32_MAX)
			low = middle;
		else
			high = middle;
	}
	return &chunks->of[chunks->found = low];
}

static void
let_go(struct packed *p, const struct chunk *chunk)
{
	if (chunk->size > PART)
		free(chunk->at.bytes);
	else
		forget_piece(&p->parts, chunk->at.offset, chunk->size);
}

/* Packs the rows of a chunk. */
static void
keep_packed(struct packed *p, struct chunk *chunk, const char *rows)
{
	size_t size;

	p->scratch = grow(p->scratch, &p->scratch_size, rows_most_bytes(&p->shape, chunk->count),
	    1);
	size = rows_pack(&p->shape, p->scratch, rows, chunk->count);
	if (size > UINT32_MAX)
		die("out of memory");
	chunk->size = (uint32_t)size;
	if (size <= PART) {
		chunk->at.offset = put_piece(&p->parts, p->scratch, chunk->size);
		return;
	}
	chunk->at.bytes = need(malloc(size));
	memcpy(chunk->at.bytes, p->scratch, size);
}

static struct chunk *
new_chunk(struct chunks *chunks)
{
	size_t capacity = chunks->capacity;

	if (chunks->begin > 0 && 2 * chunks->begin >= chunks->end) {
		memmove(chunks->of, chunks->of + chunks->begin,
		    (chunks->end - chunks->begin) * sizeof *chunks->of);
		chunks->end -= chunks->begin;
		chunks->begin = 0;
	}
	if (chunks->end == UINT32_MAX)
		die("out of memory");
	chunks->of = grow_little(chunks->of, &capacity, (size_t)chunks->end + 1,
	    sizeof *chunks->of);
	chunks->capacity = (uint32_t)capacity;
	return &chunks->of[chunks->end++];
}

static bool
begins_call(const struct packed *p, const char *rows, size_t at)
{
	return ((const struct row *)(const void *)(rows + at * p->row_bytes))->part == 0;
}

void
packed_add(struct packed *p, uint32_t location, uint64_t first, const char *rows, size_t count)
{
	struct chunks *chunks = &p->chunks[location];

	if (chunks->begin == chunks->end)
		chunks->first = first;
	if (first + count - chunks->first > INT32_MAX)
		die("more than 2^31 rows of a location between two synchronisation points");
	while (count > 0) {
		struct chunk chunk = { .first = (uint32_t)first };
		size_t n = count < p->chunk_rows ? count : p->chunk_rows;

		while (n > 0 && n < count && !begins_call(p, rows, n))
			n--;
		if (n == 0)	/* one call is longer */
			for (n = p->chunk_rows; n < count && !begins_call(p, rows, n); )
				n++;
		chunk.count = (uint32_t)n;
		keep_packed(p, &chunk, rows);
		*new_chunk(chunks) = chunk;
		first += n;
		rows += n * p->row_bytes;
		count -= n;
	}
}

void
packed_drop(struct packed *p, uint32_t location, uint64_t seq)
{
	struct chunks *chunks = &p->chunks[location];

	while (chunks->begin < chunks->end) {
		struct chunk *chunk = &chunks->of[chunks->begin];

		if (seq <= chunks->first || chunk_row(chunk, seq) < chunk->count)
			break;
		if (chunk->slot == FRONT)
			front_of(p, location)->count = 0;
		else if (chunk->slot > 0)
			p->slots[chunk->slot - 1].used = false;
		let_go(p, chunk);
		chunks->begin++;
	}
	if (seq > chunks->first)
		chunks->first = seq;
	if (chunks->begin < chunks->end && chunks->of[chunks->begin].slot == FRONT)
		front_of(p, location)->gone =
		    (uint16_t)chunk_row(&chunks->of[chunks->begin], chunks->first);
}

uint64_t
packed_first(const struct packed *p, uint32_t location, uint64_t end)
{
	const struct chunks *chunks = &p->chunks[location];

	return chunks->begin == chunks->end ? end : chunks->first;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* The chunk of a row; NULL: it is not kept. */
static struct chunk *
kept_chunk(const struct packed *p, uint32_t location, uint64_t seq)
{
	struct chunk *chunk;

	if (p->chunks[location].begin == p->chunks[location].end || seq < p->chunks[location].first)
		return NULL;
	chunk = find_chunk(p, location, seq);
	return chunk_row(chunk, seq) < chunk->count ? chunk : NULL;
}

static const uint8_t *
packed_bytes(struct packed *p, const struct chunk *chunk)
{
	if (chunk->size > PART)
		return chunk->at.bytes;
	p->scratch = grow(p->scratch, &p->scratch_size, chunk->size, 1);
	return get_piece(&p->parts, chunk->at.offset, chunk->size, p->scratch);
}

/* The chunk's rows leave its slot or front. */
static void
put_back(struct packed *p, uint32_t location, uint64_t first, const char *rows, bool changed)
{
	struct chunk *chunk = find_chunk(p, location, first);

	if (changed) {
		let_go(p, chunk);
		keep_packed(p, chunk, rows);
	}
	chunk->slot = 0;
}

/*
 * The next slot in turn, emptied of its chunk. The rows of the pinned chunk and of the last
 * requests must stay in place.
 */
static uint32_t
free_slot(struct packed *p)
{
	uint32_t at = p->next_slot;
	struct slot *slot;

	while (at + 1 == p->pinned || (p->slots[at].request > 0 &&
	    p->requests - p->slots[at].request < LEAST_SLOTS / 2))
		at = (at + 1) % p->slot_count;
	p->next_slot = (at + 1) % p->slot_count;
	slot = &p->slots[at];
	if (slot->used)
		put_back(p, slot->location, slot->first, slot->rows, slot->changed);
	return at;
}

static void
fill_slot(struct packed *p, uint32_t location, uint64_t seq, struct chunk *chunk)
{
	const uint32_t at = free_slot(p);
	struct slot *slot = &p->slots[at];

	slot->rows = grow_little(slot->rows, &slot->capacity, chunk->count, p->row_bytes);
	rows_unpack(&p->shape, packed_bytes(p, chunk), slot->rows, chunk->count);
	slot->first = seq - chunk_row(chunk, seq);
	slot->location = location;
	slot->used = true;
	slot->changed = false;
	chunk->slot = at + 1;
}

void *
packed_rows(struct packed *p, uint32_t location, uint64_t seq, bool changes, size_t *left)
{
	struct front *front = front_of(p, location);
	struct chunk *chunk;
	struct slot *slot;

	if (front != NULL && has_row(front, seq)) {
		front->changed |= changes;
		*left = front->count - (size_t)(seq - front->first);
		return (char *)(front + 1) + (size_t)(seq - front->first) * p->row_bytes;
	}
	if ((chunk = kept_chunk(p, location, seq)) == NULL)
		return NULL;
	if (chunk->slot == 0)
		fill_slot(p, location, seq, chunk);
	p->last_slot = chunk->slot;
	slot = &p->slots[chunk->slot - 1];
	slot->request = ++p->requests;
	slot->changed |= changes;
	*left = chunk->count - chunk_row(chunk, seq);
	return slot->rows + chunk_row(chunk, seq) * p->row_bytes;
}

void *
packed_rows_in_turn(struct packed *p, uint32_t location, uint64_t seq, bool changes, size_t *left)
{
	struct front *front = front_of(p, location);
	struct chunk *chunk;
	void *rows;

	if (front != NULL && !has_row(front, seq) &&
	    (chunk = kept_chunk(p, location, seq)) != NULL && chunk->slot == 0 &&
	    chunk->count <= p->chunk_rows) {
		if (front->count > 0)
			put_back(p, location, front->first, (char *)(front + 1), front->changed);
		chunk = find_chunk(p, location, seq);
		rows_unpack(&p->shape, packed_bytes(p, chunk), (char *)(front + 1), chunk->count);
		*front = (struct front){ .first = seq - chunk_row(chunk, seq),
		    .count = (uint16_t)chunk->count };
		chunk->slot = FRONT;
	}
	rows = packed_rows(p, location, seq, changes, left);
	p->pinned = p->last_slot;
	return rows;
}
