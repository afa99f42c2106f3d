/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples and switches by function and rank: on the slowest rank, and in delays of others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../run/places.h"
#include "../run/sampled_place.h"
#include "../tool/search.h"
#include "functions.h"

/* ---- sites ---- */

/*
 * A compiler may make several sites of a line, each for other ranks. The lowest one represents all.
 */
struct site_groups {
	uint32_t *of;			/* by site */
	int64_t **compute_ns;		/* by group, then rank; NULL: nothing */
	size_t count;
};

static struct site_groups
site_groups(const struct imbalance *im)
{
	const struct definitions *known = &im->graph.known;
	struct site_groups g = { .count = im->site_count };
	struct same_sites same = { 0 };

	g.of = zalloc(g.count + 1, sizeof *g.of);
	g.compute_ns = zalloc(g.count + 1, sizeof *g.compute_ns);
	for (uint32_t site = 0; site < g.count; site++) {
		const uint32_t group = g.of[site] = first_of_name(&same, known, site);

		if (im->sites[site] == NULL)
			continue;
		if (g.compute_ns[group] == NULL)
			g.compute_ns[group] = zalloc((size_t)known->ranks, sizeof **g.compute_ns);
		for (int32_t r = 0; r < known->ranks; r++)
			g.compute_ns[group][r] += im->sites[site][r].compute_ns;
	}
	same_sites_free(&same);
	return g;
}

static void
site_groups_free(struct site_groups *groups)
{
	for (size_t g = 0; g < groups->count; g++)
		free(groups->compute_ns[g]);
	free(groups->compute_ns);
	free(groups->of);
}

/* ---- what a rank did before a call: functions, and the rest of the time ---- */

/* Time without samples; with switches, the part of it on a core; delays by time in MPI. */
static const struct sampled_function taken_rest = { .name = not_sampled },
	taken_on_core = { .name = on_core_name }, taken_in_mpi = { .name = "(MPI)" };

const char *
function_text(const struct sampled_function *function, char *text, size_t size)
{
	if (function->in == NULL)
		return function->name;
	snprintf(text, size, "%s in %s", function->name, function->in);
	return text;
}

static struct sampled_function
function_of(const struct imbalance *im, const struct taken *taken, bool own)
{
	const struct definitions *known = &im->graph.known;
	const uint32_t place = taken->place;
	struct stack_frame frame = { .name = on_core_name }, inlined;
	const char *in = NULL;

	if (place == taken_off(OFF_BLOCKED) && taken->own > 0) {
		frame = own_frame(known, taken->own, &inlined);
		in = frame.name;
	} else if (place < TAKEN_THREADS)
		frame = own ? own_frame(known, taken->own, &inlined) : place_frame(known, place);
	if (place >= TAKEN_OFF_CORE)
		frame.name = off_names[place - TAKEN_OFF_CORE];
	return (struct sampled_function){ frame.name, in, frame.file };
}

ORDER(by_name, struct sampled_function, BY_TEXT(name) BY_ANY_TEXT(in) BY_ANY_TEXT(file))
FOLD(fold_names, struct sampled_function, by_name, )

ORDER(by_place, struct taken, BY(site) BY(function) BY(rank))
FOLD(fold_taken, struct taken, by_place, to->samples += more->samples;)

/* The function's number; BY has it. */
static uint32_t
function_named(const struct by_function *by, const struct sampled_function *key)
{
	const struct sampled_function *found =
	    bsearch(key, by->names, by->count, sizeof *key, by_name);

	return (uint32_t)(found - by->names);
}

