/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gain of the run if a function took less time. On all ranks, each piece of computation gets
 * shorter by PERCENT of the function's samples in it; then the end of the run is computed again.
 */
#include "gain.h"

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

/* The samples of the computation that ends in a call's enter: in the list, to before the next. */
struct piece {
	size_t first;
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
	uint32_t *asked;	/* the faster function of each question */
	size_t asked_count, asked_capacity;
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
		const struct thread_lane *lane = part->lane;

		piece.on_core_ns += !f->sums.switched ? part->to_ns - part->from_ns :
		    core_time(off_lane(lane), part->from_ns, part->to_ns).on_ns;
		for (size_t k = lane_from(lane, part->from_ns); lane_has(lane, k, part->to_ns); k++)
			*APPEND(g->sampled, g->sample_count, g->sample_capacity) =
			    function_at(g->gains, g->known, lane->at[k].site);
	}
	return piece;
}

/* How much shorter the piece gets if FUNCTION is faster: at most by its own time. */
static int64_t
saved_ns(const struct gaining *g, const struct piece *piece, uint32_t function)
{
	const size_t end = piece[1].first;
	const int64_t worth_ns = sample_worth(g->functions->sums.period_ns, end - piece->first,
	    piece->on_core_ns);
	size_t of_it = 0;

	for (size_t i = piece->first; i < end; i++)
		of_it += g->sampled[i] == function;
	return (int64_t)((double)of_it * (double)worth_ns * g->percent / 100 + 0.5);
}

static void
weights_if_faster(const void *context, size_t question, uint32_t v, int64_t *weight_ns)
{
	const struct gaining *g = context;
	const struct piece *piece = &g->pieces[v < g->dag->events ? v / 2 : 0];
	const bool less = v < g->dag->events && (v & 1) == 0 && piece[1].first > piece->first;

	for (size_t l = 0; l < LANES; l++)
		weight_ns[l] = g->dag->weight_ns[v] - (less && question + l < g->asked_count ?
		    saved_ns(g, piece, g->asked[question + l]) : 0);
}

static void
evaluate_faster(const struct dag *dag, int64_t (*time_ns)[LANES], const void *context,
    size_t question, int64_t *end_ns)
{
	evaluate(dag, time_ns, weights_if_faster, context, question, end_ns);
}

void
function_gains_add(struct function_gains *gains, const struct functions *f, const struct dag *dag,
    const struct longest_way *way, int percent)
{
	struct gaining g = { .functions = f, .known = dag->stretch->known, .gains = gains,
	    .dag = dag, .percent = percent };
	int64_t *gain_ns;

	g.pieces = zalloc(dag->events / 2 + 1, sizeof *g.pieces);
	for (uint32_t v = 0; v < dag->events; v += 2) {
		const struct event event = numbering_event(&dag->numbering, v);
		const int64_t end_ns = time_of(dag->stretch, event);

		g.pieces[v / 2] = piece_of(&g, event.location, end_ns - dag->weight_ns[v],
		    end_ns);
	}
	g.pieces[dag->events / 2].first = g.sample_count;
	for (uint32_t function = 0; function < gains->count; function++) {
		int64_t most_ns = 0;

		for (size_t i = 0; i < way->count; i++)
			if (way->at[i] < dag->events && (way->at[i] & 1) == 0)
				most_ns += saved_ns(&g, &g.pieces[way->at[i] / 2], function);
		gains->at[function].most_ns += most_ns;
		if (most_ns > 0)	/* only what is on the longest way can gain anything */
			*APPEND(g.asked, g.asked_count, g.asked_capacity) = function;
	}
	gain_ns = gains_if(dag, g.asked_count, NULL, evaluate_faster, NULL, &g);
	for (size_t q = 0; q < g.asked_count; q++)
		gains->at[g.asked[q]].ns += gain_ns[q];
	free(gain_ns);
	free(g.asked);
	free(g.pieces);
	free(g.sampled);
}

ORDER(by_gain, struct function_gain, MOST(ns) BY_TEXT(name))

struct rows
function_gain_rows(const struct function_gains *gains, int64_t told_ns)
{
	struct function_gain *sorted = zalloc(gains->count + 1, sizeof *sorted);
	size_t count = 0;

	for (size_t i = 0; i < gains->count; i++)
		if (gains->at[i].most_ns > 0) {
			sorted[count] = gains->at[i];
			sorted[count++].share = share_of(gains->at[i].ns, told_ns);
		}
	SORT(sorted, count, by_gain);
	return (struct rows){ gain_fields, sorted, count, sizeof *sorted };
}
