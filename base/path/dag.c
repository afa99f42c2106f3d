/* SPDX-License-Identifier: BSD-3-Clause */
#include "dag.h"

#include "../tool/search.h"

void
numbering_open(struct numbering *numbering, const struct stretch *stretch)
{
	uint32_t locations = stretch->window->locations;

	numbering->stretch = stretch;
	numbering->base = zalloc((size_t)locations + 1, sizeof *numbering->base);
	for (uint32_t l = 0; l < locations; l++)
		numbering->base[l + 1] = numbering->base[l] +
		    (!stretch->shared || owner_of(stretch, l) == stretch->team->rank ?
		    stretch->end_seq[l] - stretch->first_seq[l] : 0);
}

#define NOT_BEHIND(base, row) (*(base) <= (row))
SEARCH(base_behind, uint64_t, uint64_t, NOT_BEHIND)

struct event
numbering_event(const struct numbering *numbering, uint64_t number)
{
	/* The last location whose base is not above the row. */
	const uint32_t l = (uint32_t)base_behind(numbering->base,
	    numbering->stretch->window->locations, number / 2) - 1;

	return (struct event){ numbering->stretch->first_seq[l] + number / 2 - numbering->base[l],
	    l, (number & 1) != 0 };
}

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

void
dag_of_path(struct dag *dag, const struct stretch *stretch, bool whole)
{
	struct dag_edges e;
	uint64_t events, *in;
	uint32_t v = 0;

	memset(dag, 0, sizeof *dag);
	dag->stretch = stretch;
	numbering_open(&dag->numbering, stretch);
	events = 2 * dag->numbering.base[stretch->window->locations];
	if (events >= ELSEWHERE)
		die("more than 2^31 rows between two synchronisation points: only walk takes "
		    "that many");
	dag->events = dag->vertices = (uint32_t)events;
	dag->end = stretch->shared && owner_of(stretch, stretch->to.location) !=
	    stretch->team->rank ? ELSEWHERE : (uint32_t)numbering_of(&dag->numbering, stretch->to);
	if (!whole)
		return;
	dag->in = in = zalloc((size_t)dag->vertices + 1, sizeof *in);
	dag->weight_ns = zalloc(dag->vertices, sizeof *dag->weight_ns);
	dag->source = zalloc(dag->vertices, sizeof *dag->source);
	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++) {
			const struct row *row = window_row(stretch->window, l, seq);
			const bool is_part = row->part > 0;	/* without events or edges */

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
}

void
dag_close(struct dag *dag)
{
	free(dag->numbering.base);
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