/* All sums by site, function and rank, each once. The functions go to BY. */
static struct taken *
sorted_taken(const struct imbalance *im, const struct site_groups *groups, struct by_function *by,
    size_t *count, bool own)
{
	const size_t places = taken_places(im);
	struct taken *list = zalloc(places + 1, sizeof *list);

	by->names = zalloc(places + 4, sizeof *by->names);
	by->count = *count = 0;
	for (size_t i = 0; i < places; i++) {
		if (!taken_at(im, i, &list[*count]) || list[*count].place == TAKEN_THREADS ||
		    list[*count].place == TAKEN_ALONE)
			continue;
		if (list[*count].period_ns > by->period_ns)
			by->period_ns = list[*count].period_ns;
		by->names[by->count++] = function_of(im, &list[(*count)++], own);
	}
	by->names[by->count++] = taken_rest;
	by->names[by->count++] = taken_on_core;
	by->names[by->count++] = taken_in_mpi;
	by->count = fold_names(by->names, by->count);
	for (size_t i = 0; i < *count; i++) {
		const struct sampled_function key = function_of(im, &list[i], own);

		list[i].function = function_named(by, &key);
		list[i].site = groups->of[list[i].site];	/* counted with its calls */
	}
	*count = fold_taken(list, *count);
	return list;
}

/* ---- one site ---- */

/* Computation before a site, by rank: its length and its samples. */
struct sums {
	const struct imbalance *im;
	const struct by_function *by;
	const int64_t *compute_ns;	/* by rank */
	const struct taken *at;		/* by function and rank */
	size_t count;
	uint64_t *samples;		/* by rank */
	int64_t *on_core_ns;		/* by rank; if switches show it */
	const int64_t *drawn_ns;	/* by rank: time on a core if known, else compute time */
};

static int64_t
sampled_ns(const struct sums *s, int32_t rank, uint64_t samples)
{
	return (int64_t)samples * sample_worth(s->by->period_ns, s->samples[rank],
	    s->drawn_ns[rank]);
}

/* Adds NS, from SAMPLES with this error, to the slow rank or to the others. */
static void
add_rank(struct excess *e, const struct sums *s, int32_t rank, int32_t slow, uint64_t samples,
    int64_t ns, double error_ns)
{
	const double others = s->im->graph.known.ranks - 1;

	if (rank == slow) {
		e->samples = samples;
		e->slow_ns = ns;
		e->error_ns += error_ns * error_ns;
	} else {
		e->others_ns += (double)ns / others;
		e->error_ns += error_ns * error_ns / (others * others);
	}
}

#define EXCESS(item) ((double)(item)->slow_ns - (item)->others_ns)
ORDER(by_excess, struct excess, COMPARED(EXCESS(b), EXCESS(a)) BY(function))

static double
error_of(const struct sums *s, int32_t rank, uint64_t samples)
{
	return sampled_error(samples, sampled_ns(s, rank, 1), s->drawn_ns[rank]);
}

/* The time that samples are drawn from and do not represent. */
static struct excess
excess_unsampled(const struct sums *s, int32_t slow)
{
	const bool switched = s->im->counts.switched > 0;
	/* In a run without samples nothing more is known of the time on a core. */
	struct excess e = { function_named(s->by, switched ? &taken_on_core : &taken_rest),
	    .is_unsampled = !switched || s->by->period_ns > 0,
	    .off = switched ? OFF_REASONS : OFF_UNKNOWN };

	for (int32_t r = 0; r < s->im->graph.known.ranks; r++)
		add_rank(&e, s, r, slow, 0, s->drawn_ns[r] - sampled_ns(s, r, s->samples[r]),
		    error_of(s, r, s->samples[r]));
	return e;
}

/*
 * Each function there, RANK against the others, and the rest; the parts add up. The caller frees
 * them.
 */
