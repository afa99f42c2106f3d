/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two label-correcting searches. They go backwards from the end, as in Korkhov et al. 2023: a label
 * is the longest known way from a vertex to the end, without the vertex itself. If the source of an
 * edge belongs to another member of the team, its relaxation is sent there.
 */
#include "solvers.h"

#include "../../tool/heap.h"

/* Relax an edge from SOURCE: the way to the end over this edge has this length. */
struct request {
	struct event source;
	int64_t label_ns;
	uint32_t steps;
};

static int64_t
cost_of(const struct dag *dag, uint32_t v, int64_t label_ns)
{
	return dag->time_ns == NULL ? label_ns :
	    dag->time_ns[dag->end] - dag->time_ns[v] - label_ns;
}

/* False: the label has become longer since the entry was made. */
static bool
is_current(const struct search *search, const struct entry *entry)
{
	return entry->cost_ns ==
	    cost_of(search->dag, entry->vertex, search->reached[entry->vertex] - 1);
}

static void
improve(struct search *s, uint32_t v, int64_t label_ns, uint32_t steps)
{
	if (s->steps != NULL) {
		if (s->reached[v] == 0)
			*APPEND(s->path, s->path_count, s->path_capacity) = v;
		s->steps[v] = steps;
	}
	s->reached[v] = label_ns + 1;
	*APPEND(s->at, s->count, s->capacity) = (struct entry){ cost_of(s->dag, v, label_ns), v };
}

void
search_open(struct search *s, const struct dag *dag)
{
	*s = (struct search){ .dag = dag, .reached = zalloc(dag->vertices, sizeof *s->reached) };
	if (dag->time_ns == NULL)
		s->steps = zalloc(dag->vertices, sizeof *s->steps);
	if (dag->end != ELSEWHERE)
		improve(s, dag->end, 0, 0);
}

void
search_close(struct search *s)
{
	free(s->reached);
	free(s->steps);
	free(s->at);
	free(s->path);
}

/* Relaxes the edges into the entry's vertex whose source costs LEAST to MOST more. */
static void
relax(struct search *s, const struct entry *entry, int64_t least_ns, int64_t most_ns)
{
	const struct dag *dag = s->dag;
	const uint32_t v = entry->vertex, steps = s->steps != NULL ? s->steps[v] + 1 : 0;
	const int64_t now_ns = s->reached[v] - 1, cost_ns = cost_of(dag, v, now_ns);
	struct dag_edges e;
	int64_t label_ns;

	dag_edges(dag, v, &e);
	label_ns = now_ns + e.weight_ns;
	for (size_t k = 0; k < e.count; k++) {
		const uint32_t u = e.source[k];
		int64_t more_ns;

		if (u == BEGIN) {
			s->arrived = true;
		} else if (u == ELSEWHERE) {
			if (e.weight_ns >= least_ns && e.weight_ns <= most_ns)
				post_add(&s->out, &(struct request){ e.before, label_ns, steps },
				    sizeof(struct request),
				    owner_of(dag->stretch, e.before.location));
		} else if (label_ns >= s->reached[u]) {
			more_ns = cost_of(dag, u, label_ns) - cost_ns;
			if (more_ns >= least_ns && more_ns <= most_ns)
				improve(s, u, label_ns, steps);
		}
	}
}

/* Sends relaxations to their members and takes those that arrive. False: no member had any. */
static bool
exchange(struct search *s)
{
	const struct team *team = s->dag->stretch->team;
	struct request *got;
	size_t received;

	if (team_sum(team, s->out.count) == 0)
		return false;
	got = post_exchange(team, &s->out, sizeof *got, &received);
	for (size_t i = 0; i < received; i++) {
		const uint32_t v = (uint32_t)numbering_of(&s->dag->numbering, got[i].source);

		if (got[i].label_ns >= s->reached[v])
			improve(s, v, got[i].label_ns, got[i].steps);
	}
	free(got);
	return true;
}

/* ---- Dijkstra ---- */

/*
 * With a priority queue; it corrects labels, because the weights of a longest path are negative
 * (Korkhov et al. 2023). A member of a team empties its own queue before it exchanges relaxations
 * with the others. All end when none had any to send.
 */

#define CHEAPER(a, b) ((a)->cost_ns < (b)->cost_ns)
HEAP(heap, struct entry, CHEAPER)

void
search_dijkstra(struct search *s)
{
	do {
		heap_make(s->at, s->count);
		while (s->count > 0) {
			const struct entry entry = heap_pop(s->at, &s->count);
			const size_t before = s->count;

			if (is_current(s, &entry))
				relax(s, &entry, INT64_MIN, INT64_MAX);
			for (size_t i = before; i < s->count; i++)
				heap_up(s->at, i);
		}
	} while (exchange(s));
}

