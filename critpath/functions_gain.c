/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the run would gain if a function took less time: each piece of computation gets shorter by as
 * much as the function's samples have of it, on all ranks, and the end is found anew.
 */
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "report.h"

/* The samples of the computation that ends in a call's enter. */
struct piece {
	uint32_t location;
	size_t from, count;
};

struct gains {
	struct functions *functions;
	const struct dag *dag;
	struct piece *pieces;	/* by call: vertex / 2 */
	int64_t *time_ns;	/* by vertex */
	int percent;
};

static int64_t
saved_ns(const struct gains *g, const struct piece *piece, uint32_t function, int64_t weight_ns)
{
	size_t of_it = 0;

	for (size_t i = 0; i < piece->count; i++)
		of_it += functions_at(g->functions, piece->location, piece->from + i) == function;
	return of_it == 0 ? 0 :
	    (int64_t)((double)weight_ns * g->percent / 100 * (double)of_it / (double)piece->count + 0.5);
}

static int64_t
end_if_faster(const struct gains *g, uint32_t function)
{
	const struct dag *dag = g->dag;

	for (uint32_t i = 0; i < dag->ordered; i++) {
		uint32_t v = dag->order[i];
		int64_t begin_ns = 0, weight_ns = dag->weight_ns[v];

		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++)
			if (dag->source[k] != BEGIN && g->time_ns[dag->source[k]] > begin_ns)
				begin_ns = g->time_ns[dag->source[k]];
		if (v < dag->events && (v & 1) == 0 && g->pieces[v / 2].count > 0)
			weight_ns -= saved_ns(g, &g->pieces[v / 2], function, weight_ns);
		g->time_ns[v] = begin_ns + weight_ns;
	}
	return g->time_ns[dag->end];
}

static void
find_pieces(struct gains *g)
{
	const struct dag *dag = g->dag;

	for (uint32_t v = 0; v < dag->events; v += 2) {
		const struct event event = numbering_event(&dag->numbering, v);
		const int64_t end_ns = time_of(dag->stretch, event);
		struct piece *piece = &g->pieces[v / 2];

		if (dag->weight_ns[v] <= 0)
			continue;
		piece->location = event.location;
		piece->count = functions_between(g->functions, event.location, end_ns - dag->weight_ns[v], end_ns,
		    &piece->from);
	}
}

void
functions_add_gains(struct functions *f, const struct definitions *known, const struct dag *dag,
    const struct segments *segments, int percent)
{
	struct gains g = { .functions = f, .dag = dag, .percent = percent };
	double *most_ns;

	functions_number(f, known);
	g.pieces = zalloc(dag->events / 2 + 1, sizeof *g.pieces);
	g.time_ns = zalloc(dag->vertices, sizeof *g.time_ns);
	most_ns = zalloc(f->gain_count + 1, sizeof *most_ns);
	find_pieces(&g);
	for (size_t s = 0; s < segments->count; s++) {
		const struct segment *segment = &segments->at[s];
		size_t from, count = segment->kind != COMPUTE ? 0 :
		    functions_between(f, segment->location, segment->begin_ns, segment->end_ns, &from);

		for (size_t i = 0; i < count; i++)
			most_ns[functions_at(f, segment->location, from + i)] +=
			    (double)(segment->end_ns - segment->begin_ns) * percent / 100 / (double)count;
	}
	for (uint32_t function = 0; function < f->gain_count; function++)
		if (most_ns[function] > 0) {	/* only what is on the path can gain anything */
			f->gains[function].most_ns += (int64_t)(most_ns[function] + 0.5);
			f->gains[function].ns += dag->time_ns[dag->end] - end_if_faster(&g, function);
		}
	free(g.pieces);
	free(g.time_ns);
	free(most_ns);
}

static int
by_gain(const void *left, const void *right)
{
	const struct function_gain *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* A copy in order, to be freed. */
static struct function_gain *
sorted_gains(const struct functions *f, size_t *count)
{
	struct function_gain *sorted = zalloc(f->gain_count + 1, sizeof *sorted);

	*count = 0;
	for (size_t i = 0; i < f->gain_count; i++)
		if (f->gains[i].most_ns > 0)
			sorted[(*count)++] = f->gains[i];
	qsort(sorted, *count, sizeof *sorted, by_gain);
	return sorted;
}

void
functions_gain_text(struct text *out, const struct functions *f, int64_t told_ns, int percent,
    size_t shown)
{
	struct table_writer table;
	size_t count;
	struct function_gain *sorted = sorted_gains(f, &count);

	text_char(out, '\n');
	text_line(out, "if the function took %d %% less time, on all ranks", percent);
	table_begin(&table, out, "gain_s\tgain_%\tat_most_s\tfunction");
	for (size_t i = 0; i < count && i < shown; i++) {
		table_seconds(&table, sorted[i].ns);
		table_fixed(&table, told_ns > 0 ? 100 * (double)sorted[i].ns / (double)told_ns : 0, 2);
		table_seconds(&table, sorted[i].most_ns);
		table_text(&table, sorted[i].name);
		table_end_line(&table);
	}
	if (count > shown)
		put_more(&table, 3, count - shown);
	table_end(&table);
	free(sorted);
}

void
functions_gain_json(struct json *out, const struct functions *f)
{
	size_t count;
	struct function_gain *sorted = sorted_gains(f, &count);

	json_break(out);
	json_begin_array(out, "gain_by_function");
	for (size_t i = 0; i < count; i++) {
		json_break(out);
		json_begin_object(out, NULL);
		json_text(out, "function", sorted[i].name);
		json_seconds(out, "gain_s", sorted[i].ns);
		json_seconds(out, "at_most_s", sorted[i].most_ns);
		json_end_object(out);
	}
	json_end_array(out);
	free(sorted);
}