static struct excess *
excesses_of(const struct sums *s, int32_t rank, size_t *count)
{
	const int32_t ranks = s->im->graph.known.ranks;
	struct excess *list = zalloc(s->count + 1, sizeof *list);

	*count = 0;
	for (size_t i = 0; i < s->count; ) {
		struct excess *e = &list[*count];

		if (s->at[i].place == TAKEN_ON_CORE) {
			i++;
			continue;
		}
		e->function = s->at[i].function;
		e->is_unsampled = s->at[i].place >= TAKEN_OFF_CORE;
		e->off = e->is_unsampled ? (int)(s->at[i].place - TAKEN_OFF_CORE) : OFF_REASONS;
		for (int32_t r = 0; r < ranks; r++) {
			const bool any = i < s->count && s->at[i].function == e->function &&
			    s->at[i].rank == r;
			const uint64_t has = any ? s->at[i].samples : 0;	/* or ns */

			if (e->is_unsampled)
				add_rank(e, s, r, rank, 0, (int64_t)has, 0);
			else
				add_rank(e, s, r, rank, has, sampled_ns(s, r, has),
				    error_of(s, r, has));
			i += any;
		}
		++*count;
	}
	list[*count] = excess_unsampled(s, rank);
	*count += list[*count].slow_ns > 0 || list[*count].others_ns > 0;
	for (size_t i = 0; i < *count; i++)
		list[i].error_ns = sqrt(list[i].error_ns);
	SORT(list, *count, by_excess);
	return list;
}

/* CROWDED: the slow rank is the one that computes longest without the time that it is preempted. */
static struct uneven
uneven_of(struct sums *s, uint32_t site, bool crowded)
{
	struct uneven u = { .site = site };
	const int32_t ranks = s->im->graph.known.ranks;
	int64_t *ns = zalloc((size_t)ranks, sizeof *ns);
	char text[64];

	u.where = formatted("%s", index_text(s->im, BY_SITE, site, text, sizeof text));
	memcpy(ns, s->compute_ns, (size_t)ranks * sizeof *ns);
	for (size_t i = 0; i < s->count && crowded; i++)
		if (s->at[i].place == taken_off(OFF_PREEMPTED))
			ns[s->at[i].rank] -= (int64_t)s->at[i].samples;
	for (int32_t r = 1; r < ranks; r++)
		if (ns[r] > ns[u.rank])
			u.rank = r;
	free(ns);
	u.slow_ns = s->compute_ns[u.rank];
	for (int32_t r = 0; r < ranks; r++)
		if (r != u.rank)
			u.others_ns += (double)s->compute_ns[r] / (double)(ranks - 1);
	u.functions = excesses_of(s, u.rank, &u.count);
	return u;
}

ORDER(by_most_excess, struct uneven, COMPARED(EXCESS(b), EXCESS(a)) BY(site))

#define BEFORE(taken, sought) ((taken)->site < (sought))
SEARCH(first_of, struct taken, uint32_t, BEFORE)
#undef BEFORE

/* The samples of one site. */
static struct sums
sums_of(const struct imbalance *im, const struct site_groups *groups, const struct by_function *by,
    const struct taken *list, size_t count, uint32_t site)
{
	struct sums s = { .im = im, .by = by };
	const size_t first = first_of(list, count, site);

	s.at = list + first;
	while (first + s.count < count && s.at[s.count].site == site)
		s.count++;
	s.samples = zalloc(2 * (size_t)im->graph.known.ranks, sizeof *s.samples);
	s.on_core_ns = (int64_t *)s.samples + im->graph.known.ranks;
	for (size_t i = 0; i < s.count; i++) {
		if (s.at[i].place == TAKEN_ON_CORE)
			s.on_core_ns[s.at[i].rank] += (int64_t)s.at[i].samples;
		else if (s.at[i].place < TAKEN_THREADS)
			s.samples[s.at[i].rank] += s.at[i].samples;
	}
	s.compute_ns = groups->compute_ns[site];
	s.drawn_ns = im->counts.switched > 0 ? s.on_core_ns : s.compute_ns;
	return s;
}

/* ---- functions that others waited for ------------------------------------------------ */

struct costs {
	struct function_cost *of;	/* by function; squared errors */
	uint32_t not_sampled, mpi;
	struct rank_cost *ranks;
	size_t rank_count, rank_capacity;
};

