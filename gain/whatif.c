/* SPDX-License-Identifier: BSD-3-Clause */
#include "../base/run/span.h"
#include "gain.h"

#include <stdlib.h>
#include <string.h>

/* ---- slack -------------------------------------------------------------------------------- */

static void
add_to_site(struct whatif *whatif, uint32_t index, int64_t slack_ns, int64_t weight_ns)
{
	struct site_slack *site = AT(whatif->site_slack, whatif->slack_capacity, index);

	if (slack_ns == NO_SLACK || weight_ns == 0)
		return;
	if (!site->seen || slack_ns < site->least_ns)
		site->least_ns = slack_ns;
	site->seen = true;
	site->time_ns += weight_ns;
	if (slack_ns == 0)
		site->critical_ns += weight_ns;
}

/* By vertex: how much later it may end without a later end of the run. */
static int64_t *
find_slack(const struct dag *dag)
{
	int64_t *slack_ns = zalloc(dag->vertices, sizeof *slack_ns);

	for (uint32_t v = 0; v < dag->vertices; v++)
		slack_ns[v] = INT64_MAX;
	slack_ns[dag->end] = 0;
	for (uint32_t i = dag->ordered; i-- > 0;) {
		uint32_t v = dag->order[i];

		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++) {
			uint32_t u = dag->source[k];
			int64_t waits_ns;

			if (u == BEGIN)
				continue;
			/* The wait from the end of U to the begin of V's activity. */
			waits_ns = dag->time_ns[v] - dag->weight_ns[v] - dag->time_ns[u];
			if (slack_ns[v] + waits_ns < slack_ns[u])
				slack_ns[u] = slack_ns[v] + waits_ns;
		}
	}
	return slack_ns;
}

static void
add_slack(struct whatif *whatif, const struct dag *dag)
{
	const struct stretch *stretch = dag->stretch;
	struct slack_rows *rows = &whatif->rows;
	const size_t most = dag->events / 2;
	size_t capacity[3] = { rows->capacity, rows->capacity, rows->capacity };
	int64_t *slack_ns = find_slack(dag);

	GROW(rows->location, capacity[0], most);
	GROW(rows->seq, capacity[1], most);
	GROW(rows->compute_ns, capacity[2], most);
	GROW(rows->call_ns, rows->capacity, most);
	rows->count = 0;
	if (whatif->held_ns == NULL)
		whatif->held_ns = zalloc(stretch->window->locations, sizeof *whatif->held_ns);
	for (uint32_t l = 0; l < stretch->window->locations; l++) {
		uint64_t first = stretch->first_seq[l], end = stretch->end_seq[l];

		for (uint64_t seq = first; seq < end; seq++) {
			const struct row *row = window_row(stretch->window, l, seq);
			uint64_t v = numbering_of(&dag->numbering, (struct event){ seq, l, false });
			int64_t compute_ns = slack_ns[v] == INT64_MAX ? NO_SLACK : slack_ns[v];
			int64_t call_ns = slack_ns[v + 1] == INT64_MAX ? NO_SLACK : slack_ns[v + 1];

			if (row->part > 0)
				continue;
			/*
			 * The computation before a call between two stretches belongs to the first
			 * stretch.
			 */
			if (seq == first && stretch->from_sync)
				compute_ns = whatif->held_ns[l];
			else
				add_to_site(whatif, row->site, compute_ns, dag->weight_ns[v]);
			if (seq + 1 == end && !stretch->to.leave) {
				whatif->held_ns[l] = compute_ns;
				continue;
			}
			add_to_site(whatif, row->site, call_ns, dag->weight_ns[v + 1]);
			rows->location[rows->count] = l;
			rows->seq[rows->count] = seq;
			rows->compute_ns[rows->count] = compute_ns;
			rows->call_ns[rows->count++] = call_ns;
		}
	}
	free(slack_ns);
}

/* ---- gain --------------------------------------------------------------------------------- */

static int64_t
saved_ns(int64_t weight_ns, int percent)
{
	return weight_ns / 100 * percent + (weight_ns % 100 * percent + 50) / 100;
}

/*
 * Unless all is WHOLE, the time before MPI_Init, it and MPI_Finalize stay as they are: shares
 * exclude them.
 */
