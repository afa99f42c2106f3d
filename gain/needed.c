/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same algorithms as those for the path, on a graph that leaves them a choice.
 *
 * Walk and Kahn's order give each vertex the longest way to it from the beginning; Dijkstra and
 * delta-stepping go the other way and give it the longest way from it to the end. Where there
 * are several longest ways, that is taken which, from the end back, has the lowest vertices.
 *
 * What the searches order by is how much waiting the best way from a vertex to the end has, by the recorded
 * times: never less than nothing as long as nothing lasts longer than it did, so that then each vertex
 * is settled once, as in Dijkstra's. Where something lasts longer, labels are corrected.
 */
#include <math.h>
#include <stdlib.h>

#include "../base/tool/heap.h"
#include "gain.h"

enum { NO_WAY = -1 };

static inline bool
has_begin(const struct dag *dag, uint32_t v)
{
	for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
		if (dag->source[k] == BEGIN)
			return true;
	return dag->in[v] == dag->in[v + 1];
}

/* From the end back along labels, which tell of each vertex the longest way to it, itself included. */
static size_t
follow(const struct dag *dag, const int64_t *to_ns, uint32_t *at)
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

/* ---- from the beginning --------------------------------------------------------------------- */

/* When each event would be, in the order in which the way back from the end met them. */
static size_t
choose_walk(const struct dag *dag, uint32_t *at)
{
	int64_t *to_ns = zalloc(dag->vertices, sizeof *to_ns);
	size_t n;

	for (uint32_t i = 0; i < dag->ordered; i++) {
		uint32_t v = dag->order[i];
		int64_t begin_ns = 0;

		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
			if (dag->source[k] != BEGIN && to_ns[dag->source[k]] > begin_ns)
				begin_ns = to_ns[dag->source[k]];
		to_ns[v] = begin_ns + dag->weight_ns[v];
	}
	n = follow(dag, to_ns, at);
	free(to_ns);
	return n;
}

struct onward {			/* the edges that lead out of vertices, and how many lead in */
	uint64_t *out;		/* they are to[out[v]] to before to[out[v + 1]] */
	uint32_t *to, *left;
};

static void
turn_around(const struct dag *dag, struct onward *onward)
{
	uint64_t *next;

	onward->out = zalloc((size_t)dag->vertices + 2, sizeof *onward->out);
	onward->to = zalloc(dag->source_count, sizeof *onward->to);
	onward->left = zalloc(dag->vertices, sizeof *onward->left);
	next = onward->out + 1;		/* while they are filled in, out is one further on */
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < dag->ordered; i++) {
			uint32_t v = dag->order[i];

			for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++) {
				uint32_t u = dag->source[k];

				if (u == BEGIN)
					continue;
				if (fill == 0) {
					next[u + 1]++;
					onward->left[v]++;
				} else
					onward->to[next[u]++] = v;
			}
		}
		for (uint32_t v = 0; fill == 0 && v < dag->vertices; v++)
			next[v + 1] += next[v];
	}
}

static size_t
choose_kahn(const struct dag *dag, uint32_t *at)
{
	int64_t *to_ns = zalloc(dag->vertices, sizeof *to_ns);
	uint32_t *ready = zalloc(dag->ordered, sizeof *ready);
	struct onward onward;
	size_t head = 0, tail = 0, n;

	turn_around(dag, &onward);
	for (uint32_t i = 0; i < dag->ordered; i++)
		if (onward.left[dag->order[i]] == 0)
			ready[tail++] = dag->order[i];
	while (head < tail) {
		uint32_t u = ready[head++];

		to_ns[u] += dag->weight_ns[u];
		for (uint64_t k = onward.out[u]; k < onward.out[u + 1]; k++) {
			uint32_t v = onward.to[k];

			if (to_ns[u] > to_ns[v])
				to_ns[v] = to_ns[u];
			if (--onward.left[v] == 0)
				ready[tail++] = v;
		}
	}
	n = follow(dag, to_ns, at);
	free(onward.out);
	free(onward.to);
	free(onward.left);
	free(ready);
	free(to_ns);
	return n;
}

/* ---- from the end ---------------------------------------------------------------------------- */

struct entry {
	int64_t waits_ns;	/* on the best way known from there to the end */
	uint32_t vertex;
};

struct search {
	const struct dag *dag;
	int64_t *rest_ns;	/* by vertex: the longest way from it to the end, itself not; or NO_WAY */
	struct entry *at;	/* those that got a better label */
	size_t count, capacity;
};

static int64_t
waits_ns(const struct search *search, uint32_t v)
{
	const struct dag *dag = search->dag;

	return dag->time_ns[dag->end] - dag->time_ns[v] - search->rest_ns[v];
}

static bool
is_current(const struct search *search, const struct entry *entry)
{
	return entry->waits_ns == waits_ns(search, entry->vertex);
}

static void
improve(struct search *search, uint32_t v, int64_t rest_ns)
{
	search->rest_ns[v] = rest_ns;
	search->at = grow(search->at, &search->capacity, search->count + 1, sizeof *search->at);
	search->at[search->count++] = (struct entry){ waits_ns(search, v), v };
}

static void
begin_search(struct search *search, const struct dag *dag)
{
	*search = (struct search){ .dag = dag, .rest_ns = zalloc(dag->vertices, sizeof *search->rest_ns) };
	for (uint32_t v = 0; v < dag->vertices; v++)
		search->rest_ns[v] = NO_WAY;
	improve(search, dag->end, 0);
}

