/* SPDX-License-Identifier: BSD-3-Clause */
#include "../base/run/span.h"
#include "gain.h"

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
	int64_t *slack_ns = find_slack(dag);

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
			*APPEND(rows->at, rows->count, rows->capacity) = (struct slack_row){ seq,
			    compute_ns, call_ns, l };
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
sites_of_vertices(struct whatif *whatif, const struct dag *dag)
{
	const struct stretch *stretch = dag->stretch;
	uint32_t *site_of = zalloc(dag->events, sizeof *site_of), *at = site_of;

	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++) {
			const struct row *row = window_row(stretch->window, l, seq);
			bool first = seq == stretch->first_seq[l] && !stretch->from_sync;
			uint32_t site = first_of_name(&whatif->same_sites, stretch->known,
			    row->site);

			*at++ = may_be_faster(whatif, kind_before(row->call, first), 0) ? site :
			    NO_SITE;
			*at++ = may_be_faster(whatif, MPI, row->call) ? site : NO_SITE;
		}
	return site_of;
}

/* In a question the computation before the calls at one site, and these calls, are faster. */
struct faster_site {
	uint32_t site;
	bool changes_much;
	struct changes changes;
	int64_t most_ns;
};

struct faster {
	const struct dag *dag;
	const uint32_t *site_of;	/* by vertex */
	struct faster_site *at;
	size_t count, capacity;
	uint32_t *sites;		/* the same, and LANES of NO_SITE */
	int percent;
};

ORDER(by_place, struct faster_site, MOST(changes_much) MOST(changes.last) BY(site))

static void
weights_if_faster(const void *context, size_t question, uint32_t v, int64_t *weight_ns)
{
	const struct faster *f = context;
	const int64_t ns = f->dag->weight_ns[v], less_ns = saved_ns(ns, f->percent);
	const uint32_t site = v < f->dag->events ? f->site_of[v] : NO_SITE;

	for (int l = 0; l < LANES; l++)
		weight_ns[l] = ns - (f->sites[question + (size_t)l] == site ? less_ns : 0);
}

static void
evaluate_faster(const struct dag *dag, int64_t (*time_ns)[LANES], const void *context,
    size_t question, int64_t *end_ns)
{
	evaluate(dag, time_ns, weights_if_faster, context, question, end_ns);
}

/* Finds the sites on the way, and if they are not few, where they are in the order. */
static struct changes *
find_faster(struct faster *f, const struct longest_way *way)
{
	enum { FEW = 16 };	/* a sweep costs as much as some evaluations */
	const struct dag *dag = f->dag;
	struct changes *ordered;
	uint32_t *number = NULL;	/* by site: 1 + its index; 0: not on the way */
	size_t capacity = 0;

	for (size_t i = 0; i < way->count; i++) {
		const uint32_t v = way->at[i], site = v < dag->events ? f->site_of[v] : NO_SITE;
		const int64_t less_ns = saved_ns(dag->weight_ns[v], f->percent);

		if (site == NO_SITE || less_ns == 0)
			continue;
		if (*AT(number, capacity, site) == 0) {
			*APPEND(f->at, f->count, f->capacity) = (struct faster_site){ .site = site,
			    .changes.first = UINT32_MAX };
			number[site] = (uint32_t)f->count;
		}
		f->at[number[site] - 1].most_ns += less_ns;
	}
	for (uint32_t i = 0; f->count > FEW && i < dag->ordered; i++) {
		const uint32_t v = dag->order[i], site = v < dag->events ? f->site_of[v] : NO_SITE;
		struct changes *c;

		if (site >= capacity || number[site] == 0)
			continue;
		c = &f->at[number[site] - 1].changes;
		c->first = c->first == UINT32_MAX ? i : c->first;
		c->last = i;
	}
	free(number);
	for (size_t q = 0; q < f->count; q++)
		f->at[q].changes_much = changes_much(dag, &f->at[q].changes);
	SORT(f->at, f->count, by_place);
	ordered = f->count > FEW ? zalloc(f->count, sizeof *ordered) : NULL;
	f->sites = zalloc(f->count + LANES, sizeof *f->sites);
	memset(f->sites + f->count, UINT8_MAX, LANES * sizeof *f->sites);
	for (size_t q = 0; q < f->count; q++) {
		if (ordered != NULL)
			ordered[q] = f->at[q].changes;
		f->sites[q] = f->at[q].site;
	}
	return ordered;
}

