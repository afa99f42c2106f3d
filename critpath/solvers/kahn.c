/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kahn's topological order with dynamic programming: the reference for the other solvers. It
 * builds all events and edges of the stretch and takes the longest path to its last event.
 * Memory: 68 bytes an event.
 */
#include <stdlib.h>

#include "solvers.h"

struct edges {
	uint64_t *from, *to;
	int64_t *weight_ns;
	size_t count;
};

struct labels {
	int64_t *distance_ns;	/* from the stretch's beginning; INT64_MIN: not reached */
	uint64_t *before;	/* the event before on the longest path; UINT64_MAX: none */
};

/* Edges into the events of a location, and labels for those that the stretch begins with. */
static void
add_location(struct edges *edges, struct labels *labels, const struct numbering *n, uint32_t location)
{
	const struct stretch *stretch = n->stretch;

	for (uint64_t seq = stretch->first_seq[location]; seq < stretch->end_seq[location]; seq++) {
		const bool is_part = ((const struct row *)window_row(stretch->window, location, seq))->part > 0;

		for (int leave = 0; leave < 2; leave++) {
			struct event at = { seq, location, leave != 0 }, before;
			int64_t before_ns;
			uint64_t to = numbering_of(n, at);

			labels->distance_ns[to] = INT64_MIN;
			labels->before[to] = UINT64_MAX;
			if (is_part)
				continue;
			if (!event_before(stretch, at, &before, &before_ns)) {
				labels->distance_ns[to] = time_of(stretch, at) - stretch->begin_ns;
				continue;
			}
			edges->from[edges->count] = numbering_of(n, before);
			edges->to[edges->count] = to;
			edges->weight_ns[edges->count++] = time_of(stretch, at) - before_ns;
		}
	}
}

static void
longest_paths(const struct edges *edges, uint64_t events, struct labels *labels)
{
	uint64_t *out = zalloc((size_t)events + 2, sizeof *out);	/* edges by source event */
	uint64_t *order = zalloc(edges->count, sizeof *order);
	uint32_t *waiting = zalloc((size_t)events, sizeof *waiting);	/* edges not yet relaxed */
	uint64_t *ready = zalloc((size_t)events, sizeof *ready);
	uint64_t head = 0, tail = 0;

	for (size_t e = 0; e < edges->count; e++) {
		out[edges->from[e] + 2]++;
		waiting[edges->to[e]]++;
	}
	for (uint64_t v = 1; v < events + 2; v++)
		out[v] += out[v - 1];
	for (size_t e = 0; e < edges->count; e++)
		order[out[edges->from[e] + 1]++] = e;
	for (uint64_t v = 0; v < events; v++)
		if (waiting[v] == 0)
			ready[tail++] = v;
	while (head < tail) {
		uint64_t v = ready[head++];

		for (uint64_t k = out[v]; k < out[v + 1]; k++) {
			uint64_t e = order[k], to = edges->to[e];

			if (labels->distance_ns[v] != INT64_MIN &&
			    labels->distance_ns[v] + edges->weight_ns[e] > labels->distance_ns[to]) {
				labels->distance_ns[to] = labels->distance_ns[v] + edges->weight_ns[e];
				labels->before[to] = v;
			}
			if (--waiting[to] == 0)
				ready[tail++] = to;
		}
	}
	free(out);
	free(order);
	free(waiting);
	free(ready);
}

/* Back from the last event along the labels, each edge a segment. */
static void
trace_back(const struct numbering *n, const struct labels *labels, struct segments *segments)
{
	size_t begin = segments->count;
	struct event at = n->stretch->to;
	uint64_t v = numbering_of(n, at);

	while (labels->before[v] != UINT64_MAX) {
		struct event from = numbering_event(n, v = labels->before[v]);

		add_piece(segments, n->stretch, &from, at);
		at = from;
	}
	add_piece(segments, n->stretch, NULL, at);
	reverse_segments(segments, begin);
}

bool
solve_kahn(const struct stretch *stretch, struct segments *segments)
{
	uint64_t events = count_events(stretch);
	struct numbering n;
	struct edges edges = { zalloc((size_t)events, sizeof *edges.from),
	    zalloc((size_t)events, sizeof *edges.to), zalloc((size_t)events, sizeof *edges.weight_ns), 0 };
	struct labels labels = { zalloc((size_t)events, sizeof *labels.distance_ns),
	    zalloc((size_t)events, sizeof *labels.before) };
	bool found;

	numbering_open(&n, stretch, -1);
	for (uint32_t l = 0; l < stretch->window->locations; l++)
		add_location(&edges, &labels, &n, l);
	longest_paths(&edges, events, &labels);
	if ((found = labels.distance_ns[numbering_of(&n, stretch->to)] != INT64_MIN))
		trace_back(&n, &labels, segments);
	numbering_close(&n);
	free(edges.from);
	free(edges.to);
	free(edges.weight_ns);
	free(labels.distance_ns);
	free(labels.before);
	return found;
}
