/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kahn's topological order with dynamic programming: the reference for the other solvers. It
 * builds all events and edges of the stretch and takes the longest path to its last event.
 * Memory: 40 bytes an event.
 */
#include <stdlib.h>

#include "critpath.h"

/* Events are numbered by location, then row: enter 2i, leave 2i + 1 (parts' events stay unused). */
struct numbering {
	const struct stretch *stretch;
	uint64_t *base;		/* by location: index of its first row; one more at the end */
};

static uint64_t
row_index(const struct numbering *n, uint32_t location, uint64_t seq)
{
	return n->base[location] + (seq - n->stretch->first_seq[location]);
}

static struct event
event_of(const struct numbering *n, uint64_t index)
{
	uint32_t low = 0, high = n->stretch->window->locations;

	while (high - low > 1) {	/* the last location whose base is not behind the row */
		uint32_t middle = low + (high - low) / 2;

		if (n->base[middle] <= index / 2)
			low = middle;
		else
			high = middle;
	}
	return (struct event){ low, n->stretch->first_seq[low] + (index / 2 - n->base[low]),
	    (index & 1) != 0 };
}

struct edge_list {
	uint64_t *from, *to;
	int64_t *weight_ns;
	size_t count;
};

static int64_t
time_of(const struct window *window, struct event event)
{
	const struct event_row *row = window_row(window, event.location, event.seq);

	return event.leave ? row->row.leave_ns : row->row.enter_ns;
}

static void
add_edge(struct edge_list *edges, const struct numbering *n, struct event from, struct event to)
{
	const struct window *window = n->stretch->window;

	edges->from[edges->count] = 2 * row_index(n, from.location, from.seq) + from.leave;
	edges->to[edges->count] = 2 * row_index(n, to.location, to.seq) + to.leave;
	edges->weight_ns[edges->count++] = time_of(window, to) - time_of(window, from);
}

static void
location_edges(struct edge_list *edges, const struct numbering *n, uint32_t location)
{
	const struct stretch *stretch = n->stretch;
	const struct window *window = stretch->window;
	bool first = true;
	uint64_t before = 0;

	for (uint64_t seq = stretch->first_seq[location]; seq < stretch->end_seq[location]; seq++) {
		const struct event_row *row = window_row(window, location, seq);
		struct event enter = { location, seq, false }, leave = { location, seq, true };
		uint64_t other_seq;
		uint32_t other;

		if (row == NULL || row->row.part > 0)
			continue;
		if (!first)
			add_edge(edges, n, (struct event){ location, before, true }, enter);
		if (blocked_by(window, location, seq, &other, &other_seq)) {
			const struct event_row *far = window_row(window, other, other_seq);
			uint64_t call = other_seq - far->row.part;

			/* What lies outside the stretch cannot be on a path within it. */
			if (call >= stretch->first_seq[other] && call < stretch->end_seq[other])
				add_edge(edges, n, (struct event){ other, call, false }, leave);
		} else
			add_edge(edges, n, enter, leave);
		before = seq;
		first = false;
	}
}

/* Longest distances from the stretch's beginning, in Kahn's order; INT64_MIN: not reached. */
static void
longest_paths(const struct edge_list *edges, uint64_t events, int64_t *distance_ns,
    uint64_t *predecessor)
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

			if (distance_ns[v] != INT64_MIN &&
			    distance_ns[v] + edges->weight_ns[e] > distance_ns[to]) {
				distance_ns[to] = distance_ns[v] + edges->weight_ns[e];
				predecessor[to] = v;
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

/* Back from the last event along the predecessors, each edge a segment. */
static void
trace_back(const struct numbering *n, const uint64_t *predecessor, struct segments *segments)
{
	const struct stretch *stretch = n->stretch;
	const struct window *window = stretch->window;
	size_t begin = segments->count;
	struct event at = stretch->to;
	uint64_t v = 2 * row_index(n, at.location, at.seq) + at.leave;

	while (predecessor[v] != UINT64_MAX) {
		struct event from = event_of(n, predecessor[v]);
		enum segment_kind kind = from.leave ? COMPUTE :
		    from.location == at.location && from.seq == at.seq ? MPI : TRANSFER;

		add_segment(segments, window, kind, at.location, at.seq, time_of(window, from),
		    time_of(window, at));
		v = predecessor[v];
		at = from;
	}
	add_segment(segments, window, COMPUTE, at.location, at.seq, stretch->begin_ns,
	    time_of(window, at));
	for (size_t i = begin, j = segments->count; i + 1 < j; i++) {
		struct segment kept = segments->at[i];

		segments->at[i] = segments->at[--j];
		segments->at[j] = kept;
	}
}

void
solve_kahn(const struct stretch *stretch, struct segments *segments)
{
	uint32_t locations = stretch->window->locations;
	struct numbering n = { stretch, zalloc((size_t)locations + 1, sizeof *n.base) };
	struct edge_list edges = { 0 };
	int64_t *distance_ns;
	uint64_t *predecessor, events;

	for (uint32_t l = 0; l < locations; l++)
		n.base[l + 1] = n.base[l] + (stretch->end_seq[l] - stretch->first_seq[l]);
	events = 2 * n.base[locations];
	edges.from = zalloc((size_t)events, sizeof *edges.from);
	edges.to = zalloc((size_t)events, sizeof *edges.to);
	edges.weight_ns = zalloc((size_t)events, sizeof *edges.weight_ns);
	for (uint32_t l = 0; l < locations; l++)
		location_edges(&edges, &n, l);
	distance_ns = zalloc((size_t)events, sizeof *distance_ns);
	predecessor = zalloc((size_t)events, sizeof *predecessor);
	for (uint64_t v = 0; v < events; v++) {
		distance_ns[v] = INT64_MIN;
		predecessor[v] = UINT64_MAX;
	}
	/* Every location computes from the run's beginning; later stretches begin on the last
	 * member to arrive, the only one whose enter is at begin_ns and blocks the others. */
	for (uint32_t l = 0; l < locations; l++) {
		const struct event_row *row = window_row(stretch->window, l, stretch->first_seq[l]);

		if (row != NULL && stretch->first_seq[l] < stretch->end_seq[l] &&
		    (stretch->from_start || row->row.enter_ns == stretch->begin_ns))
			distance_ns[2 * n.base[l]] = row->row.enter_ns - stretch->begin_ns;
	}
	longest_paths(&edges, events, distance_ns, predecessor);
	if (distance_ns[2 * row_index(&n, stretch->to.location, stretch->to.seq) + stretch->to.leave] ==
	    INT64_MIN)
		die_of_cycle(stretch);
	trace_back(&n, predecessor, segments);
	free(edges.from);
	free(edges.to);
	free(edges.weight_ns);
	free(distance_ns);
	free(predecessor);
	free(n.base);
}
