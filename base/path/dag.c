/* SPDX-License-Identifier: BSD-3-Clause */
#include "dag.h"

#include <stdlib.h>
#include <string.h>

static void
edge_into(const struct dag *dag, struct event at, struct dag_edges *e)
{
	const struct stretch *stretch = dag->stretch;

	e->source = &e->one;
	e->count = 1;
	if (!event_before(stretch, at, &e->before, &e->before_ns)) {
		e->one = BEGIN;
		e->before_ns = stretch->begin_ns;
	} else if (stretch->shared &&
	    owner_of(stretch, e->before.location) != stretch->team->rank) {
		e->one = ELSEWHERE;
	} else {
		e->one = (uint32_t)numbering_of(&dag->numbering, e->before);
	}
	e->weight_ns = time_of(stretch, at) - e->before_ns;
}

void
dag_find_edge(const struct dag *dag, uint32_t vertex, struct dag_edges *e)
{
	edge_into(dag, numbering_event(&dag->numbering, vertex), e);
}

/* Rows that are parts of calls have no events: no edge leads to their vertices. */
static void
find_edges(struct dag *dag)
{
	const struct stretch *stretch = dag->stretch;
	uint64_t *in = zalloc((size_t)dag->vertices + 1, sizeof *in);
	struct dag_edges e;
	uint32_t v = 0;

	dag->weight_ns = zalloc(dag->vertices, sizeof *dag->weight_ns);
	dag->source = zalloc(dag->vertices, sizeof *dag->source);
	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++) {
			const struct row *row = window_row(stretch->window, l, seq);
			const bool is_part = row->part > 0;

			for (int leave = 0; leave < 2; leave++, v++) {
				in[v] = dag->source_count;
				if (is_part)
					continue;
				edge_into(dag, (struct event){ seq, l, leave != 0 }, &e);
				dag->weight_ns[v] = e.weight_ns;
				dag->source[dag->source_count++] = e.one;
			}
		}
	in[v] = dag->source_count;
	dag->in = in;
}

void
dag_of_path(struct dag *dag, const struct stretch *stretch, bool whole)
{
	uint64_t events;

	memset(dag, 0, sizeof *dag);
	dag->stretch = stretch;
	numbering_open(&dag->numbering, stretch, stretch->shared ? stretch->team->rank : -1);
	events = 2 * dag->numbering.base[stretch->window->locations];
	if (events >= ELSEWHERE)
		die("more than 2^31 rows between two synchronisation points: only walk takes "
		    "that many");
	dag->events = dag->vertices = (uint32_t)events;
	dag->end = stretch->shared && owner_of(stretch, stretch->to.location) !=
	    stretch->team->rank ? ELSEWHERE : (uint32_t)numbering_of(&dag->numbering, stretch->to);
	if (whole)
		find_edges(dag);
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

size_t
dag_follow(const struct dag *dag, const int64_t *to_ns, uint32_t *at)
{
	size_t n = 0;

	for (uint32_t v = dag->end, from; v != BEGIN; v = from) {
		int64_t before_ns = to_ns[v] - dag->weight_ns[v];

		at[n++] = v;
		from = BEGIN;
		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++) {
			uint32_t u = dag->source[k];

			if (u < from && to_ns[u] == before_ns)
				from = u;
		}
	}
	return n;
}
