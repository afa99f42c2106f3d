/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph_input.h"

#include <stdlib.h>

#include "../tool/tool.h"

void
graph_open(struct graph_input *graph, const char *file, enum reading how)
{
	if (reader_open(&graph->in, file, how) < 0 ||
	    reader_refuse_content(graph->in, "trace", "lp-graph matches it first") < 0)
		die_input(graph->in);
}

static enum graph_item
read_calls(struct graph_input *graph, const struct message *message)
{
	int64_t location;

	if (graph->keeps != NULL) {
		if (body_int(graph->in, message, "location", 0, graph->known.location_count - 1,
		    &location) < 0)
			return GRAPH_BAD;
		if (!graph->keeps[location])
			return GRAPH_NOT_KEPT;
	}
	if (calls_read(&graph->calls, graph->in, message) < 0 || (graph->row_bytes > 0 &&
	    window_add(&graph->window, graph->in, message, &graph->calls) < 0))
		return GRAPH_BAD;
	return GRAPH_CALLS;
}

enum graph_item
graph_define(struct graph_input *graph, const struct message *message)
{
	const int got = definitions_take(&graph->known, graph->in, message);

	if (got <= 0 || !is_kind(message, "run"))
		return got < 0 ? GRAPH_BAD : GRAPH_OTHER;
	graph->seqs = zalloc(graph->known.location_count, sizeof *graph->seqs);
	window_open(&graph->window, graph->known.location_count, graph->row_bytes);
	graph->window.shared = graph->row_bytes == 0;
	return GRAPH_RUN;
}

enum graph_item
graph_rows(struct graph_input *graph, const struct message *message)
{
	struct reader *in = graph->in;
	enum graph_item item;
	int got;

	if (is_kind(message, "calls"))
		return read_calls(graph, message);
	if (is_kind(message, "messages") || is_kind(message, "probes") ||
	    is_kind(message, "locks") || is_kind(message, "holds")) {
		item = is_kind(message, "messages") ? GRAPH_MESSAGES : is_kind(message, "probes") ?
		    GRAPH_PROBES : is_kind(message, "locks") ? GRAPH_LOCKS : GRAPH_HOLDS;
		got = messages_read(&graph->edges, in, message, &graph->window);
	} else if (is_kind(message, "collectives")) {
		item = GRAPH_COLLECTIVES;
		got = collectives_read(&graph->edges, in, message, &graph->window);
	} else if (is_kind(message, "overdue")) {
		item = GRAPH_OVERDUE;
		got = overdue_read(&graph->edges, in, message, &graph->window);
	} else if (is_kind(message, "settled") || is_kind(message, "sync")) {
		item = is_kind(message, "sync") ? GRAPH_SYNC : GRAPH_SETTLED;
		got = seqs_read(graph->seqs, "seq", in, message, &graph->window);
	} else {
		return GRAPH_OTHER;
	}
	return got < 0 ? GRAPH_BAD : item;
}

enum graph_item
graph_read(struct graph_input *graph, const struct message *message)
{
	const enum graph_item item = graph_define(graph, message);

	return item == GRAPH_OTHER ? graph_rows(graph, message) : item;
}

enum graph_item
graph_take(struct graph_input *graph, const struct message *message)
{
	enum graph_item item = graph_read(graph, message);

	if (item == GRAPH_BAD)
		die_input(graph->in);
	return item;
}

bool
graph_early(struct graph_input *graph, const struct message *message)
{
	if (body_get(message, "early") == NULL)
		return false;
	if (seqs_read(graph->seqs, "early", graph->in, message, &graph->window) < 0)
		die_input(graph->in);
	return true;
}

void
graph_close(struct graph_input *graph)
{
	reader_close(graph->in);
	calls_free(&graph->calls);
	edge_block_free(&graph->edges);
	window_close(&graph->window);
	free(graph->seqs);
	free(graph->keeps);
}
