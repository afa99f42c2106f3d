/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solvers of the longest way through a stretch: experiments that agree with each other and with
 * walk.c.
 *
 * Solvers of the path append its segments in order of time, on member 0 of the team; walk and kahn
 * work in a team of one. All but critpath/intervals.c give the same segments. Or they
 * return false on all members: a cycle precedes the last event.
 */
#ifndef SOLVERS_H
#define SOLVERS_H

#include "../../team/team.h"
#include "../dag.h"

typedef bool solver(const struct stretch *stretch, struct segments *segments);

bool solve_kahn(const struct stretch *stretch, struct segments *segments);
bool solve_dijkstra(const struct stretch *stretch, struct segments *segments);
bool solve_delta(const struct stretch *stretch, struct segments *segments);

/*
 * The longest way to each vertex, itself included, in Kahn's order; free() it. NULL: a cycle
 * precedes the end. The graph must have all its edges.
 */
int64_t *kahn_longest(const struct dag *dag);

/* ---- search.c: label-correcting searches ---- */

struct entry {
	int64_t cost_ns;	/* least first; in the path's graph the label, else wait time */
	uint32_t vertex;
};

struct search {
	const struct dag *dag;
	int64_t *reached;	/* by vertex: 1 + label; 0: not reached, as in fresh memory */
	uint32_t *steps;	/* to the end, in the path's graph */
	struct entry *at;	/* vertices with a longer label, for the search to take */
	size_t count, capacity;
	uint32_t *path;		/* in the path's graph: all vertices reached */
	size_t path_count, path_capacity;
	struct post out;	/* to other members */
	bool arrived;		/* at the beginning */
};

void search_open(struct search *search, const struct dag *dag);
void search_close(struct search *search);
/* Both run until no label gets longer. */
void search_dijkstra(struct search *search);
void search_delta(struct search *search, int64_t delta_ns);

#endif
