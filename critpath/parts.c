/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of a location that hold rows of the stretch being read, or later ones. */
struct blocks {
	struct block {
		uint64_t end;		/* seq behind its last row */
		uint64_t offset;
	} *at;
	size_t count, capacity;
};

struct scan {
	struct run run;
	struct blocks *blocks;		/* by location */
	uint64_t *seqs;			/* of the synchronisation point */
	uint64_t rows;			/* before the stretch being read */
};

static void
take_calls(struct scan *scan, const struct message *message)
{
	int64_t location, first, count;
	struct blocks *blocks;

	if (body_int(&scan->run.in, message, "location", 0, scan->run.known.location_count - 1,
	    &location) < 0 ||
	    body_int(&scan->run.in, message, "first", 0, INT64_MAX - UINT32_MAX, &first) < 0 ||
	    body_int(&scan->run.in, message, "count", 0, UINT32_MAX, &count) < 0)
		die_input(&scan->run.in);
	blocks = &scan->blocks[location];
	blocks->at = grow(blocks->at, &blocks->capacity, blocks->count + 1, sizeof *blocks->at);
	blocks->at[blocks->count++] = (struct block){ (uint64_t)(first + count), message->offset };
}

static void
add_place(struct table *table, uint64_t rows, uint64_t offset)
{
	table->at = grow(table->at, &table->capacity, table->count + 1, sizeof *table->at);
	table->at[table->count++] = (struct place){ rows, offset, UINT64_MAX };
}

/* The stretch that ends here has its rows; the next one begins in the oldest block still needed. */
static void
take_sync(struct scan *scan, struct table *table, const struct message *message)
{
	uint64_t rows = 0, offset = message->offset;

	if (seqs_read(scan->seqs, &scan->run.in, message, &scan->run.window) < 0)
		die_input(&scan->run.in);
	for (uint32_t l = 0; l < scan->run.known.location_count; l++) {
		struct blocks *blocks = &scan->blocks[l];
		size_t old = 0;

		rows += scan->seqs[l];
		while (old < blocks->count && blocks->at[old].end <= scan->seqs[l])
			old++;
		if (old > 0) {
			blocks->count -= old;
			memmove(blocks->at, blocks->at + old, blocks->count * sizeof *blocks->at);
		}
		if (blocks->count > 0 && blocks->at[0].offset < offset)
			offset = blocks->at[0].offset;
	}
	table->at[table->count - 1].rows = rows - scan->rows;
	table->at[table->count - 1].end_offset = message->offset;
	scan->rows = rows;
	add_place(table, 0, offset);
}

static const struct part nothing;	/* definitions only */

void
table_read(struct table *table, const char *file)
{
	struct scan scan = { 0 };
	struct message message;

	run_open_part(&scan.run, file, nothing);
	add_place(table, 0, 0);
	while (run_next(&scan.run, &message)) {
		run_take(&scan.run, &message, NULL);	/* definitions only */
		if (is_kind(&message, "run")) {
			scan.blocks = zalloc(scan.run.known.location_count, sizeof *scan.blocks);
			scan.seqs = zalloc(scan.run.known.location_count, sizeof *scan.seqs);
		} else if (is_kind(&message, "calls"))
			take_calls(&scan, &message);
		else if (is_kind(&message, "sync"))
			take_sync(&scan, table, &message);
		if (is_definition(&message))
			table->defined = message.offset;
	}
	table->at[table->count - 1].rows = scan.run.in.rows - scan.rows;
	for (uint32_t l = 0; l < scan.run.known.location_count; l++)
		free(scan.blocks[l].at);
	free(scan.blocks);
	free(scan.seqs);
	window_close(&scan.run.window);
	reader_close(&scan.run.in);
}

struct part
table_part(const struct table *table, int index, int count)
{
	uint64_t all = 0, rows = 0;
	struct part part = { .from = table->count, .to = table->count, .defined = table->defined };

	for (size_t s = 0; s < table->count; s++)
		all += table->at[s].rows;
	/* A stretch belongs to the part that its middle row lies in. */
	for (size_t s = 0; s < table->count; rows += table->at[s++].rows) {
		int owner = all == 0 ? 0 : (int)((double)(rows + table->at[s].rows / 2) / (double)all *
		    (double)count);

		if (owner >= index && part.from == table->count) {
			part.from = s;
			part.offset = table->at[s].offset;
		}
		if (owner > index) {
			part.to = s;
			break;
		}
	}
	while (part.stretch < part.from && part.stretch + 1 < table->count &&
	    table->at[part.stretch].end_offset < part.offset)
		part.stretch++;
	return part;
}