/* Edges into a vertex that make LEAST to MOST more waiting. */
static void
relax(struct search *search, const struct entry *entry, int64_t least_ns, int64_t most_ns)
{
	const struct dag *dag = search->dag;
	uint32_t v = entry->vertex;
	int64_t rest_ns = search->rest_ns[v] + dag->weight_ns[v];

	for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++) {
		uint32_t u = dag->source[k];
		int64_t more_ns;

		if (u == BEGIN || rest_ns <= search->rest_ns[u])
			continue;
		more_ns = dag->time_ns[v] - dag->time_ns[u] - dag->weight_ns[v];
		if (more_ns >= least_ns && more_ns <= most_ns)
			improve(search, u, rest_ns);
	}
}

/*
 * What is known from the end as labels from the beginning, of vertices that lie on a longest way; others
 * lie on none.
 */
static size_t
end_search(struct search *search, uint32_t *at)
{
	const struct dag *dag = search->dag;
	const int64_t *rest_ns = search->rest_ns;
	int64_t *to_ns = zalloc(dag->vertices, sizeof *to_ns), all_ns = 0;
	size_t n;

	for (uint32_t i = 0; i < dag->ordered; i++) {
		uint32_t v = dag->order[i];

		if (has_begin(dag, v) && rest_ns[v] + dag->weight_ns[v] > all_ns)
			all_ns = rest_ns[v] + dag->weight_ns[v];
	}
	for (uint32_t i = 0; i < dag->ordered; i++) {
		uint32_t v = dag->order[i];
		bool on_one = has_begin(dag, v) && rest_ns[v] + dag->weight_ns[v] == all_ns;

		for (uint64_t k = dag->in[v]; k < dag->in[v + 1] && !on_one; k++) {
			uint32_t u = dag->source[k];

			on_one = u != BEGIN && to_ns[u] != NO_WAY && rest_ns[u] == rest_ns[v] + dag->weight_ns[v];
		}
		to_ns[v] = on_one ? all_ns - rest_ns[v] : NO_WAY;
	}
	n = follow(dag, to_ns, at);
	free(to_ns);
	free(search->rest_ns);
	free(search->at);
	return n;
}

#define WAITS_LESS(a, b) ((a)->waits_ns < (b)->waits_ns)
HEAP(heap, struct entry, WAITS_LESS)

static size_t
choose_dijkstra(const struct dag *dag, uint32_t *at)
{
	struct search search;

	begin_search(&search, dag);
	while (search.count > 0) {
		struct entry entry = heap_pop(search.at, &search.count);
		size_t before = search.count;

		if (!is_current(&search, &entry))
			continue;
		relax(&search, &entry, INT64_MIN, INT64_MAX);
		for (size_t i = before; i < search.count; i++)
			heap_up(search.at, i);
	}
	return end_search(&search, at);
}

static int64_t
bucket_of(const struct entry *entry, int64_t delta_ns)
{
	/* Rounded down, below zero, too. */
	return entry->waits_ns / delta_ns - (entry->waits_ns % delta_ns < 0);
}

/* Moves the current entries of the lowest bucket behind those TAKEN; outdated ones are forgotten. */
static bool
take_bucket(struct search *search, int64_t delta_ns, int64_t *bucket, bool same, struct entry **taken,
    size_t *count, size_t *capacity)
{
	int64_t lowest = INT64_MAX;
	size_t kept = 0, before = *count;

	for (size_t i = 0; i < search->count; i++)
		if (is_current(search, &search->at[i])) {
			search->at[kept++] = search->at[i];
			if (bucket_of(&search->at[i], delta_ns) < lowest)
				lowest = bucket_of(&search->at[i], delta_ns);
		}
	search->count = kept;
	if (kept == 0 || (same && lowest != *bucket))
		return false;
	*bucket = lowest;
	kept = 0;
	for (size_t i = 0; i < search->count; i++)
		if (bucket_of(&search->at[i], delta_ns) == lowest) {
			*taken = grow(*taken, capacity, *count + 1, sizeof **taken);
			(*taken)[(*count)++] = search->at[i];
		} else
			search->at[kept++] = search->at[i];
	search->count = kept;
	return *count > before;
}

/* Edges that keep a way in its bucket are followed until that is empty, all others once after that. */
static size_t
choose_delta(const struct dag *dag, uint32_t *at)
{
	/* The mean time between two events, of all together. */
	const int64_t delta_ns = 1 + dag->time_ns[dag->end] / (int64_t)(dag->ordered + 1);
	struct entry *taken = NULL;
	size_t count = 0, capacity = 0;
	struct search search;
	int64_t bucket = 0;

	begin_search(&search, dag);
	while (take_bucket(&search, delta_ns, &bucket, false, &taken, &count, &capacity)) {
		size_t done = 0;

		do
			for (; done < count; done++)
				relax(&search, &taken[done], INT64_MIN, delta_ns - 1);
		while (take_bucket(&search, delta_ns, &bucket, true, &taken, &count, &capacity));
		for (size_t i = 0; i < count; i++)
			if (is_current(&search, &taken[i]))
				relax(&search, &taken[i], delta_ns, INT64_MAX);
		count = 0;
	}
	free(taken);
	return end_search(&search, at);
}

/* ---- the way as segments --------------------------------------------------------------------- */

/*
 * The longest way from the beginning of DAG to its end, behind it in AT; how many vertices, room for all
 * is there.
 */
typedef size_t chooser(const struct dag *dag, uint32_t *at);
static chooser *const choosers[] = { choose_walk, choose_kahn, choose_dijkstra, choose_delta };

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
choice_solve(struct choice *choice, enum chooser how, const struct stretch *stretch,
    const struct instances *instances, const struct definitions *known, struct segments *segments)
{
	struct dag dag;
	uint32_t *way, before = BEGIN;
	size_t count;

	dag_open(&dag, stretch, instances, known);
	if (choice->scales.count > 0)
		scale_weights(choice, &dag, known);
	way = zalloc(dag.vertices, sizeof *way);
	count = choosers[how](&dag, way);
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