static bool
may_be_faster(const struct whatif *whatif, enum segment_kind kind, unsigned call)
{
	return whatif->whole || (kind != START && (kind == COMPUTE || !span_frames(call)));
}

/* By vertex: the site at which it may be faster. */
static uint32_t *
sites_of_vertices(struct whatif *whatif, const struct dag *dag, const struct definitions *known)
{
	const struct stretch *stretch = dag->stretch;
	uint32_t *site_of = zalloc(dag->events, sizeof *site_of), *at = site_of;

	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++) {
			const struct row *row = window_row(stretch->window, l, seq);
			bool first = seq == stretch->first_seq[l] && !stretch->from_sync;
			uint32_t site = first_of_name(&whatif->same_sites, known, row->site);

			*at++ = may_be_faster(whatif, kind_before(row->call, first), 0) ? site :
			    NO_SITE;
			*at++ = may_be_faster(whatif, MPI, row->call) ? site : NO_SITE;
		}
	return site_of;
}

/* The computation before the calls at one site, and these calls, are faster. */
struct faster {
	const struct dag *dag;
	const uint32_t *site_of;
	uint32_t site[LANES];
	int percent;
};

static void
weights_if_faster(const void *context, uint32_t v, int64_t *weight_ns)
{
	const struct faster *f = context;
	const int64_t ns = f->dag->weight_ns[v], less_ns = saved_ns(ns, f->percent);
	const uint32_t site = v < f->dag->events ? f->site_of[v] : NO_SITE;

	for (int l = 0; l < LANES; l++)
		weight_ns[l] = ns - (f->site[l] == site ? less_ns : 0);
}

/* The next sites of the list with something to save; returns their number. */
static int
next_sites(struct faster *faster, struct gains *gains, const uint32_t **at, const uint32_t *end,
    int64_t *most_ns)
{
	int count = 0;

	for (; *at < end && count < LANES; ++*at) {
		if (most_ns[**at] == 0)
			continue;
		AT(gains->by_site, gains->capacity, **at)->most_ns += most_ns[**at];
		faster->site[count++] = **at;
		/* a site may be in the list twice: pieces too short to save */
		most_ns[**at] = 0;
	}
	return count;
}

/* Only sites on the longest way can gain anything; each costs one more evaluation of the graph. */
static void
add_gains(struct whatif *whatif, const struct dag *dag, const struct longest_way *way,
    const struct definitions *known)
{
	uint32_t *site_of = sites_of_vertices(whatif, dag, known), *sites = NULL;
	int64_t (*time_ns)[LANES] = zalloc(dag->vertices, sizeof *time_ns);
	int64_t *most_ns = NULL;	/* by site */
	size_t most_capacity = 0, site_capacity = 0, count = 0;
	struct faster faster = { dag, site_of, { 0 }, whatif->gains.percent };
	const uint32_t *at;
	int lanes;

	for (size_t i = 0; i < way->count; i++) {
		const uint32_t v = way->at[i], site = v < dag->events ? site_of[v] : NO_SITE;

		if (site == NO_SITE || dag->weight_ns[v] == 0)
			continue;
		if (*AT(most_ns, most_capacity, site) == 0)
			*APPEND(sites, count, site_capacity) = site;
		most_ns[site] += saved_ns(dag->weight_ns[v], whatif->gains.percent);
	}
	at = sites;
	while (count > 0 &&
	    (lanes = next_sites(&faster, &whatif->gains, &at, sites + count, most_ns)) > 0) {
		dag_evaluate_lanes(dag, time_ns, weights_if_faster, &faster);
		for (int l = 0; l < lanes; l++)
			whatif->gains.by_site[faster.site[l]].ns +=
			    dag->time_ns[dag->end] - time_ns[dag->end][l];
	}
	free(site_of);
	free(sites);
	free(time_ns);
	free(most_ns);
}

/* ---- alternatives ------------------------------------------------------------------------- */

struct ways {
	const struct dag *dag;
	bool *used;		/* by vertex: its activity is part of a longer way */
	int64_t *length_ns;	/* of the longest way to a remaining vertex; -1: none */
	uint32_t *from;		/* the vertex before on it, or BEGIN */
};

