/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gain of the run if a function took less time. On all ranks, each piece of computation gets
 * shorter by PERCENT of the function's samples in it; then the end of the run is computed again.
 */
#include <stdlib.h>
#include <string.h>

#include "gain.h"
#include "../base/tool/fields.h"

struct function_gain {
	const char *name;
	int64_t ns, most_ns;	/* gain; gain if no other path took over */
	double share;		/* of the run */
};

#define GAIN(member) FIELD(struct function_gain, member)
static const struct field gain_fields[] = {
	{ "function", GAIN(name), .json = PLAIN },
	{ "gain_s", GAIN(ns), IN_SECONDS },
	{ "gain_%", GAIN(share), .text = "%.2f", .percent = true },
	{ "at_most_s", GAIN(most_ns), IN_SECONDS },
	{ "function", GAIN(name), .text = PLAIN },
	FIELDS_END
};

/* The samples of the computation that ends in a call's enter: a part of the list. */
struct piece {
	size_t first, count;
	int64_t on_core_ns;
};

struct gaining {
	const struct functions *functions;
	const struct definitions *known;
	struct function_gains *gains;
	const struct dag *dag;
	struct piece *pieces;	/* by call: vertex / 2 */
	uint32_t *sampled;	/* the function of each sample */
	size_t sample_count, sample_capacity;
	uint32_t function;	/* the faster function */
	int percent;
};

static uint32_t
function_at(struct function_gains *g, const struct definitions *known, uint32_t site)
{
	uint32_t *number;
	const char *name;

	if (g->number_of == NULL) {
		g->site_count = known->site_count > 0 ? known->site_count : 1;
		g->number_of = zalloc(g->site_count, sizeof *g->number_of);
	}
	/* Undefined sites share number 0, the unknown one. */
	number = &g->number_of[site < g->site_count ? site : 0];
	if (*number > 0)
		return *number - 1;
	name = place_frame(known, (uint32_t)(number - g->number_of)).name;
	while (*number < g->count && strcmp(g->at[*number].name, name) != 0)
		++*number;
	if (*number == g->count)
		*APPEND(g->at, g->count, g->capacity) = (struct function_gain){ .name = name };
	return (*number)++;
}

/* Adds the samples of the threads through which the computation leads. */
static struct piece
piece_of(struct gaining *g, uint32_t location, int64_t begin_ns, int64_t end_ns)
{
	const struct functions *f = g->functions;
	struct awaited *awaited = &g->gains->awaited;
	struct piece piece = { .first = g->sample_count };

	awaited_find(awaited, g->known, &f->lanes, f->sums.period_ns, location, begin_ns, end_ns);
	for (size_t i = 0; i < awaited->count; i++) {
		const struct awaited_piece *part = &awaited->at[i];
		const struct thread_lane *lane = lane_find(&f->lanes, location, part->worker);

		piece.on_core_ns += !f->sums.switched ? part->to_ns - part->from_ns :
		    core_time(off_lane_of(&f->lanes, location, part->worker), part->from_ns,
		    part->to_ns).on_ns;
		for (size_t k = lane != NULL ? lane_from(lane, part->from_ns) : 0; lane != NULL &&
		    k < lane->end && lane->at[k].at_ns < part->to_ns; k++)
			*APPEND(g->sampled, g->sample_count, g->sample_capacity) =
			    function_at(g->gains, g->known, lane->at[k].site);
	}
	piece.count = g->sample_count - piece.first;
	return piece;
}

/* How much shorter the piece gets: at most by its own time. */
static int64_t
saved_ns(const struct gaining *g, const struct piece *piece)
{
	const int64_t worth_ns = sample_worth(g->functions->sums.period_ns, piece->count,
	    piece->on_core_ns);
	size_t of_it = 0;

	for (size_t i = 0; i < piece->count; i++)
		of_it += g->sampled[piece->first + i] == g->function;
	return (int64_t)((double)of_it * (double)worth_ns * g->percent / 100 + 0.5);
}

static int64_t
weight_if_faster(const void *context, uint32_t v)
{
	const struct gaining *g = context;
	const bool less = v < g->dag->events && (v & 1) == 0 && g->pieces[v / 2].count > 0;

	return g->dag->weight_ns[v] - (less ? saved_ns(g, &g->pieces[v / 2]) : 0);
}

void
function_gains_add(struct function_gains *gains,
    const struct functions *f, const struct definitions *known, const struct dag *dag,
    const struct longest_way *way, int percent)
{
	struct gaining g = { .functions = f, .known = known, .gains = gains, .dag = dag,
	    .percent = percent };
	int64_t *time_ns;	/* by vertex */

	g.pieces = zalloc(dag->events / 2 + 1, sizeof *g.pieces);
	time_ns = zalloc(dag->vertices, sizeof *time_ns);
	for (uint32_t v = 0; v < dag->events; v += 2) {
		const struct event event = numbering_event(&dag->numbering, v);
		const int64_t end_ns = time_of(dag->stretch, event);

		g.pieces[v / 2] = piece_of(&g, event.location, end_ns - dag->weight_ns[v],
		    end_ns);
	}
	for (uint32_t function = 0; function < gains->count; function++) {
		int64_t most_ns = 0;

		g.function = function;
		for (size_t i = 0; i < way->count; i++)
			if (way->at[i] < dag->events && (way->at[i] & 1) == 0)
				most_ns += saved_ns(&g, &g.pieces[way->at[i] / 2]);
		if (most_ns > 0) {	/* only what is on the longest way can gain anything */
			gains->at[function].most_ns += most_ns;
			gains->at[function].ns += dag->time_ns[dag->end] - dag_evaluate(dag,
			    time_ns, weight_if_faster, &g);
		}
	}
	free(g.pieces);
	free(g.sampled);
	free(time_ns);
}

ORDER(by_gain, struct function_gain, MOST(ns) BY_TEXT(name))

/* A sorted copy; the caller frees it. */
static struct function_gain *
sorted_gains(const struct function_gains *gains, size_t *count)
{
	struct function_gain *sorted = zalloc(gains->count + 1, sizeof *sorted);

	*count = 0;
	for (size_t i = 0; i < gains->count; i++)
		if (gains->at[i].most_ns > 0)
			sorted[(*count)++] = gains->at[i];
	SORT(sorted, *count, by_gain);
	return sorted;
}

void
function_gains_text(struct text *out, const struct function_gains *gains, int64_t told_ns,
    int percent, size_t shown)
{
	size_t count;
	struct function_gain *sorted = sorted_gains(gains, &count);

	for (size_t i = 0; i < count && told_ns > 0; i++)
		sorted[i].share = (double)sorted[i].ns / (double)told_ns;
	text_char(out, '\n');
	text_line(out, "if the function took %d %% less time, on all ranks", percent);
	table_first(out, gain_fields, sorted, count, sizeof *sorted, shown);
	free(sorted);
}

void
function_gains_json(struct json *out, const struct function_gains *gains)
{
	size_t count;
	struct function_gain *sorted = sorted_gains(gains, &count);

	json_break(out);
	json_rows(out, "gain_by_function", gain_fields, sorted, count, sizeof *sorted);
	free(sorted);
}
