/* SPDX-License-Identifier: BSD-3-Clause */
#include "dag.h"

#include <stdlib.h>
#include <string.h>

#include "../base/path/edge_rows.h"
#include "gates.h"

/* Vertices are made in the order of their numbers, each before its sources. */
static void
add_source(struct dag *dag, uint32_t source)
{
	dag->source = grow(dag->source, &dag->source_capacity, dag->source_count + 1,
	    sizeof *dag->source);
	dag->source[dag->source_count++] = source;
}

/* The leave of a call: its own enter, and the gates that were open before its end. */
static void
add_leave(struct dag *dag, const struct hubs *hubs, uint32_t enter, uint32_t location, uint64_t seq)
{
	const struct stretch *stretch = dag->stretch;
	const struct event_row call = *(const struct event_row *)window_row(stretch->window, location, seq);
	int64_t enter_ns = dag->time_ns[enter], leave_ns = call.row.leave_ns - stretch->begin_ns;
	int64_t last_ns = enter_ns;

	add_source(dag, enter);
	if (may_wait(&call))
		for (struct edge_rows e = edge_rows(stretch->window, location, seq); edge_rows_next(&e);) {
			uint32_t gate = is_inside(stretch, e.edge_location, e.edge_seq) ?
			    *gate_of(dag, hubs, e.edge_location, e.edge_seq) : NO_GATE;

			if (gate == NO_GATE || dag->time_ns[gate] > leave_ns ||
			    (row_sends(e.edge) &&
			    (dag->time_ns[gate] < enter_ns || dag->time_ns[gate] == leave_ns)))
				continue;
			add_source(dag, gate);
			if (dag->time_ns[gate] > last_ns)
				last_ns = dag->time_ns[gate];
		}
	dag->weight_ns[enter + 1] = leave_ns - last_ns;
}

static void
add_calls(struct dag *dag, const struct hubs *hubs, uint32_t location)
{
	const struct stretch *stretch = dag->stretch;
	uint64_t first = stretch->first_seq[location];
	uint32_t before = BEGIN;

	for (uint64_t seq = first; seq < stretch->end_seq[location]; seq++) {
		const struct row *row = window_row(stretch->window, location, seq);
		uint32_t enter = (uint32_t)numbering_of(&dag->numbering,
		    (struct event){ seq, location, false });

		dag->in[enter] = dag->in[enter + 1] = dag->source_count;
		if (row->part > 0)
			continue;
		if (seq == first && stretch->from_sync) {
			/* All members of the synchronisation point leave after the last has entered. */
			add_source(dag, BEGIN);
			dag->weight_ns[enter + 1] = dag->time_ns[enter + 1];
		} else {
			add_source(dag, before);
			dag->weight_ns[enter] = dag->time_ns[enter] -
			    (before == BEGIN ? 0 : dag->time_ns[before]);
			dag->in[enter + 1] = dag->source_count;
			add_leave(dag, hubs, enter, location, seq);
		}
		before = enter + 1;
	}
}

static void
add_hubs(struct dag *dag, struct hubs *hubs)
{
	for (size_t h = 0; h < hubs->count; h++) {
		uint64_t end = h + 1 < hubs->count ? hubs->in[h + 1] : hubs->source_count;

		dag->in[dag->events + h] = dag->source_count;
		for (uint64_t k = hubs->in[h]; k < end; k++)
			add_source(dag, hubs->source[k]);
	}
}

static void
measure(struct dag *dag, const struct hubs *hubs)
{
	const struct stretch *stretch = dag->stretch;

	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++) {
			const struct row *row = window_row(stretch->window, l, seq);
			uint64_t v = numbering_of(&dag->numbering, (struct event){ seq, l, false });

			dag->time_ns[v] = row->enter_ns - stretch->begin_ns;
			dag->time_ns[v + 1] = row->leave_ns - stretch->begin_ns;
		}
	for (size_t h = 0; h < hubs->count; h++) {	/* a hub only has sources before it */
		uint64_t end = h + 1 < hubs->count ? hubs->in[h + 1] : hubs->source_count;

		for (uint64_t k = hubs->in[h]; k < end; k++)
			if (k == hubs->in[h] || dag->time_ns[hubs->source[k]] > dag->time_ns[dag->events + h])
				dag->time_ns[dag->events + h] = dag->time_ns[hubs->source[k]];
	}
}

