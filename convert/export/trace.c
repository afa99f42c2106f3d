/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads all rows and messages of a graph stream. */
#include <stdlib.h>

#include "export.h"

static const struct column_type location_type = { 4, false, true, 0 };
static const struct column_type seq_type = { 8, false, true, 0 };

static void
take_rows(struct trace *trace, struct reader *in, const struct message *message)
{
	static struct calls calls;
	struct calls *rows;

	if (calls_read(&calls, in, message) < 0)
		die_input(in);
	if (calls.location >= trace->known.location_count ||
	    calls.first != trace->rows[calls.location].count) {
		reader_fail(in, message->offset, "calls: the block does not follow the one before");
		die_input(in);
	}
	rows = &trace->rows[calls.location];
	rows->location = calls.location;
	if (calls_append(rows, &calls) < 0)
		die("out of memory");
}

static void
take_edges(struct trace *trace, struct reader *in, const struct message *message)
{
	int64_t stated;
	const msgpack_object *bin = body_get(message, "source");
	size_t n;
	uint32_t *location;
	uint64_t *seq;

	if (body_int(in, message, "count", 0, UINT32_MAX, &stated) < 0)
		die_input(in);
	if (bin == NULL || bin->type != MSGPACK_OBJECT_BIN || bin->via.bin.size < stated) {
		reader_fail(in, message->offset, "messages: source is missing or too short");
		die_input(in);
	}
	n = (size_t)stated;
	location = zalloc(2 * n + 1, sizeof *location);
	seq = zalloc(2 * n + 1, sizeof *seq);
	if (body_column(in, message, "source", location_type, n, n, location) < 0 ||
	    body_column(in, message, "target", location_type, n, n, location + n) < 0 ||
	    body_column(in, message, "send", seq_type, n, n, seq) < 0 ||
	    body_column(in, message, "receive", seq_type, n, n, seq + n) < 0)
		die_input(in);
	for (size_t i = 0; i < 2 * n; i++)
		if (location[i] >= trace->known.location_count ||
		    seq[i] >= trace->rows[location[i]].count) {
			reader_fail(in, message->offset, "messages: row %llu of location %u is not there",
			    (unsigned long long)seq[i], location[i]);
			die_input(in);
		}
	trace->edges = grow(trace->edges, &trace->edge_capacity, trace->edge_count + n,
	    sizeof *trace->edges);
	for (size_t i = 0; i < n; i++)
		trace->edges[trace->edge_count++] =
		    (struct edge){ location[i], location[n + i], seq[i], seq[n + i] };
	free(location);
	free(seq);
}

static void
take_rank(struct trace *trace, struct reader *in, const struct message *message)
{
	int64_t rank;

	if (trace->hosts == NULL || body_int(in, message, "rank", 0, trace->known.ranks - 1, &rank) < 0)
		return;
	free(trace->hosts[rank]);
	trace->hosts[rank] = body_string(message, "host");
}

void
trace_read(struct trace *trace, const char *file)
{
	struct reader *in;
	struct message message;
	struct progress progress = { 0 };

	if (reader_open(&in, file, READ_STREAM) < 0 ||
	    reader_refuse_content(in, "trace", "lp-graph matches it first") < 0)
		die_input(in);
	while (progress_next(&progress, in, &message)) {
		if (definitions_take(&trace->known, in, &message) < 0)
			die_input(in);
		if (is_kind(&message, "run")) {
			trace->rows = zalloc(trace->known.location_count, sizeof *trace->rows);
			trace->hosts = zalloc((size_t)trace->known.ranks + 1, sizeof *trace->hosts);
		} else if (is_kind(&message, "rank"))
			take_rank(trace, in, &message);
		else if (is_kind(&message, "calls"))
			take_rows(trace, in, &message);
		else if (is_kind(&message, "messages"))
			take_edges(trace, in, &message);
	}
	if (trace->rows == NULL)
		die("the stream has no message of kind run");
}

void
export_prv_files(const struct export *export)
{
	static struct trace trace;

	trace_read(&trace, export->files[0]);
	export_prv(&trace, export->name);
}
