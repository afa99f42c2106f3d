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
			die_input(graph->in);
		if (!graph->keeps[location])
			return GRAPH_NOT_KEPT;
	}
	if (calls_read(&graph->calls, graph->in, message) < 0)
		die_input(graph->in);
	if (graph->row_bytes > 0)
		window_add(&graph->window, graph->in, message, &graph->calls);
	return GRAPH_CALLS;
}

/* ---- edges ------------------------------------------------------------------------------ */

static void
begin_edges(struct edge_block *edges, size_t count)
{
	if (count > edges->capacity) {
		free(edges->source);
		free(edges->target);
		free(edges->send);
		free(edges->receive);
		edges->capacity = count;
		edges->location = edges->source = zalloc(count, sizeof *edges->source);
		edges->target = zalloc(count, sizeof *edges->target);
		edges->seq = edges->send = zalloc(count, sizeof *edges->send);
		edges->receive = zalloc(count, sizeof *edges->receive);
	}
	edges->count = count;
}

static bool
is_there(const struct window *window, uint32_t location, uint64_t seq)
{
	const struct lane *lane = &window->lanes[location];

	return seq - lane->first < lane->count || (seq < lane->first &&
	    (seq >= window_first(window, location) ||
	    window_kept(window, location, seq) != NULL));
}

static void
check_ends(const struct graph_input *graph, const struct message *message,
    const uint32_t *location, const uint64_t *seq)
{
	const struct window *window = &graph->window;

	for (size_t i = 0; i < graph->edges.count; i++)
		if (location[i] >= window->locations ||
		    (!window->partial && !window->shared && !is_there(window, location[i], seq[i])))
			die_message(graph->in, message, "%s: row %llu of location %u is not there",
			    message->kind, (unsigned long long)seq[i], location[i]);
}

static void
read_messages(struct graph_input *graph, const struct message *message)
{
	struct edge_block *edges = &graph->edges;
	struct reader *in = graph->in;
	size_t n;

	if (body_count(in, message, "count", 0, UINT32_MAX, "source", &n) < 0)
		die_input(in);
	begin_edges(edges, n);
	if (body_column(in, message, "source", n, edges->source) < 0 ||
	    body_column(in, message, "send", n, edges->send) < 0 ||
	    body_column(in, message, "target", n, edges->target) < 0 ||
	    body_column(in, message, "receive", n, edges->receive) < 0)
		die_input(in);
	check_ends(graph, message, edges->source, edges->send);
	check_ends(graph, message, edges->target, edges->receive);
}

/* Location and seq of rows. */
static void
read_members(struct graph_input *graph, const struct message *message)
{
	struct edge_block *edges = &graph->edges;
	size_t n;

	if (body_count(graph->in, message, "count", 0, UINT32_MAX, "location", &n) < 0)
		die_input(graph->in);
	begin_edges(edges, n);
	if (body_column(graph->in, message, "location", n, edges->location) < 0 ||
	    body_column(graph->in, message, "seq", n, edges->seq) < 0)
		die_input(graph->in);
	check_ends(graph, message, edges->location, edges->seq);
}

struct end { uint32_t location; uint64_t seq; };
ORDER(by_location, struct end, BY(location) BY(seq))

/* lp-graph writes members in order of location. Another stage need not: no result hangs on it. */
static void
sort_members(uint32_t *location, uint64_t *seq, uint32_t count)
{
	struct end *ends;
	uint32_t i = 1;

	while (i < count && location[i - 1] < location[i])
		i++;
	if (i >= count)
		return;
	ends = zalloc(count, sizeof *ends);
	for (i = 0; i < count; i++)
		ends[i] = (struct end){ location[i], seq[i] };
	SORT(ends, count, by_location);
	for (i = 0; i < count; i++) {
		location[i] = ends[i].location;
		seq[i] = ends[i].seq;
	}
	free(ends);
}

static void
read_collectives(struct graph_input *graph, const struct message *message)
{
	struct edge_block *edges = &graph->edges;
	struct reader *in = graph->in;
	size_t n, instances;
	uint64_t members = 0;

	if (body_count(in, message, "count", 0, UINT32_MAX, "location", &n) < 0 ||
	    body_count(in, message, "instances", 0, UINT32_MAX, "size", &instances) < 0)
		die_input(in);
	GROW(edges->size, edges->instance_capacity, instances);
	edges->instances = instances;
	if (body_column(in, message, "size", instances, edges->size) < 0)
		die_input(in);
	read_members(graph, message);
	for (size_t i = 0; i < instances; i++) {
		members += edges->size[i];
		if (edges->size[i] == 0)
			die_message(in, message, "collectives: an instance without members");
	}
	if (members != n)
		die_message(in, message, "collectives: sizes and members differ");
	for (size_t i = 0, at = 0; i < instances; at += edges->size[i++])
		sort_members(edges->location + at, edges->seq + at, edges->size[i]);
}

/* One seq for each location. */
static void
read_seqs_of(struct graph_input *graph, const struct message *message, const char *key)
{
	const uint32_t locations = graph->window.locations;
	int64_t count;

	if (body_int(graph->in, message, "count", locations, locations, &count) < 0 ||
	    body_column(graph->in, message, key, locations, graph->seqs) < 0)
		die_input(graph->in);
}

static void
read_seqs(struct graph_input *graph, const struct message *message)
{
	read_seqs_of(graph, message, "seq");
}

/* ---- messages of any kind --------------------------------------------------------------- */

enum graph_item
graph_define(struct graph_input *graph, const struct message *message)
{
	definitions_take(&graph->known, graph->in, message);
	if (!is_kind(message, "run"))
		return GRAPH_OTHER;
	graph->seqs = zalloc(graph->known.location_count, sizeof *graph->seqs);
	window_open(&graph->window, graph->known.location_count, graph->row_bytes);
	graph->window.shared = graph->row_bytes == 0;
	return GRAPH_RUN;
}

enum graph_item
graph_rows(struct graph_input *graph, const struct message *message)
{
	static const struct {
		const char *kind;
		enum graph_item item;
		void (*read)(struct graph_input *, const struct message *);
	} kinds[] = {
		{ "messages", GRAPH_MESSAGES, read_messages },
		{ "probes", GRAPH_PROBES, read_messages },
		{ "locks", GRAPH_LOCKS, read_messages },
		{ "holds", GRAPH_HOLDS, read_messages },
		{ "collectives", GRAPH_COLLECTIVES, read_collectives },
		{ "overdue", GRAPH_OVERDUE, read_members },
		{ "settled", GRAPH_SETTLED, read_seqs },
		{ "sync", GRAPH_SYNC, read_seqs },
	};

	if (is_kind(message, "calls"))
		return read_calls(graph, message);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (is_kind(message, kinds[i].kind)) {
			kinds[i].read(graph, message);
			return kinds[i].item;
		}
	return GRAPH_OTHER;
}

enum graph_item
graph_take(struct graph_input *graph, const struct message *message)
{
	const enum graph_item item = graph_define(graph, message);

	return item == GRAPH_OTHER ? graph_rows(graph, message) : item;
}

bool
graph_early(struct graph_input *graph, const struct message *message)
{
	if (body_get(message, "early") == NULL)
		return false;
	read_seqs_of(graph, message, "early");
	return true;
}

void
graph_close(struct graph_input *graph)
{
	reader_close(graph->in);
	calls_free(&graph->calls);
	free(graph->edges.source);
	free(graph->edges.target);
	free(graph->edges.send);
	free(graph->edges.receive);
	free(graph->edges.size);
	window_close(&graph->window);
	free(graph->seqs);
	free(graph->keeps);
}