/* Depth first from the end; an edge that closes a cycle (all at one instant) is left out. */
static void
put_in_order(struct dag *dag)
{
	enum { NEW, OPEN, DONE_WITH };
	uint32_t *stack = zalloc(dag->vertices, sizeof *stack);
	uint64_t *next = zalloc(dag->vertices, sizeof *next);
	uint8_t *state = zalloc(dag->vertices, sizeof *state);
	uint64_t left_out = 0;
	size_t depth = 0;

	stack[depth++] = dag->end;
	state[dag->end] = OPEN;
	next[dag->end] = dag->in[dag->end];
	while (depth > 0) {
		uint32_t v = stack[depth - 1], source;

		if (next[v] == dag->in[v + 1]) {
			dag->order[dag->ordered++] = v;
			state[v] = DONE_WITH;
			depth--;
			continue;
		}
		source = dag->source[next[v]++];
		if (source == BEGIN || state[source] == DONE_WITH)
			continue;
		if (state[source] == OPEN) {
			dag->source[next[v] - 1] = BEGIN;
			if (dag->in[v + 1] - dag->in[v] == 1)	/* nothing else leads to it */
				dag->weight_ns[v] = dag->time_ns[v];
			left_out++;
			continue;
		}
		state[source] = OPEN;
		next[source] = dag->in[source];
		stack[depth++] = source;
	}
	if (left_out > 0)
		note("%llu dependences close circles between %.9f and %.9f s and are left out",
		    (unsigned long long)left_out, 1e-9 * (double)dag->stretch->begin_ns,
		    1e-9 * (double)(dag->stretch->begin_ns + dag->time_ns[dag->end]));
	free(stack);
	free(next);
	free(state);
}

void
dag_open(struct dag *dag, const struct stretch *stretch, const struct instances *instances,
    const struct definitions *known)
{
	uint64_t events = count_events(stretch);
	uint32_t locations = stretch->window->locations;
	bool ends_in_sync = !stretch->to.leave;
	struct hubs hubs;
	size_t room;

	memset(dag, 0, sizeof *dag);
	if (events > UINT32_MAX / 4)
		die("more than 2^29 calls between two synchronisation points");
	dag->stretch = stretch;
	dag->events = (uint32_t)events;
	numbering_open(&dag->numbering, stretch, -1);
	find_gates(&hubs, dag, instances, known);
	dag->end = dag->events + (uint32_t)hubs.count;
	dag->vertices = dag->end + 1;
	room = (size_t)dag->vertices + 1;
	dag->time_ns = zalloc(room, sizeof *dag->time_ns);
	dag->weight_ns = zalloc(room, sizeof *dag->weight_ns);
	dag->in = zalloc(room, sizeof *dag->in);
	dag->order = zalloc(room, sizeof *dag->order);
	measure(dag, &hubs);
	for (uint32_t l = 0; l < locations; l++)
		add_calls(dag, &hubs, l);
	add_hubs(dag, &hubs);
	dag->in[dag->end] = dag->source_count;
	for (uint32_t l = 0; l < locations; l++)
		if (stretch->end_seq[l] > stretch->first_seq[l])
			add_source(dag, enter_of(dag, l, stretch->end_seq[l] - 1) + !ends_in_sync);
	dag->in[dag->end + 1] = dag->source_count;
	dag->time_ns[dag->end] = time_of(stretch, stretch->to) - stretch->begin_ns;
	put_in_order(dag);
	free_gates(&hubs);
}

struct segment
dag_piece(const struct dag *dag, uint32_t from, uint32_t vertex, int64_t end_ns)
{
	const struct row *row = dag_row(dag, vertex);
	const bool leaves = (vertex & 1) != 0, stays = from + 1 == vertex;

	return (struct segment){ end_ns - dag->weight_ns[vertex], end_ns,
	    numbering_event(&dag->numbering, vertex).location, row->site, leaves ? row->call : 0,
	    (uint8_t)(!leaves ? kind_before(row->call, from == BEGIN && !dag->stretch->from_sync) :
	    stays ? MPI : TRANSFER), leaves && stays && row->polled && call_polls(row->call) };
}

void
dag_close(struct dag *dag)
{
	numbering_close(&dag->numbering);
	free(dag->time_ns);
	free(dag->weight_ns);
	free(dag->in);
	free(dag->source);
	free(dag->order);
}
