/* SPDX-License-Identifier: BSD-3-Clause */
#include "critpath.h"

#include <stdlib.h>
#include <string.h>

#include "../base/run/index.h"

/* Blocks of a location with rows of the current stretch, or later ones. */
struct blocks {
	struct block {
		uint64_t end;		/* seq after its last row */
		uint64_t offset;
	} *at;
	size_t count, capacity;
};

struct scan {
	struct run run;
	struct blocks *blocks;		/* by location */
	uint64_t rows;			/* before the current stretch */
};

static void
take_calls(struct scan *scan, const struct message *message)
{
	int64_t location, first, count;
	struct blocks *blocks;

	if (body_int(scan->run.graph.in, message, "location", 0,
	    scan->run.graph.known.location_count - 1, &location) < 0 ||
	    body_int(scan->run.graph.in, message, "first", 0, INT64_MAX - UINT32_MAX, &first) < 0 ||
	    body_int(scan->run.graph.in, message, "count", 0, UINT32_MAX, &count) < 0)
		die_input(scan->run.graph.in);
	blocks = &scan->blocks[location];
	*APPEND(blocks->at, blocks->count, blocks->capacity) = (struct block){
	    (uint64_t)(first + count), message->offset };
}

static void
add_chunk(struct chunks *chunks, struct chunk chunk)
{
	*APPEND(chunks->at, chunks->count, chunks->capacity) = chunk;
}

/* The stretch that ends here has its rows. The next one begins in the oldest block still needed. */
static void
take_sync(struct scan *scan, struct chunks *chunks, const struct message *message)
{
	struct chunk next = { .first = chunks->count, .at = message->offset,
	    .offset = message->offset };
	const uint64_t *seqs = scan->run.graph.seqs;
	uint64_t rows = 0;

	graph_rows(&scan->run.graph, message);
	for (uint32_t l = 0; l < scan->run.graph.known.location_count; l++) {
		struct blocks *blocks = &scan->blocks[l];
		size_t old = 0;

		rows += seqs[l];
		while (old < blocks->count && blocks->at[old].end <= seqs[l])
			old++;
		if (old > 0) {
			blocks->count -= old;
			memmove(blocks->at, blocks->at + old, blocks->count * sizeof *blocks->at);
		}
		if (blocks->count > 0 && blocks->at[0].offset < next.offset)
			next.offset = blocks->at[0].offset;
	}
	chunks->at[chunks->count - 1].rows = rows - scan->rows;
	scan->rows = rows;
	next.stretch = chunks->at[chunks->count - 1].stretch;
	while (next.stretch < chunks->count && (next.stretch + 1 == chunks->count ? next.at :
	    chunks->at[next.stretch + 1].at) < next.offset)
		next.stretch++;
	add_chunk(chunks, next);
}

/* Reads the headers of all messages. */
static void
chunks_scan(struct chunks *chunks, const char *file)
{
	const struct team alone = { .size = 1 };
	struct scan scan = { 0 };
	struct message message;

	run_open(&scan.run, file, READ_LAZY, NO_STRETCHES, &alone);
	add_chunk(chunks, (struct chunk){ 0 });
	while (run_next(&scan.run, &message)) {
		run_take(&scan.run, &message, NULL);	/* definitions only */
		if (is_kind(&message, "run"))
			scan.blocks = zalloc(scan.run.graph.known.location_count,
			    sizeof *scan.blocks);
		else if (is_kind(&message, "calls"))
			take_calls(&scan, &message);
		else if (is_kind(&message, "sync"))
			take_sync(&scan, chunks, &message);
		if (is_definition(&message))
			chunks->defined = message.offset;
	}
	chunks->at[chunks->count - 1].rows = reader_rows(scan.run.graph.in) - scan.rows;
	chunks->stretches = chunks->count;
	for (uint32_t l = 0; l < scan.run.graph.known.location_count; l++)
		free(scan.blocks[l].at);
	free(scan.blocks);
	graph_close(&scan.run.graph);
}

static void
chunks_from(struct chunks *chunks, const struct index *index)
{
	uint64_t rows = 0;

	add_chunk(chunks, (struct chunk){ 0 });
	for (size_t i = 0; i < index->count; i++) {
		const struct index_entry *e = &index->entries[i];

		chunks->at[i].rows = e->rows - rows;
		rows = e->rows;
		add_chunk(chunks,
		    (struct chunk){ 0, (i + 1) * index->step, e->at, e->from, e->before });
	}
	chunks->at[index->count].rows = index->rows - rows;
	chunks->stretches = index->syncs + 1;
	chunks->defined = index->defined;
}

void
chunks_read(struct chunks *chunks, const char *file)
{
	struct index index;

	memset(chunks, 0, sizeof *chunks);
	if (index_read(&index, file))
		chunks_from(chunks, &index);
	else
		chunks_scan(chunks, file);
	index_free(&index);
}

void
chunks_free(struct chunks *chunks)
{
	free(chunks->at);
	memset(chunks, 0, sizeof *chunks);
}

struct part
chunks_part(const struct chunks *chunks, int index, int count, uint64_t *rows)
{
	uint64_t all = 0, before = 0;
	struct part part = { .from = chunks->stretches, .to = chunks->stretches,
	    .defined = chunks->defined };

	*rows = 0;
	for (size_t p = 0; p < chunks->count; p++)
		all += chunks->at[p].rows;
	/* A chunk belongs to the part of its middle row. */
	for (size_t p = 0; p < chunks->count; before += chunks->at[p++].rows) {
		const struct chunk *chunk = &chunks->at[p];
		int owner = all == 0 ? 0 : (int)((double)(before + chunk->rows / 2) / (double)all *
		    (double)count);

		if (owner > index) {
			part.to = chunk->first;
			part.to_at = chunk->at;
			break;
		}
		if (owner < index)
			continue;
		if (part.from == chunks->stretches) {
			part.from = chunk->first;
			part.from_at = chunk->at;
			part.offset = chunk->offset;
			part.stretch = chunk->stretch;
		}
		*rows += chunk->rows;
	}
	return part;
}