static void
add_cost(struct costs *costs, uint32_t function, int32_t rank, double cost_ns)
{
	costs->of[function].cost_ns += cost_ns;
	*APPEND(costs->ranks, costs->rank_count, costs->rank_capacity) = (struct rank_cost){ rank,
	    function, cost_ns };
}

static double
weight_ns(const struct excess *e, bool only_more)
{
	return (double)e->slow_ns - (only_more ? e->others_ns : 0);
}

/*
 * Shares a delay's cost out to the functions in which its rank exceeds the others, in proportion.
 * Without any excess, all its functions share the cost.
 */
static void
share_out(struct costs *costs, const struct excess *list, size_t count, int32_t rank,
    double cost_ns)
{
	double sum_ns = 0, variance = 0, samples = 0;
	bool any_more = false;

	for (size_t i = 0; i < count; i++) {
		any_more |= (double)list[i].slow_ns > list[i].others_ns;
		samples += (double)list[i].samples;
	}
	for (size_t i = 0; i < count; i++)
		if (weight_ns(&list[i], any_more) > 0) {
			sum_ns += weight_ns(&list[i], any_more);
			variance += list[i].error_ns * list[i].error_ns;
		}
	for (size_t i = 0; i < count && sum_ns > 0; i++) {
		const double share = weight_ns(&list[i], any_more) / sum_ns,
		    own = list[i].error_ns * list[i].error_ns,
		    unseen = list[i].is_unsampled ? 0 : 2 / ((samples + 2) * (samples + 3));

		if (share <= 0)
			continue;
		add_cost(costs, list[i].function, rank, cost_ns * share);
		/*
		 * The error of a share of independent parts, and the mean square of what no sample
		 * saw, for a uniform prior.
		 */
		costs->of[list[i].function].error_ns += cost_ns * cost_ns * (((1 - share) *
		    (1 - share) * own + share * share * (variance - own)) / (sum_ns * sum_ns) +
		    share * share * unseen);
	}
}

ORDER(by_rank_and_function, struct rank_cost, BY(rank) BY(function))
FOLD(fold_costs, struct rank_cost, by_rank_and_function, to->cost_ns += more->cost_ns;)
ORDER(by_rank_and_cost, struct rank_cost, BY(rank) MOST(cost_ns) BY(function))

ORDER(by_cost, struct function_cost, MOST(cost_ns) BY(function))

static void
find_function_costs(const struct imbalance *im, const struct site_groups *groups,
    struct by_function *by, const struct taken *list, size_t taken)
{
	struct costs costs = { zalloc(by->count, sizeof *costs.of),
	    function_named(by, &taken_rest), function_named(by, &taken_in_mpi), NULL, 0, 0 };
	size_t count;
	struct delay *delays = sorted_delays(im, &count);

	for (size_t f = 0; f < by->count; f++)
		costs.of[f].function = (uint32_t)f;
	for (size_t i = 0; i < count; i++) {
		const double cost_ns = delay_cost_ns(&delays[i]);
		struct sums s;

		if (delays[i].key % 2 == 1) {
			add_cost(&costs, costs.mpi, delays[i].rank, cost_ns);
			continue;
		}
		if (delays[i].key / 2 >= groups->count) {
			add_cost(&costs, costs.not_sampled, delays[i].rank, cost_ns);
			continue;
		}
		s = sums_of(im, groups, by, list, taken, groups->of[delays[i].key / 2]);
		if (s.compute_ns == NULL ||
		    (s.samples[delays[i].rank] == 0 && im->counts.switched == 0))
			add_cost(&costs, costs.not_sampled, delays[i].rank, cost_ns);
		else {
			size_t functions;
			struct excess *of = excesses_of(&s, delays[i].rank, &functions);

			share_out(&costs, of, functions, delays[i].rank, cost_ns);
			free(of);
		}
		free(s.samples);
	}
	free(delays);
	SORT(costs.of, by->count, by_cost);
	while (by->cost_count < by->count && costs.of[by->cost_count].cost_ns > 0) {
		struct function_cost *of = &costs.of[by->cost_count++];

		of->error_ns = sqrt(of->error_ns);
	}
	by->costs = costs.of;
	by->rank_costs = costs.ranks;
	by->rank_cost_count = fold_costs(costs.ranks, costs.rank_count);
	SORT(costs.ranks, by->rank_cost_count, by_rank_and_cost);
}

