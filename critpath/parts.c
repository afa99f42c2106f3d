/* SPDX-License-Identifier: BSD-3-Clause */
#include "critpath.h"

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

/* The next stretch begins in the oldest block that is still needed. */
static void
take_sync(struct scan *scan, struct index *index, const struct message *message)
{
	struct index_entry entry = { .from = message->offset, .at = message->offset };
	const uint64_t *seqs = scan->run.graph.seqs;

	graph_rows(&scan->run.graph, message);
	for (uint32_t l = 0; l < scan->run.graph.known.location_count; l++) {
		struct blocks *blocks = &scan->blocks[l];
		size_t old = 0;

		entry.rows += seqs[l];
		while (old < blocks->count && blocks->at[old].end <= seqs[l])
			old++;
		if (old > 0) {
			blocks->count -= old;
			memmove(blocks->at, blocks->at + old, blocks->count * sizeof *blocks->at);
		}
		if (blocks->count > 0 && blocks->at[0].offset < entry.from)
			entry.from = blocks->at[0].offset;
	}
	if (index->count > 0)
		entry.before = index->entries[index->count - 1].before;
	while (entry.before < index->count && index->entries[entry.before].at < entry.from)
		entry.before++;
	*APPEND(index->entries, index->count, index->most) = entry;
	index->syncs++;
}

void
parts_read(struct index *index, const char *file)
{
	const struct team alone = { .size = 1 };
	struct scan scan = { 0 };
	struct message message;

	if (index_read(index, file))
		return;
	/* Reads the headers of all messages. */
	index_free(index);
	*index = (struct index){ .step = 1 };
	run_open(&scan.run, file, READ_LAZY, NO_STRETCHES, &alone);
	while (run_next(&scan.run, &message)) {
		run_take(&scan.run, &message, NULL);	/* definitions only */
		if (is_kind(&message, "run"))
			scan.blocks = zalloc(scan.run.graph.known.location_count,
			    sizeof *scan.blocks);
		else if (is_kind(&message, "calls"))
			take_calls(&scan, &message);
		else if (is_kind(&message, "sync"))
			take_sync(&scan, index, &message);
		if (is_definition(&message))
			index->defined = message.offset;
	}
	index->rows = reader_rows(scan.run.graph.in);
	for (uint32_t l = 0; l < scan.run.graph.known.location_count; l++)
		free(scan.blocks[l].at);
	free(scan.blocks);
	graph_close(&scan.run.graph);
}

struct part
part_of(const struct index *index, int number, int count, uint64_t *rows)
{
	const uint64_t stretches = index->syncs + 1;
	struct part part = { .from = stretches, .to = stretches, .defined = index->defined };

	*rows = 0;
	/* A chunk from one entry to the next belongs to the part of its middle row. */
	for (size_t i = 0; i <= index->count; i++) {
		const struct index_entry begin = i > 0 ? index->entries[i - 1] :
		    (struct index_entry){ 0 };
		const uint64_t own = (i < index->count ? index->entries[i].rows : index->rows) -
		    begin.rows;
		const int owner = index->rows == 0 ? 0 : (int)((double)(begin.rows + own / 2) /
		    (double)index->rows * (double)count);

		if (owner > number) {
			part.to = i * index->step;
			part.to_at = begin.at;
			break;
		}
		if (owner < number)
			continue;
		if (part.from == stretches) {
			part.from = i * index->step;
			part.from_at = begin.at;
			part.offset = begin.from;
			part.stretch = begin.before;
		}
		*rows += own;
	}
	return part;
}