/* ---- delta-stepping (Meyer and Sanders 2003) for the longest path ---- */

/*
 * Labels are processed in buckets of width delta. Edges that cost less than delta may lead back
 * into the bucket and are relaxed until it is empty, the other edges once after that. All members
 * of a team process the same bucket. Entries are in one list, not in an array of buckets: it holds
 * the fronts of the search, which are few.
 */

/* The lowest bucket of all members; drops outdated entries. INT64_MAX: no member has an entry. */
static int64_t
next_bucket(struct search *s, int64_t delta_ns)
{
	int64_t least_ns = INT64_MAX, next;
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		if (is_current(s, &s->at[i])) {
			s->at[kept++] = s->at[i];
			least_ns = s->at[i].cost_ns < least_ns ? s->at[i].cost_ns : least_ns;
		}
	s->count = kept;
	/* rounds down, also below zero */
	next = least_ns == INT64_MAX ? -INT64_MAX :
	    -(least_ns / delta_ns - (least_ns % delta_ns < 0));
	team_max(s->dag->stretch->team, &next, 1);	/* of negative values: the least */
	return -next;
}

void
search_delta(struct search *s, int64_t delta_ns)
{
	struct entry *taken = NULL;	/* of the bucket */
	size_t count, capacity = 0;
	int64_t bucket;

	while ((bucket = next_bucket(s, delta_ns)) != INT64_MAX) {
		count = 0;
		do {
			size_t kept = 0, done = count;

			for (size_t i = 0; i < s->count; i++)
				if (s->at[i].cost_ns >= (bucket + 1) * delta_ns)
					s->at[kept++] = s->at[i];
				else	/* none is in a lower one */
					*APPEND(taken, count, capacity) = s->at[i];
			s->count = kept;
			for (; done < count; done++)
				relax(s, &taken[done], INT64_MIN, delta_ns - 1);
			exchange(s);
		} while (next_bucket(s, delta_ns) == bucket);
		for (size_t i = 0; i < count; i++)
			if (is_current(s, &taken[i]))
				relax(s, &taken[i], delta_ns, INT64_MAX);
		exchange(s);
	}
	free(taken);
}

/* ---- the path ---- */

struct step {
	struct segment segment;
	uint32_t steps;			/* to the end */
};

ORDER(by_steps, struct step, MOST(steps))

static bool
search_path(const struct stretch *stretch, void (*search_all)(struct search *),
    struct segments *segments)
{
	struct dag dag;
	struct dag_edges e;
	struct search s;
	struct segments piece = { 0 };
	struct step *own, *all;
	size_t own_count = 0, count;
	bool arrived;

	dag_of_path(&dag, stretch, false);
	search_open(&s, &dag);
	search_all(&s);
	arrived = team_sum(stretch->team, s.arrived) > 0;
	own = zalloc(s.path_count, sizeof *own);
	/* Each event has one edge into it, so the events reached are the path. */
	for (size_t i = 0; arrived && i < s.path_count; i++) {
		const uint32_t v = s.path[i];

		piece.count = 0;
		dag_find_edge(&dag, v, &e);
		add_piece(&piece, stretch, e.one != BEGIN ? &e.before : NULL, e.before_ns,
		    numbering_event(&dag.numbering, v));
		if (piece.count > 0)
			own[own_count++] = (struct step){ piece.at[0], s.steps[v] };
	}
	all = team_gather(stretch->team, own, own_count, sizeof *own, &count);
	if (arrived && stretch->team->rank == 0) {
		SORT(all, count, by_steps);
		GROW(segments->at, segments->capacity, segments->count + count);
		for (size_t i = 0; i < count; i++)
			segments->at[segments->count++] = all[i].segment;
	}
	search_close(&s);
	dag_close(&dag);
	free(piece.at);
	free(own);
	free(all);
	return arrived;
}

bool
solve_dijkstra(const struct stretch *stretch, struct segments *segments)
{
	return search_path(stretch, search_dijkstra, segments);
}

/* Delta is the mean time between two events of a location. */
static void
search_with_default(struct search *s)
{
	const struct stretch *stretch = s->dag->stretch;
	const int64_t events = (int64_t)(count_events(stretch) / stretch->window->locations) + 1;

	search_delta(s, 1 + (stretch->to_ns - stretch->begin_ns) / events);
}

bool
solve_delta(const struct stretch *stretch, struct segments *segments)
{
	return search_path(stretch, search_with_default, segments);
}