/* ---- ranks ---- */

/* All sites of each rank, also those without samples. */
static struct rank_core *
rank_cores(const struct imbalance *im, const struct site_groups *groups)
{
	const int32_t ranks = im->graph.known.ranks;
	struct rank_core *list = zalloc((size_t)ranks, sizeof *list);

	for (int32_t r = 0; r < ranks; r++)
		list[r].rank = r;
	for (size_t g = 0; g < groups->count; g++)
		for (int32_t r = 0; groups->compute_ns[g] != NULL && r < ranks; r++)
			list[r].compute_ns += groups->compute_ns[g][r];
	for (size_t i = 0; i < taken_places(im); i++) {
		struct rank_core *of;
		struct taken t;

		if (!taken_at(im, i, &t) || t.place < TAKEN_THREADS)
			continue;
		of = &list[t.rank];
		if (t.place >= TAKEN_OFF_CORE)
			of->core.off_ns[t.place - TAKEN_OFF_CORE] += (int64_t)t.samples;
		else
			*(t.place == TAKEN_THREADS ? &of->threads_ns : t.place == TAKEN_ALONE ?
			    &of->alone_ns : &of->core.on_ns) += (int64_t)t.samples;
	}
	for (struct rank_core *of = list; of < list + ranks; of++) {
		const double ns = of->compute_ns > 0 ? (double)of->compute_ns : 1;

		of->threads_mean = (double)of->threads_ns / ns;
		of->alone_share = (double)of->alone_ns / ns;
	}
	return list;
}

const struct by_function *
functions_by(const struct imbalance *im, bool own, bool crowded)
{
	struct by_function *by;
	struct site_groups groups;
	struct taken *list;
	size_t count;

	if (im->functions == NULL)
		return NULL;
	groups = site_groups(im);
	by = zalloc(1, sizeof *by);
	list = sorted_taken(im, &groups, by, &count, own);
	by->sites = zalloc(count + 1, sizeof *by->sites);
	for (size_t i = 0; i < count; i++) {
		struct sums s;

		if (i > 0 && list[i].site == list[i - 1].site)
			continue;
		s = sums_of(im, &groups, by, list, count, list[i].site);
		for (int32_t r = 0; s.compute_ns != NULL && r < im->graph.known.ranks; r++) {
			by->samples += s.samples[r];
			if (im->counts.switched == 0)
				by->core.on_ns += sampled_ns(&s, r, s.samples[r]);
		}
		if (s.compute_ns != NULL)
			by->sites[by->site_count++] = uneven_of(&s, list[i].site, crowded);
		free(s.samples);
	}
	for (size_t g = 0; g < groups.count; g++)
		for (int32_t r = 0; groups.compute_ns[g] != NULL && r < im->graph.known.ranks; r++)
			by->compute_ns += groups.compute_ns[g][r];
	if (im->counts.switched > 0) {
		by->ranks = rank_cores(im, &groups);
		by->rank_count = im->graph.known.ranks;
		for (int32_t r = 0; r < im->graph.known.ranks; r++)
			core_time_add(&by->core, &by->ranks[r].core);
	}
	SORT(by->sites, by->site_count, by_most_excess);
	find_function_costs(im, &groups, by, list, count);
	site_groups_free(&groups);
	free(list);
	return by;
}
