/* SPDX-License-Identifier: BSD-3-Clause */
#include "packed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tool/spool.h"
#include "../tool/tool.h"

struct chunk {
	uint64_t first;			/* seq of its first row */
	union {
		uint8_t *bytes;
		uint64_t offset;	/* in the file */
	} at;
	uint32_t count, size;		/* rows, packed bytes */
	uint32_t slot;			/* 1 + slot of its unpacked rows; 0: none */
	bool filed;
};

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
 * Packed bytes in a temporary file, in parts of 1 MB. A part is reused when none of its pieces is
 * needed. The first piece creates the file.
 */
enum { PART = 1 << 20 };

struct packed_file {
	int fd;				/* -1: none yet */
	uint8_t *filling;		/* the contents of part CURRENT, not yet written */
	uint32_t filled, current;
	uint32_t *live;			/* by part: bytes of needed pieces */
	size_t parts, capacity;
	uint32_t *unused;		/* parts without needed pieces */
	size_t unused_count, unused_capacity;
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
	size_t bytes, limit;		/* of chunks in memory */
	struct packed_file file;
};

/* Packs rows into the scratch space; returns their bytes. */
static size_t
pack(struct packed *p, const char *rows, size_t count)
{
	p->scratch = grow(p->scratch, &p->scratch_size, rows_most_bytes(&p->shape, count), 1);
	return rows_pack(&p->shape, p->scratch, rows, count);
}

/* ---- the temporary file ----------------------------------------------------------------- */

static void
begin_part(struct packed_file *file)
{
	file->filled = 0;
	if (file->unused_count > 0) {
		file->current = file->unused[--file->unused_count];
		return;
	}
	if (file->parts == UINT32_MAX)
		die("temporary file: too long");
	GROW(file->live, file->capacity, file->parts + 1);
	file->live[file->parts] = 0;
	file->current = (uint32_t)file->parts++;
}

/* False: the piece is too long for a part and is not stored. */
static bool
put_piece(struct packed_file *file, const uint8_t *bytes, size_t size, uint64_t *offset)
{
	if (size > PART)
		return false;
	if (file->fd < 0) {
		file->fd = spool_open();
		file->filling = need(malloc(PART));
		begin_part(file);
	}
	if (size > PART - file->filled) {
		if (file->live[file->current] == 0)
			*APPEND(file->unused, file->unused_count, file->unused_capacity) =
			    file->current;
		else
			spool_put(file->fd, file->filling, file->filled,
			    (uint64_t)file->current * PART);
		begin_part(file);
	}
	memcpy(file->filling + file->filled, bytes, size);
	*offset = (uint64_t)file->current * PART + file->filled;
	file->filled += (uint32_t)size;
	file->live[file->current] += (uint32_t)size;
	return true;
}

static void
get_piece(const struct packed_file *file, uint8_t *bytes, size_t size, uint64_t offset)
{
	if (offset / PART == file->current)
		memcpy(bytes, file->filling + offset % PART, size);
	else
		spool_get(file->fd, bytes, size, offset);
}

static void
forget_piece(struct packed_file *file, uint64_t offset, size_t size)
{
	const uint32_t part = (uint32_t)(offset / PART);

	file->live[part] -= (uint32_t)size;
	if (file->live[part] == 0 && part != file->current)
		*APPEND(file->unused, file->unused_count, file->unused_capacity) = part;
}

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
	p->limit = bytes - bytes / 4;
	p->slot_count = (uint32_t)(bytes / 4 / (p->chunk_rows * row_bytes));
	if (p->slot_count < LEAST_SLOTS)
		p->slot_count = LEAST_SLOTS;
	p->slots = zalloc(p->slot_count, sizeof *p->slots);
	p->file.fd = -1;
	return p;
}

void
packed_free(struct packed *p)
{
	if (p == NULL)
		return;
	for (struct chunks *chunks = p->chunks; chunks < p->chunks + p->locations; chunks++) {
		for (uint32_t c = chunks->begin; c < chunks->end; c++)
			if (!chunks->of[c].filed)
				free(chunks->of[c].at.bytes);
		free(chunks->of);
	}
	for (uint32_t s = 0; s < p->slot_count; s++)
		free(p->slots[s].rows);
	free(p->chunks);
	free(p->slots);
	free(p->scratch);
	if (p->file.fd >= 0)
		close(p->file.fd);
	free(p->file.filling);
	free(p->file.live);
	free(p->file.unused);
	free(p);
}

/* The chunk that has the row, which must not precede the first kept row. */
static struct chunk *
find_chunk(const struct packed *p, uint32_t location, uint64_t seq)
{
	struct chunks *chunks = &p->chunks[location];
	uint32_t low = chunks->begin, high = chunks->end;

	/* Often it is the same chunk again, or the one before. */
	for (uint32_t c = chunks->found; c + 2 > chunks->found && c >= low && c < high; c--)
		if (seq - chunks->of[c].first < chunks->of[c].count)
			return &chunks->of[chunks->found = c];
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (chunks->of[middle].first <= seq)
			low = middle;
		else
			high = middle;
	}
	return &chunks->of[chunks->found = low];
}

static void
let_go(struct packed *p, struct chunk *chunk)
{
	if (chunk->filed) {
		forget_piece(&p->file, chunk->at.offset, chunk->size);
	} else {
		p->bytes -= chunk->size;
		free(chunk->at.bytes);
	}
}

