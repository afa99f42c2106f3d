/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/spool.h"

enum { BLOCK = 4096 };		/* rows of a message */

static const struct column_type location_type = { 4, false, true, 0 };
static const struct column_type seq_type = { 8, false, true, 0 };
static const struct column_type time_type = { 8, true, true, 0 };
static const struct column_type kind_type = { 1, false, true, 0 };
static const struct column_type call_type = { 2, false, true, 0 };

static void
write_block(struct writer *out, const struct reader *in, int number, const struct segment *at,
    size_t count)
{
	uint32_t location[BLOCK], site[BLOCK];
	int64_t begin[BLOCK], end[BLOCK];
	uint16_t call[BLOCK];
	uint8_t kind[BLOCK], polls[BLOCK];
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		location[i] = at[i].location;
		site[i] = at[i].site;
		begin[i] = at[i].begin_ns;
		end[i] = at[i].end_ns;
		call[i] = reader_call_numbers(in)[at[i].call];
		kind[i] = at[i].kind;
		polls[i] = at[i].polls;
		any |= at[i].polls;
	}
	message_begin(out, number > 0 ? "alternatives" : "segments", (number > 0 ? 8U : 7U) + any);
	if (number > 0)
		put_int(out, "number", number);
	put_uint(out, "count", count);
	put_column(out, "location", location_type, location, count);
	put_column(out, "begin", time_type, begin, count);
	put_column(out, "end", time_type, end, count);
	put_column(out, "kind", kind_type, kind, count);
	put_column(out, "call", call_type, call, count);
	put_column(out, "site", location_type, site, count);
	if (any)
		put_column(out, "polls", kind_type, polls, count);
	if (message_end(out) < 0)
		die_output();
}

void
write_segments(struct writer *out, const struct reader *in, int number,
    const struct segments *segments)
{
	for (size_t i = 0; i < segments->count; i += BLOCK)
		write_block(out, in, number, segments->at + i,
		    segments->count - i < BLOCK ? segments->count - i : BLOCK);
}

static _Noreturn void
die_file(void)
{
	die("temporary file: %s", errno != 0 ? strerror(errno) : "it has been cut");
}

void
segment_file_add(struct segment_file *file, const struct segments *segments)
{
	if (file->file == NULL && (file->file = fdopen(spool_open(), "w+")) == NULL)
		die_file();
	if (fwrite(segments->at, sizeof *segments->at, segments->count, file->file) != segments->count)
		die_file();
	file->count += segments->count;
}

void
segment_file_write(struct segment_file *file, struct writer *out, const struct reader *in)
{
	struct segment at[BLOCK];

	if (file->count > 0 && fseek(file->file, 0, SEEK_SET) < 0)
		die_file();
	while (file->count > 0) {
		size_t count = file->count < BLOCK ? file->count : BLOCK;

		errno = 0;
		if (fread(at, sizeof *at, count, file->file) != count)
			die_file();
		write_block(out, in, 0, at, count);
		file->count -= count;
	}
	if (file->file != NULL && fseek(file->file, 0, SEEK_SET) < 0)
		die_file();
}

void
write_slack(struct writer *out, const struct slack_rows *rows)
{
	for (size_t i = 0; i < rows->count; i += BLOCK) {
		size_t count = rows->count - i < BLOCK ? rows->count - i : BLOCK;

		message_begin(out, "slack", 5);
		put_uint(out, "count", count);
		put_column(out, "location", location_type, rows->location + i, count);
		put_column(out, "seq", seq_type, rows->seq + i, count);
		put_column(out, "compute", time_type, rows->compute_ns + i, count);
		put_column(out, "call", time_type, rows->call_ns + i, count);
		if (message_end(out) < 0)
			die_output();
	}
}

void
write_gains(struct writer *out, const struct whatif *whatif)
{
	for (size_t site = 0; site < whatif->gain_capacity; site++) {
		const struct gain *gain = &whatif->gains[site];

		if (gain->most_ns <= 0)
			continue;
		message_begin(out, "gain", 4);
		put_uint(out, "site", site);
		put_int(out, "percent", whatif->faster);
		put_int(out, "gain_ns", gain->ns);
		put_int(out, "most_ns", gain->most_ns);
		if (message_end(out) < 0)
			die_output();
	}
}
