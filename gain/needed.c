/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The solvers of the path on a graph in which events may have several edges (base/path/solvers).
 *
 * Walk and Kahn's order give each vertex the longest way to it from the begin. Dijkstra and
 * delta-stepping go the other way and give it the longest way from it to the end. Of several
 * longest ways, all take the one with the lowest vertices, seen from the end.
 *
 * The searches order vertices by the waiting on the best way to the end, by the recorded times.
 * This is never negative while no duration grows; then each vertex is settled once, as in
 * Dijkstra's algorithm. If a duration grows, labels are corrected.
 */
#include <math.h>

#include "../base/path/solvers/solvers.h"
#include "gain.h"

enum { NO_WAY = -1 };

static bool
has_begin(const struct dag *dag, uint32_t v)
{
	for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
		if (dag->source[k] == BEGIN)
			return true;
	return dag->in[v] == dag->in[v + 1];
}

int64_t *
walk_longest(const struct dag *dag)
{
	int64_t *to_ns = zalloc(dag->vertices, sizeof *to_ns);

	for (uint32_t i = 0; i < dag->ordered; i++) {
		const uint32_t v = dag->order[i];

		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
			if (dag->source[k] != BEGIN && to_ns[dag->source[k]] > to_ns[v])
				to_ns[v] = to_ns[dag->source[k]];
		to_ns[v] += dag->weight_ns[v];
	}
	return to_ns;
}

/*
 * Turns a search's labels from the end into labels from the begin, for vertices on a longest way;
 * other vertices have none.
 */
static int64_t *
labels_from_begin(const struct dag *dag, const struct search *search)
{
	const int64_t *reached = search->reached;	/* 1 + the way to the end; 0: none */
	int64_t *to_ns = zalloc(dag->vertices, sizeof *to_ns), all_ns = 0;

	for (uint32_t i = 0; i < dag->ordered; i++) {
		uint32_t v = dag->order[i];

		if (has_begin(dag, v) && reached[v] - 1 + dag->weight_ns[v] > all_ns)
			all_ns = reached[v] - 1 + dag->weight_ns[v];
	}
	for (uint32_t i = 0; i < dag->ordered; i++) {
		uint32_t v = dag->order[i];
		bool on_one = has_begin(dag, v) && reached[v] - 1 + dag->weight_ns[v] == all_ns;

		for (uint64_t k = dag->in[v]; k < dag->in[v + 1] && !on_one; k++) {
			uint32_t u = dag->source[k];

			on_one = u != BEGIN && to_ns[u] != NO_WAY &&
			    reached[u] == reached[v] + dag->weight_ns[v];
		}
		to_ns[v] = on_one ? all_ns - (reached[v] - 1) : NO_WAY;
	}
	return to_ns;
}

static int64_t *
search_longest(const struct dag *dag, enum chooser how)
{
	struct search search;
	int64_t *to_ns;

	search_open(&search, dag);
	if (how == CHOOSE_DIJKSTRA)
		search_dijkstra(&search);
	else	/* the mean time between two events of all locations */
		search_delta(&search, 1 + dag->time_ns[dag->end] / (int64_t)(dag->ordered + 1));
	to_ns = labels_from_begin(dag, &search);
	search_close(&search);
	return to_ns;
}

/* Scales the activities that --scale names. */
static void
scale_weights(struct choice *choice, struct dag *dag)
{
	const struct stretch *stretch = dag->stretch;
	const struct definitions *known = stretch->known;

	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++) {
			const struct row *row = window_row(stretch->window, l, seq);
			uint64_t v = numbering_of(&dag->numbering, (struct event){ seq, l, false });

			for (int call = 0; call < 2; call++) {
				double ns = (double)dag->weight_ns[v +
				    (uint64_t)call] * scale_factor(&choice->scales,
				    known, (uint32_t)known->location_rank[l], row->call,
				    row->site, call == 0);

				if (ns >= 0x1p60)
					die("--scale: a call or computation would last more than "
					    "36 years");
				dag->weight_ns[v + (uint64_t)call] = llround(ns);
			}
		}
}

void
choice_solve(struct choice *choice, enum chooser how, const struct stretch *stretch,
    const struct instances *instances, struct segments *segments)
{
	struct dag dag;
	uint32_t *way, before = BEGIN;
	int64_t *to_ns;
	size_t count;

	dag_of_needs(&dag, stretch, instances);
	if (choice->scales.count > 0)
		scale_weights(choice, &dag);
	to_ns = how == CHOOSE_WALK ? walk_longest(&dag) : how == CHOOSE_KAHN ? kahn_longest(&dag) :
	    search_longest(&dag, how);
	way = zalloc(dag.vertices, sizeof *way);
	count = dag_follow(&dag, to_ns, way);
	free(to_ns);
	for (size_t n = count; n-- > 0; before = way[n]) {
		struct segment piece;

		if (way[n] >= dag.events || dag.weight_ns[way[n]] == 0)
			continue;
		piece = dag_piece(&dag, before, way[n], choice->length_ns + dag.weight_ns[way[n]]);
		/*
		 * The last location to enter the synchronisation point continues without waiting.
		 */
		if (before == BEGIN && piece.kind == TRANSFER && piece.location == choice->last)
			piece.kind = MPI;
		choice->length_ns = piece.end_ns;
		*APPEND(segments->at, segments->count, segments->capacity) = piece;
	}
	/*
	 * Way[0] is the end, way[1] the last event; a synchronisation point ends with its last
	 * enter.
	 */
	choice->last = count > 1 && way[1] < dag.events ?
	    numbering_event(&dag.numbering, way[1]).location : NOBODY;
	free(way);
	dag_close(&dag);
}