static void
use(struct ways *ways, uint32_t vertex)
{
	ways->used[vertex] = ways->dag->weight_ns[vertex] > 0;
}

static void
find_longest(struct ways *ways)
{
	const struct dag *dag = ways->dag;

	for (uint32_t i = 0; i < dag->ordered; i++) {
		uint32_t v = dag->order[i];

		ways->length_ns[v] = -1;
		if (ways->used[v])
			continue;
		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++) {
			uint32_t u = dag->source[k];
			int64_t length_ns = u == BEGIN ? 0 : ways->length_ns[u];

			if (length_ns >= 0 && length_ns + dag->weight_ns[v] > ways->length_ns[v]) {
				ways->length_ns[v] = length_ns + dag->weight_ns[v];
				ways->from[v] = u;
			}
		}
	}
}

/* The pieces of the way to the end; the time between them is waiting. */
static void
take_way(struct ways *ways, struct segments *segments)
{
	const struct dag *dag = ways->dag;

	segments->count = 0;
	for (uint32_t v = ways->from[dag->end]; v != BEGIN; v = ways->from[v]) {
		if (v >= dag->events || dag->weight_ns[v] == 0)
			continue;
		use(ways, v);
		*APPEND(segments->at, segments->count, segments->capacity) = dag_piece(dag,
		    ways->from[v], v, dag->stretch->begin_ns + dag->time_ns[v]);
	}
	reverse_segments(segments, 0);
}

static void
add_alternatives(struct whatif *whatif, const struct dag *dag, const struct definitions *known)
{
	struct ways ways = { dag, zalloc(dag->vertices, sizeof *ways.used), zalloc(dag->vertices,
	    sizeof *ways.length_ns), zalloc(dag->vertices, sizeof *ways.from) };
	int64_t critical_ns = dag->time_ns[dag->end], at_ns;
	struct event at = dag->stretch->to;

	if (whatif->alternatives == NULL)
		whatif->alternatives = zalloc((size_t)whatif->count, sizeof *whatif->alternatives);
	do	/* the critical path, by the rule that all solvers follow */
		use(&ways, (uint32_t)numbering_of(&dag->numbering, at));
	while (event_before(dag->stretch, at, &at, &at_ns));
	for (int n = 0; n < whatif->count; n++) {
		struct alternative *way = &whatif->alternatives[n];

		find_longest(&ways);
		if (ways.length_ns[dag->end] <= 0) {
			way->absent_ns += critical_ns;
			way->segments.count = 0;
			continue;
		}
		way->length_ns += ways.length_ns[dag->end];
		way->shorter_ns += critical_ns - ways.length_ns[dag->end];
		take_way(&ways, &way->segments);
		for (size_t i = 0; i < way->segments.count; i++)
			report_add(&way->report, known, &way->segments.at[i]);
	}
	free(ways.used);
	free(ways.length_ns);
	free(ways.from);
}

void
whatif_add(struct whatif *whatif, const struct stretch *stretch, const struct instances *instances,
    const struct definitions *known)
{
	struct longest_way way = { NULL, 0 };
	struct dag dag;

	if (whatif->slack)
		refuse_long_sums(known, known->run_ns);
	dag_of_needs(&dag, stretch, instances, known);
	if (whatif->slack)
		add_slack(whatif, &dag);
	if (whatif->gains.percent > 0) {
		way.at = zalloc(dag.vertices, sizeof *way.at);
		way.count = dag_follow(&dag, dag.time_ns, way.at);
		add_gains(whatif, &dag, &way, known);
		balances_add(&whatif->balances, &dag, &way, known, &whatif->same_sites);
		if (whatif->functions->sums.any)
			function_gains_add(&whatif->function_gains, whatif->functions, known, &dag,
			    &way, whatif->gains.percent);
		free(way.at);
	}
	if (whatif->count > 0)
		add_alternatives(whatif, &dag, known);
	dag_close(&dag);
}

void
whatif_end(struct whatif *whatif, const struct definitions *known)
{
	balances_end(&whatif->balances, known);
	whatif->gains.balances = whatif->balances.at;
	whatif->gains.balance_count = whatif->balances.count;
}
