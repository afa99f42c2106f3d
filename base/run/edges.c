/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges of a graph stream, block by block; their ends are rows of a window. */
#include "window.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"

static void
edge_block_reserve(struct edge_block *edges, size_t count)
{
	if (count <= edges->capacity)
		return;
	edge_block_free(edges);
	edges->capacity = count;
	edges->source = zalloc(count, sizeof *edges->source);
	edges->target = zalloc(count, sizeof *edges->target);
	edges->location = zalloc(count, sizeof *edges->location);
	edges->send = zalloc(count, sizeof *edges->send);
	edges->receive = zalloc(count, sizeof *edges->receive);
	edges->seq = zalloc(count, sizeof *edges->seq);
}

void
edge_block_free(struct edge_block *edges)
{
	free(edges->source);
	free(edges->target);
	free(edges->send);
	free(edges->receive);
	free(edges->size);
	free(edges->location);
	free(edges->seq);
	memset(edges, 0, sizeof *edges);
}

static bool
is_there(const struct window *window, uint32_t location, uint64_t seq)
{
	const struct lane *lane = &window->lanes[location];

	return seq - lane->first < lane->count || (seq < lane->first &&
	    (seq >= window_first(window, location) ||
	    window_kept(window, location, seq) != NULL));
}

static int
check_ends(struct reader *in, const struct message *message, const struct window *window,
    const uint32_t *location, const uint64_t *seq, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (location[i] >= window->locations ||
		    (!window->partial && !window->shared && !is_there(window, location[i], seq[i])))
			return reader_fail(in, message->offset, "%s: row %llu of location %u is "
			    "not there", message->kind, (unsigned long long)seq[i], location[i]);
	return 0;
}

int
messages_read(struct edge_block *edges, struct reader *in, const struct message *message,
    const struct window *window)
{
	size_t n = 0;

	if (body_count(in, message, "count", 0, UINT32_MAX, "source", &n) < 0)
		return -1;
	edge_block_reserve(edges, n);
	edges->count = n;
	if (body_column(in, message, "source", n, edges->source) < 0 ||
	    body_column(in, message, "send", n, edges->send) < 0 ||
	    body_column(in, message, "target", n, edges->target) < 0 ||
	    body_column(in, message, "receive", n, edges->receive) < 0 ||
	    check_ends(in, message, window, edges->source, edges->send, n) < 0 ||
	    check_ends(in, message, window, edges->target, edges->receive, n) < 0)
		return -1;
	return 0;
}

int
collectives_read(struct edge_block *edges, struct reader *in, const struct message *message,
    const struct window *window)
{
	size_t n = 0, instances = 0;
	uint64_t members = 0;

	if (body_count(in, message, "count", 0, UINT32_MAX, "location", &n) < 0 ||
	    body_count(in, message, "instances", 0, UINT32_MAX, "size", &instances) < 0)
		return -1;
	edge_block_reserve(edges, n);
	GROW(edges->size, edges->instance_capacity, instances);
	edges->count = n;
	edges->instances = instances;
	if (body_column(in, message, "size", instances, edges->size) < 0 ||
	    body_column(in, message, "location", n, edges->location) < 0 ||
	    body_column(in, message, "seq", n, edges->seq) < 0 ||
	    check_ends(in, message, window, edges->location, edges->seq, n) < 0)
		return -1;
	for (size_t i = 0; i < instances; i++) {
		members += edges->size[i];
		if (edges->size[i] == 0)
			return reader_fail(in, message->offset,
			    "collectives: an instance without members");
	}
	if (members != n)
		return reader_fail(in, message->offset, "collectives: sizes and members differ");
	return 0;
}

int
overdue_read(struct edge_block *edges, struct reader *in, const struct message *message,
    const struct window *window)
{
	size_t n = 0;

	if (body_count(in, message, "count", 0, UINT32_MAX, "location", &n) < 0)
		return -1;
	edge_block_reserve(edges, n);
	edges->count = n;
	if (body_column(in, message, "location", n, edges->location) < 0 ||
	    body_column(in, message, "seq", n, edges->seq) < 0)
		return -1;
	return check_ends(in, message, window, edges->location, edges->seq, n);
}

int
seqs_read(uint64_t *seqs, const char *key, struct reader *in, const struct message *message,
    const struct window *window)
{
	int64_t count;

	if (body_int(in, message, "count", window->locations, window->locations, &count) < 0)
		return -1;
	return body_column(in, message, key, window->locations, seqs);
}