/* Keeps the packed bytes in the scratch space as the chunk's. */
static void
keep_packed(struct packed *p, struct chunk *chunk, size_t size)
{
	if (size > UINT32_MAX)
		die("out of memory");
	chunk->at.bytes = need(malloc(size));
	memcpy(chunk->at.bytes, p->scratch, size);
	chunk->size = (uint32_t)size;
	chunk->filed = false;
	p->bytes += size;
}

/* Files all chunks of a location at once, so that they lie side by side. */
static void
file_chunks(struct packed *p, struct chunks *chunks)
{
	for (uint32_t c = chunks->begin; c < chunks->end; c++) {
		struct chunk *chunk = &chunks->of[c];
		uint64_t offset;

		if (chunk->filed ||
		    !put_piece(&p->file, chunk->at.bytes, chunk->size, &offset))
			continue;
		p->bytes -= chunk->size;
		free(chunk->at.bytes);
		chunk->at.offset = offset;
		chunk->filed = true;
	}
}

/* Begins with the location that has just got more: others may have nothing left to file. */
static void
keep_limit(struct packed *p, uint32_t location)
{
	if (p->bytes <= p->limit)
		return;
	for (uint32_t n = 0; n < p->locations && p->bytes > p->limit / 2; n++)
		file_chunks(p, &p->chunks[(location + n) % p->locations]);
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

void
packed_add(struct packed *p, uint32_t location, uint64_t first, const char *rows, size_t count)
{
	struct chunks *chunks = &p->chunks[location];

	if (chunks->begin == chunks->end)
		chunks->first = first;
	while (count > 0) {
		struct chunk chunk = { .first = first };
		size_t n = count < p->chunk_rows ? count : p->chunk_rows;

		while (n < count &&
		    ((const struct row *)(const void *)(rows + n * p->row_bytes))->part > 0)
			n++;
		chunk.count = (uint32_t)n;
		keep_packed(p, &chunk, pack(p, rows, n));
		*new_chunk(chunks) = chunk;
		first += n;
		rows += n * p->row_bytes;
		count -= n;
	}
	keep_limit(p, location);
}

void
packed_drop(struct packed *p, uint32_t location, uint64_t seq)
{
	struct chunks *chunks = &p->chunks[location];

	while (chunks->begin < chunks->end) {
		struct chunk *chunk = &chunks->of[chunks->begin];

		if (chunk->first + chunk->count > seq)
			break;
		if (chunk->slot > 0)
			p->slots[chunk->slot - 1].used = false;
		let_go(p, chunk);
		chunks->begin++;
	}
	if (seq > chunks->first)
		chunks->first = seq;
}

uint64_t
packed_first(const struct packed *p, uint32_t location, uint64_t end)
{
	const struct chunks *chunks = &p->chunks[location];

	return chunks->begin == chunks->end ? end : chunks->first;
}

/* ---- rows ------------------------------------------------------------------------------- */

static void
empty_slot(struct packed *p, struct slot *slot)
{
	struct chunk *chunk = find_chunk(p, slot->location, slot->first);

	if (slot->changed) {
		const size_t size = pack(p, slot->rows, chunk->count);

		let_go(p, chunk);
		keep_packed(p, chunk, size);
		keep_limit(p, slot->location);
	}
	chunk->slot = 0;
	slot->used = slot->changed = false;
}

/*
 * The next slot in turn, emptied of its chunk. The rows of the pinned chunk and of the last
 * requests must stay in place.
 */
static uint32_t
free_slot(struct packed *p)
{
	uint32_t at = p->next_slot;

	while (at + 1 == p->pinned || (p->slots[at].request > 0 &&
	    p->requests - p->slots[at].request < LEAST_SLOTS / 2))
		at = (at + 1) % p->slot_count;
	p->next_slot = (at + 1) % p->slot_count;
	if (p->slots[at].used)
		empty_slot(p, &p->slots[at]);
	return at;
}

static void
fill_slot(struct packed *p, uint32_t location, struct chunk *chunk)
{
	const uint32_t at = free_slot(p);
	struct slot *slot = &p->slots[at];
	const uint8_t *bytes = chunk->at.bytes;

	slot->rows = grow_little(slot->rows, &slot->capacity, chunk->count, p->row_bytes);
	if (chunk->filed) {
		p->scratch = grow(p->scratch, &p->scratch_size, chunk->size, 1);
		get_piece(&p->file, p->scratch, chunk->size, chunk->at.offset);
		bytes = p->scratch;
	}
	rows_unpack(&p->shape, bytes, slot->rows, chunk->count);
	slot->first = chunk->first;
	slot->location = location;
	slot->used = true;
	slot->changed = false;
	chunk->slot = at + 1;
}

void *
packed_rows(struct packed *p, uint32_t location, uint64_t seq, bool changes, size_t *left)
{
	struct chunk *chunk;
	struct slot *slot;

	if (p->chunks[location].begin == p->chunks[location].end || seq < p->chunks[location].first)
		return NULL;
	chunk = find_chunk(p, location, seq);
	if (seq - chunk->first >= chunk->count)
		return NULL;
	if (chunk->slot == 0)
		fill_slot(p, location, chunk);
	p->last_slot = chunk->slot;
	slot = &p->slots[chunk->slot - 1];
	slot->request = ++p->requests;
	slot->changed |= changes;
	*left = chunk->count - (size_t)(seq - chunk->first);
	return slot->rows + (size_t)(seq - chunk->first) * p->row_bytes;
}

void
packed_pin(struct packed *p)
{
	p->pinned = p->last_slot;
}