/* Only sites on the longest way can gain anything; each is one question. */
static void
add_gains(struct whatif *whatif, const struct dag *dag, const struct longest_way *way)
{
	struct gains *gains = &whatif->gains;
	uint32_t *site_of = sites_of_vertices(whatif, dag);
	struct faster faster = { .dag = dag, .site_of = site_of, .percent = gains->percent };
	struct changes *changes = find_faster(&faster, way);
	int64_t *gain_ns = gains_if(dag, faster.count, changes, evaluate_faster, weights_if_faster,
	    &faster);

	for (size_t q = 0; q < faster.count; q++) {
		struct gain *gain = AT(gains->by_site, gains->capacity, faster.at[q].site);

		gain->most_ns += faster.at[q].most_ns;
		gain->ns += gain_ns[q];
	}
	free(gain_ns);
	free(changes);
	free(site_of);
	free(faster.at);
	free(faster.sites);
}

/* ---- alternatives ------------------------------------------------------------------------- */

struct ways {
	const struct dag *dag;
	bool *used;		/* by vertex: its activity is part of a longer way */
	int64_t *length_ns;	/* of the longest way to a remaining vertex; -1: none */
	uint32_t *from;		/* the vertex before on it, or BEGIN */
};

static void
find_longest(struct ways *ways)
{
	const struct dag *dag = ways->dag;

	for (uint32_t i = 0; i < dag->ordered; i++) {
		uint32_t v = dag->order[i];

		ways->length_ns[v] = -1;
		if (ways->used[v] && dag->weight_ns[v] > 0)
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
		ways->used[v] = true;
		*APPEND(segments->at, segments->count, segments->capacity) = dag_piece(dag,
		    ways->from[v], v, dag->stretch->begin_ns + dag->time_ns[v]);
	}
	reverse_segments(segments, 0);
}

static void
add_alternatives(struct whatif *whatif, const struct dag *dag)
{
	struct ways ways = { dag, zalloc(dag->vertices, sizeof *ways.used), zalloc(dag->vertices,
	    sizeof *ways.length_ns), zalloc(dag->vertices, sizeof *ways.from) };
	int64_t critical_ns = dag->time_ns[dag->end], at_ns;
	struct event at = dag->stretch->to;

	if (whatif->alternatives == NULL)
		whatif->alternatives = zalloc((size_t)whatif->count, sizeof *whatif->alternatives);
	do	/* the critical path, by the rule that all solvers follow */
		ways.used[numbering_of(&dag->numbering, at)] = true;
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
			report_add(&way->report, dag->stretch->known, &way->segments.at[i]);
	}
	free(ways.used);
	free(ways.length_ns);
	free(ways.from);
}

void
whatif_add(struct whatif *whatif, const struct stretch *stretch, const struct instances *instances)
{
	struct longest_way way = { NULL, 0 };
	struct dag dag;

	if (whatif->slack)
		refuse_long_sums(stretch->known, stretch->known->run_ns);
	dag_of_needs(&dag, stretch, instances);
	if (whatif->slack)
		add_slack(whatif, &dag);
	if (whatif->gains.percent > 0) {
		way.at = zalloc(dag.vertices, sizeof *way.at);
		way.count = dag_follow(&dag, dag.time_ns, way.at);
		add_gains(whatif, &dag, &way);
		balances_add(&whatif->balances, &dag, &way, &whatif->same_sites);
		if (whatif->functions->sums.any)
			function_gains_add(&whatif->function_gains, whatif->functions, &dag, &way,
			    whatif->gains.percent);
		free(way.at);
	}
	if (whatif->count > 0)
		add_alternatives(whatif, &dag);
	dag_close(&dag);
}

void
whatif_end(struct whatif *whatif, const struct definitions *known)
{
	balances_end(&whatif->balances, known);
	whatif->gains.balances = whatif->balances.at;
	whatif->gains.balance_count = whatif->balances.count;
}
