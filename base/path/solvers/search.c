/* SPDX-License-Identifier: BSD-3-Clause */
#include "solvers.h"

#include <stdlib.h>
#include <string.h>

/* Relax an edge from SOURCE: the way to the end over this edge has this length. */
struct request {
	struct event source;
	int64_t label_ns;
	uint32_t steps;
};

static void
improve(struct search *s, uint32_t v, int64_t label_ns, uint32_t steps)
{
	if (s->steps != NULL) {
		if (s->reached[v] == 0) {
			*APPEND(s->path, s->path_count, s->path_capacity) = v;
		}
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

void
search_relax(struct search *s, const struct entry *entry, int64_t least_ns, int64_t most_ns)
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

bool
search_exchange(struct search *s)
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

/* ---- the path ---- */

struct step {
	struct segment segment;
	uint32_t steps;			/* to the end */
};

ORDER(by_steps, struct step, MOST(steps))

/* Each event has one edge into it, so the events reached are the path; each with its piece. */
static struct step *
own_steps(const struct search *s, size_t *count)
{
	const struct dag *dag = s->dag;
	struct step *steps = zalloc(s->path_count, sizeof *steps);
	struct segments piece = { 0 };
	struct dag_edges e;

	*count = 0;
	for (size_t i = 0; i < s->path_count; i++) {
		const uint32_t v = s->path[i];

		piece.count = 0;
		dag_find_edge(dag, v, &e);
		add_piece(&piece, dag->stretch, e.one != BEGIN ? &e.before : NULL, e.before_ns,
		    numbering_event(&dag->numbering, v));
		if (piece.count > 0)
			steps[(*count)++] = (struct step){ piece.at[0], s->steps[v] };
	}
	free(piece.at);
	return steps;
}

bool
search_path(const struct stretch *stretch, void (*search_all)(struct search *),
    struct segments *segments)
{
	struct dag dag;
	struct search s;
	struct step *own, *all;
	size_t own_count = 0, count;
	bool arrived;

	dag_of_path(&dag, stretch, false);
	search_open(&s, &dag);
	search_all(&s);
	arrived = team_sum(stretch->team, s.arrived) > 0;
	own = arrived ? own_steps(&s, &own_count) : NULL;
	all = team_gather(stretch->team, own, own_count, sizeof *own, &count);
	if (arrived && stretch->team->rank == 0) {
		SORT(all, count, by_steps);
		GROW(segments->at, segments->capacity, segments->count + count);
		for (size_t i = 0; i < count; i++)
			segments->at[segments->count++] = all[i].segment;
	}
	search_close(&s);
	dag_close(&dag);
	free(own);
	free(all);
	return arrived;
}
