/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solvers of the longest way through a stretch: experiments that agree with each other and with
 * walk.c.
 *
 * Those of the path append its segments in order of time, on member 0 of the team; walk and kahn
 * work in a team of one. All but intervals (critpath/solvers) give the same segments, or, on all
 * members, false: there is a cycle behind the last event.
 */
#ifndef SOLVERS_H
#define SOLVERS_H

#include "../../team/post.h"
#include "../dag.h"

typedef bool solver(const struct stretch *stretch, struct segments *segments);

bool solve_kahn(const struct stretch *stretch, struct segments *segments);
bool solve_dijkstra(const struct stretch *stretch, struct segments *segments);
bool solve_delta(const struct stretch *stretch, struct segments *segments);

/*
 * The longest way to each vertex, itself included, in the order of Kahn; to be freed. NULL: the end
 * lies behind a cycle. The graph has all its edges.
 */
int64_t *kahn_longest(const struct dag *dag);

/* ---- search.c ---- */

/*
 * What the two label-correcting searches share. They go from the end backwards, as in Korkhov et
 * al. 2023: a label is the longest way known from a vertex to the end, the vertex itself not
 * included. A relaxation of an edge whose source belongs to another member of the team is sent
 * there.
 */
struct entry {
	/* least first; of the path's graph the label, else the waiting on the way */
	int64_t cost_ns;
	uint32_t vertex;
};

struct search {
	const struct dag *dag;
	/* by vertex: 1 + label; 0: not reached, so that fresh memory needs no filling */
	int64_t *reached;
	uint32_t *steps;	/* to the end, of the path's graph */
	/* vertices that got a longer label; the search takes them from here */
	struct entry *at;
	size_t count, capacity;
	uint32_t *path;		/* of the path's graph: all vertices that were reached */
	size_t path_count, path_capacity;
	struct post out;	/* to other members */
	bool arrived;		/* at the beginning */
};

void search_open(struct search *search, const struct dag *dag);
void search_close(struct search *search);
static inline int64_t
cost_of(const struct dag *dag, uint32_t v, int64_t label_ns)
{
	return dag->time_ns == NULL ? label_ns :
	    dag->time_ns[dag->end] - dag->time_ns[v] - label_ns;
}

/* False: the label has got longer since the entry was made. */
static inline bool
search_is_current(const struct search *search, const struct entry *entry)
{
	return entry->cost_ns ==
	    cost_of(search->dag, entry->vertex, search->reached[entry->vertex] - 1);
}

/* The edges into the entry's vertex whose source costs LEAST to MOST more. */
void search_relax(struct search *search, const struct entry *entry, int64_t least_ns,
    int64_t most_ns);
/* Sends what others are to relax and takes what comes. False where nobody had anything. */
bool search_exchange(struct search *search);

/* Until no label gets longer. */
void search_dijkstra(struct search *search);
void search_delta(struct search *search, int64_t delta_ns);

/* Of the path's graph: its segments, after the search of SEARCH_ALL. */
bool search_path(const struct stretch *stretch, void (*search_all)(struct search *),
    struct segments *segments);

#endif
