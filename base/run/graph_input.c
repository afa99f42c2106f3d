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

static void
begin_run(struct graph_input *graph)
{
	graph->seqs = zalloc(graph->known.location_count, sizeof *graph->seqs);
	window_open(&graph->window, graph->known.location_count, graph->row_bytes);
	graph->window.shared = graph->row_bytes == 0;
}

static int
read_calls(struct graph_input *graph, const struct message *message)
{
	if (calls_read(&graph->calls, graph->in, message) < 0)
		return -1;
	return graph->row_bytes == 0 ? 0 :
	    window_add(&graph->window, graph->in, message, &graph->calls);
}

enum graph_item
graph_read(struct graph_input *graph, const struct message *message)
{
	struct reader *in = graph->in;
	enum graph_item item = GRAPH_OTHER;
	int got = definitions_take(&graph->known, in, message);

	if (got == 0) {
		if (is_kind(message, "calls")) {
			item = GRAPH_CALLS;
			got = read_calls(graph, message);
		} else if (is_kind(message, "messages") || is_kind(message, "probes")) {
			item = is_kind(message, "probes") ? GRAPH_PROBES : GRAPH_MESSAGES;
			got = messages_read(&graph->edges, in, message, &graph->window);
		} else if (is_kind(message, "collectives")) {
			item = GRAPH_COLLECTIVES;
			got = collectives_read(&graph->edges, in, message, &graph->window);
		} else if (is_kind(message, "settled") || is_kind(message, "sync")) {
			item = is_kind(message, "sync") ? GRAPH_SYNC : GRAPH_SETTLED;
			got = seqs_read(graph->seqs, in, message, &graph->window);
		}
	} else if (is_kind(message, "run")) {
		item = GRAPH_RUN;
		if (got > 0)
			begin_run(graph);
	}
	return got < 0 ? GRAPH_BAD : item;
}

enum graph_item
graph_take(struct graph_input *graph, const struct message *message)
{
	enum graph_item item = graph_read(graph, message);

	if (item == GRAPH_BAD)
		die_input(graph->in);
	return item;
}

void
graph_close(struct graph_input *graph)
{
	reader_close(graph->in);
	calls_free(&graph->calls);
	edge_block_free(&graph->edges);
	window_close(&graph->window);
	free(graph->seqs);
}
