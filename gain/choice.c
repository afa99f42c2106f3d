/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include <math.h>
#include <stdlib.h>

/* What activities would last: all that --scale names. */
static void
scale_weights(struct choice *choice, struct dag *dag, const struct definitions *known)
{
	const struct stretch *stretch = dag->stretch;

	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++) {
			const struct row *row = window_row(stretch->window, l, seq);
			uint64_t v = numbering_of(&dag->numbering, (struct event){ seq, l, false });

			for (int call = 0; call < 2; call++) {
				double ns = (double)dag->weight_ns[v + (uint64_t)call] * scale_factor(&choice->scales,
				    known, (uint32_t)known->location_rank[l], row->call, row->site, call == 0);

				if (ns >= 0x1p60)
					die("--scale: a call or computation would last more than 36 years");
				dag->weight_ns[v + (uint64_t)call] = llround(ns);
			}
		}
}

void
choice_solve(struct choice *choice, chooser *choose, const struct stretch *stretch,
    const struct instances *instances, const struct definitions *known, struct segments *segments)
{
	struct dag dag;
	uint32_t *way, before = BEGIN;
	size_t count;

	dag_open(&dag, stretch, instances, known);
	if (choice->scales.count > 0)
		scale_weights(choice, &dag, known);
	way = zalloc(dag.vertices, sizeof *way);
	count = choose(&dag, way);
	for (size_t n = count; n-- > 0; before = way[n]) {
		struct segment piece;

		if (way[n] >= dag.events || dag.weight_ns[way[n]] == 0)
			continue;
		piece = dag_piece(&dag, before, way[n], choice->length_ns + dag.weight_ns[way[n]]);
		/* Who was the last to come to the synchronisation point goes on by himself. */
		if (before == BEGIN && piece.kind == TRANSFER && piece.location == choice->last)
			piece.kind = MPI;
		choice->length_ns = piece.end_ns;
		segments->at = grow(segments->at, &segments->capacity, segments->count + 1,
		    sizeof *segments->at);
		segments->at[segments->count++] = piece;
	}
	/* Behind the end, way[0], comes the last event; a synchronisation point ends with its last enter. */
	choice->last = count > 1 && way[1] < dag.events ? numbering_event(&dag.numbering, way[1]).location : NOBODY;
	free(way);
	dag_close(&dag);
}
