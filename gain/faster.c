/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the graph if some activities took less time.
 *
 * A question that changes much is an evaluation of the whole graph. One that changes vertices near
 * each other in its order evaluates these only. Where the changes end, the way goes on over edges
 * whose length to the end is known: from the changed vertices, or from earlier ones, whose times
 * are as recorded. Many such questions are answered from the end backwards.
 */
#include "gain.h"

/* ---- a part of the graph --------------------------------------------------------------------- */

enum { NOWHERE = -1 };

struct sweep {
	const struct dag *dag;
	uint32_t at;		/* vertices from here on in the order have been passed */
	int64_t begin_ns;	/* the longest way to the end that begins in one of them */
	/* by vertex: its place in the order, its time, and the longest way on over passed ones */
	uint32_t *place;
	int64_t *time_ns, *onward_ns;
	uint32_t *open;		/* vertices not passed that have a way on */
	size_t count, open_capacity;
	int64_t (*changed_ns)[LANES];	/* times in the part */
	size_t capacity;
};

static void
sweep_begin(struct sweep *s, const struct dag *dag)
{
	*s = (struct sweep){ .dag = dag, .at = dag->ordered, .begin_ns = INT64_MIN,
	    .place = zalloc(dag->vertices, sizeof *s->place),
	    .time_ns = walk_longest(dag),
	    .onward_ns = zalloc(dag->vertices, sizeof *s->onward_ns) };
	for (uint32_t i = 0; i < dag->ordered; i++) {
		s->place[dag->order[i]] = i;
		s->onward_ns[dag->order[i]] = NOWHERE;
	}
	s->onward_ns[dag->end] = 0;
	*APPEND(s->open, s->count, s->open_capacity) = dag->end;
}

/* Passes all vertices after LAST. */
static void
sweep_to(struct sweep *s, uint32_t last)
{
	const struct dag *dag = s->dag;

	while (s->at > last + 1) {
		const uint32_t v = dag->order[--s->at];
		const int64_t onward_ns = s->onward_ns[v] + dag->weight_ns[v];

		s->begin_ns = larger(s->begin_ns, onward_ns);
		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++) {
			const uint32_t u = dag->source[k];

			if (u == BEGIN)
				continue;
			if (s->onward_ns[u] == NOWHERE)
				*APPEND(s->open, s->count, s->open_capacity) = u;
			s->onward_ns[u] = larger(s->onward_ns[u], onward_ns);
		}
	}
}

/* As evaluate, but the weights are as recorded before FIRST and after LAST. */
static void
evaluate_part(struct sweep *s, const struct changes *part, weights_if *weights, const void *context,
    size_t question, int64_t *end_ns)
{
	const struct dag *dag = s->dag;
	int64_t (*time_ns)[LANES], weight_ns[LANES];
	size_t kept = 0;

	sweep_to(s, part->last);
	GROW(s->changed_ns, s->capacity, part->last - part->first + 1);
	time_ns = s->changed_ns;
	for (uint32_t i = part->first; i <= part->last; i++, time_ns++) {
		const uint32_t v = dag->order[i];

		memset(*time_ns, 0, sizeof *time_ns);
		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++) {
			const uint32_t u = dag->source[k];

			for (int l = 0; u != BEGIN && l < LANES; l++)
				(*time_ns)[l] = larger((*time_ns)[l], s->place[u] < part->first ?
				    s->time_ns[u] : s->changed_ns[s->place[u] - part->first][l]);
		}
		weights(context, question, v, weight_ns);
		for (int l = 0; l < LANES; l++)
			(*time_ns)[l] += weight_ns[l];
	}
	for (int l = 0; l < LANES; l++)
		end_ns[l] = s->begin_ns;
	for (size_t k = 0; k < s->count; k++) {
		const uint32_t u = s->open[k], place = s->place[u];

		if (place > part->last)		/* it has been passed */
			continue;
		s->open[kept++] = u;
		for (int l = 0; l < LANES; l++)
			end_ns[l] = larger(end_ns[l], s->onward_ns[u] + (place < part->first ?
			    s->time_ns[u] : s->changed_ns[place - part->first][l]));
	}
	s->count = kept;
}

/* ---- all questions --------------------------------------------------------------------------- */

/* The changes of LANES questions. */
static struct changes
together(const struct changes *changes, size_t question, size_t questions)
{
	struct changes all = changes[question];

	for (size_t q = question; q < question + LANES && q < questions; q++) {
		all.first = changes[q].first < all.first ? changes[q].first : all.first;
		all.last = changes[q].last > all.last ? changes[q].last : all.last;
	}
	return all;
}

int64_t *
gains_if(const struct dag *dag, size_t questions, const struct changes *changes,
    evaluate_if *evaluate_all, weights_if *weights, const void *context)
{
	int64_t (*time_ns)[LANES] = NULL, end_ns[LANES];
	int64_t *gain_ns = zalloc(questions, sizeof *gain_ns);
	struct sweep sweep = { .dag = NULL };

	for (size_t q = 0; q < questions; q += LANES) {
		const struct changes part = changes != NULL ?
		    together(changes, q, questions) : (struct changes){ 0, dag->ordered };

		if (changes_much(dag, &part)) {
			if (time_ns == NULL)
				time_ns = zalloc(dag->vertices, sizeof *time_ns);
			evaluate_all(dag, time_ns, context, q, end_ns);
		} else {
			free(time_ns);		/* such questions come last */
			time_ns = NULL;
			if (sweep.dag == NULL)
				sweep_begin(&sweep, dag);
			evaluate_part(&sweep, &part, weights, context, q, end_ns);
		}
		for (size_t l = 0; l < LANES && q + l < questions; l++)
			gain_ns[q + l] = dag->time_ns[dag->end] - end_ns[l];
	}
	free(time_ns);
	free(sweep.place);
	free(sweep.time_ns);
	free(sweep.onward_ns);
	free(sweep.open);
	free(sweep.changed_ns);
	return gain_ns;
}
