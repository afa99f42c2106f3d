/* SPDX-License-Identifier: BSD-3-Clause */
#include "functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../run/sample_lanes.h"
#include "../run/sampled_place.h"
#include "../tool/hash_table.h"
#include "../tool/search.h"

#define HASH(t) mix((t)->site, (uint64_t)(uint32_t)(t)->rank << 32 | ((t)->place ^ (t)->own << 16))
#define SAME(a, b) ((a)->site == (b)->site && (a)->rank == (b)->rank && (a)->place == (b)->place && \
	(a)->own == (b)->own)
#define FREE(t) ((t)->site == UINT32_MAX)
#define MAKE_FREE(t) ((t)->site = UINT32_MAX)
HASH_TABLE(taken_table, struct taken, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

struct functions {
	struct sample_lanes lanes;
	struct samples block;
	struct taken_table taken;
};

void
functions_begin(struct imbalance *im)
{
	if (im->functions != NULL)
		return;
	im->counts.sampled = 1;
	im->functions = zalloc(1, sizeof *im->functions);
	taken_table_begin(&im->functions->taken, 1024);
}

void
functions_take(struct imbalance *im, const struct message *message)
{
	functions_begin(im);
	if (samples_read(&im->functions->block, im->graph.in, message) < 0)
		die_input(im->graph.in);
	if (im->functions->block.worker == 0)	/* others are not what leads up to a call */
		lane_add(lane_of(&im->functions->lanes, im->functions->block.location), &im->functions->block);
}

void
functions_count(struct imbalance *im, uint32_t location, const struct row *row, int64_t last_ns)
{
	struct functions *f = im->functions;
	struct sample_lane *lane = location < f->lanes.count ? &f->lanes.of[location] : NULL;
	struct taken new = { .site = row->site, .rank = im->graph.known.location_rank[location],
	    .period_ns = f->block.period_ns };

	if (lane == NULL || lane->begin == lane->end)
		return;
	if (last_ns == INT64_MIN || row->site == UINT32_MAX)	/* before the first call is the start */
		last_ns = INT64_MAX;
	for (size_t i = lane->begin; i < lane->end && lane->at[i].at_ns < row->enter_ns; i++) {
		const struct sample *s = &lane->at[i];

		if (s->at_ns < last_ns || s->at_ns < im->from_ns || s->at_ns >= im->to_ns)
			continue;
		new.place = s->site;
		new.own = own_place(&im->graph.known, s->site, s->callers);
		taken_table_add(&f->taken, &new)->samples++;
	}
	lane_forget(lane, lane_from(lane, row->leave_ns));
}

void
functions_start(struct imbalance *im, uint32_t location, int64_t leave_ns)
{
	struct sample_lane *lane = lane_of(&im->functions->lanes, location);

	lane_forget(lane, lane_from(lane, leave_ns));
}

size_t
taken_places(const struct imbalance *im)
{
	return im->functions->taken.size;
}

bool
taken_at(const struct imbalance *im, size_t at, struct taken *taken)
{
	*taken = im->functions->taken.slots[at];
	return !FREE(taken);
}

void
join_taken(struct imbalance *im, const struct taken *more)
{
	struct taken new = *more;

	new.samples = 0;
	taken_table_add(&im->functions->taken, &new)->samples += more->samples;
}

/* ---- sites of one name are one ---- */

/* A compiler may make several sites of a line, each for other ranks: the lowest of them stands for all. */
struct site_groups {
	uint32_t *of;			/* by site */
	int64_t **compute_ns;		/* by group, then rank; NULL: nothing */
	size_t count;
};

struct named_site {
	char *name;
	uint32_t site;
};

static int
by_site_name(const void *left, const void *right)
{
	const struct named_site *a = left, *b = right;
	const int order = strcmp(a->name, b->name);

	return order != 0 ? order : (a->site > b->site) - (a->site < b->site);
}

static struct site_groups
site_groups(const struct imbalance *im)
{
	struct site_groups g = { .count = im->site_count };
	struct named_site *list = zalloc(g.count + 1, sizeof *list);
	char text[1024];

	g.of = zalloc(g.count + 1, sizeof *g.of);
	g.compute_ns = zalloc(g.count + 1, sizeof *g.compute_ns);
	for (size_t i = 0; i < g.count; i++)
		list[i] = (struct named_site){ need(strdup(index_text(im, BY_SITE, i, text, sizeof text))),
		    (uint32_t)i };
	qsort(list, g.count, sizeof *list, by_site_name);
	for (size_t i = 0; i < g.count; i++) {
		const uint32_t site = list[i].site;
		const uint32_t group = i > 0 && strcmp(list[i].name, list[i - 1].name) == 0 ?
		    g.of[list[i - 1].site] : site;

		g.of[site] = group;
		if (im->sites[site] == NULL)
			continue;
		if (g.compute_ns[group] == NULL)
			g.compute_ns[group] = zalloc((size_t)im->graph.known.ranks, sizeof **g.compute_ns);
		for (int32_t r = 0; r < im->graph.known.ranks; r++)
			g.compute_ns[group][r] += im->sites[site][r].compute_ns;
	}
	for (size_t i = 0; i < g.count; i++)
		free(list[i].name);
	free(list);
	return g;
}

/* ---- by function ---- */

static struct sampled_function
function_of(const struct imbalance *im, const struct taken *taken, bool own)
{
	char text[1024];
	const struct stack_frame frame = own ?
	    own_frame(&im->graph.known, taken->own, text, sizeof text) :
	    place_frame(&im->graph.known, taken->place, text, sizeof text);

	return (struct sampled_function){ need(strdup(frame.name)), frame.file };
}

static int
by_name(const void *left, const void *right)
{
	const struct sampled_function *a = left, *b = right;
	const int order = strcmp(a->name, b->name);

	if (order != 0 || a->file == b->file)
		return order;
	if (a->file == NULL || b->file == NULL)
		return a->file == NULL ? -1 : 1;
	return strcmp(a->file, b->file);
}

static int
by_place(const void *left, const void *right)
{
	const struct taken *a = left, *b = right;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static uint32_t
function_named(const struct by_function *by, const char *name, const char *file)
{
	const struct sampled_function key = { name, file }, *found =
	    bsearch(&key, by->names, by->count, sizeof key, by_name);

	return (uint32_t)(found - by->names);
}

/* All of them by site, function and rank, each once; their functions are in BY. */
static struct taken *
sorted_taken(const struct imbalance *im, const struct site_groups *groups, struct by_function *by, size_t *count,
    bool own)
{
	const struct taken_table *table = &im->functions->taken;
	struct taken *list = zalloc(table->count + 1, sizeof *list);
	size_t kept = 0;

	by->names = zalloc(table->count + 3, sizeof *by->names);
	by->count = *count = 0;
	for (size_t i = 0; i < table->size; i++)
		if (!FREE(&table->slots[i])) {
			list[(*count)++] = table->slots[i];
			by->names[by->count++] = function_of(im, &table->slots[i], own);
		}
	by->names[by->count++] = (struct sampled_function){ not_sampled, NULL };
	by->names[by->count++] = (struct sampled_function){ "(MPI)", NULL };
	qsort(by->names, by->count, sizeof *by->names, by_name);
	for (size_t i = 0; i < by->count; i++)
		if (kept == 0 || by_name(&by->names[kept - 1], &by->names[i]) != 0)
			by->names[kept++] = by->names[i];
	by->count = kept;
	for (size_t i = 0; i < *count; i++) {
		const struct sampled_function key = function_of(im, &list[i], own);

		list[i].function = function_named(by, key.name, key.file);
		list[i].site = groups->of[list[i].site];	/* counted with its calls */
		free((void *)(uintptr_t)key.name);
	}
	qsort(list, *count, sizeof *list, by_place);
	kept = 0;
	for (size_t i = 0; i < *count; i++)
		if (kept > 0 && by_place(&list[kept - 1], &list[i]) == 0)
			list[kept - 1].samples += list[i].samples;
		else
			list[kept++] = list[i];
	*count = kept;
	return list;
}

/* ---- one site ---- */

/* Computation up to a site, by rank: how long, and how many samples it has. */
struct sums {
	const struct imbalance *im;
	const struct by_function *by;
	const int64_t *compute_ns;	/* by rank */
	const struct taken *at;		/* by function and rank */
	size_t count;
	uint64_t *samples;		/* by rank */
	int64_t period_ns;
};

static int64_t
worth_ns(const struct sums *s, int32_t rank)
{
	return sample_worth(s->period_ns, s->samples[rank], s->compute_ns[rank]);
}

/* SAMPLES of a rank, or REST of all that are not its own: added where it is the slow one, or one of the others. */
static void
add_rank(struct excess *e, const struct sums *s, int32_t rank, int32_t slow, uint64_t samples, bool rest)
{
	const double others = s->im->graph.known.ranks - 1, error_ns =
	    sampled_error(samples, worth_ns(s, rank), s->compute_ns[rank]);
	const int64_t own_ns = (int64_t)samples * worth_ns(s, rank), ns = rest ? s->compute_ns[rank] - own_ns : own_ns;

	if (rank == slow) {
		e->samples = rest ? 0 : samples;
		e->slow_ns = ns;
		e->error_ns += error_ns * error_ns;
	} else {
		e->others_ns += (double)ns / others;
		e->error_ns += error_ns * error_ns / (others * others);
	}
}

static int
by_excess(const void *left, const void *right)
{
	const struct excess *a = left, *b = right;
	const double x = (double)a->slow_ns - a->others_ns, y = (double)b->slow_ns - b->others_ns;

	return x != y ? (x > y ? -1 : 1) : (a->function > b->function) - (a->function < b->function);
}

/* Each function there, on RANK against the others, and the rest; they add up. To be freed. */
static struct excess *
excesses_of(const struct sums *s, int32_t rank, size_t *count)
{
	const int32_t ranks = s->im->graph.known.ranks;
	struct excess *list = zalloc(s->count + 1, sizeof *list);

	*count = 0;
	for (size_t i = 0; i < s->count; ) {
		struct excess *e = &list[(*count)++];

		e->function = s->at[i].function;
		for (int32_t r = 0; r < ranks; r++) {
			const bool any = i < s->count && s->at[i].function == e->function && s->at[i].rank == r;

			add_rank(e, s, r, rank, any ? s->at[i].samples : 0, false);
			i += any;
		}
	}
	list[*count].function = function_named(s->by, not_sampled, NULL);
	for (int32_t r = 0; r < ranks; r++)
		add_rank(&list[*count], s, r, rank, s->samples[r], true);
	*count += list[*count].slow_ns > 0 || list[*count].others_ns > 0;
	for (size_t i = 0; i < *count; i++)
		list[i].error_ns = sqrt(list[i].error_ns);
	qsort(list, *count, sizeof *list, by_excess);
	return list;
}

static struct uneven
uneven_of(const struct sums *s, uint32_t site)
{
	struct uneven u = { .site = site };
	const int32_t ranks = s->im->graph.known.ranks;

	for (int32_t r = 1; r < ranks; r++)
		if (s->compute_ns[r] > s->compute_ns[u.rank])
			u.rank = r;
	u.slow_ns = s->compute_ns[u.rank];
	for (int32_t r = 0; r < ranks; r++)
		if (r != u.rank)
			u.others_ns += (double)s->compute_ns[r] / (double)(ranks - 1);
	u.functions = excesses_of(s, u.rank, &u.count);
	return u;
}

static int
by_most_excess(const void *left, const void *right)
{
	const struct uneven *a = left, *b = right;
	const double x = (double)a->slow_ns - a->others_ns, y = (double)b->slow_ns - b->others_ns;

	return x != y ? (x > y ? -1 : 1) : (a->site > b->site) - (a->site < b->site);
}

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
	s.samples = zalloc((size_t)im->graph.known.ranks, sizeof *s.samples);
	for (size_t i = 0; i < s.count; i++) {
		s.samples[s.at[i].rank] += s.at[i].samples;
		s.period_ns = s.at[i].period_ns;
	}
	s.compute_ns = groups->compute_ns[site];
	return s;
}

/* ---- whose functions others waited for ---- */

struct costs {
	struct function_cost *of;	/* by function; errors squared */
	uint32_t not_sampled, mpi;
};

static double
weight_ns(const struct excess *e, bool only_more)
{
	return (double)e->slow_ns - (only_more ? e->others_ns : 0);
}

/*
 * A delay's cost goes to the functions that its rank has more of than the others, as they have it; where it
 * has no more of any, to all that it has.
 */
static void
share_out(struct costs *costs, const struct excess *list, size_t count, double cost_ns)
{
	double sum_ns = 0, variance = 0;
	bool any_more = false;

	for (size_t i = 0; i < count; i++)
		any_more |= (double)list[i].slow_ns > list[i].others_ns;
	for (size_t i = 0; i < count; i++)
		if (weight_ns(&list[i], any_more) > 0) {
			sum_ns += weight_ns(&list[i], any_more);
			variance += list[i].error_ns * list[i].error_ns;
		}
	for (size_t i = 0; i < count && sum_ns > 0; i++) {
		const double share = weight_ns(&list[i], any_more) / sum_ns, own = list[i].error_ns * list[i].error_ns;

		if (share <= 0)
			continue;
		costs->of[list[i].function].cost_ns += cost_ns * share;
		/* Of a share of independent parts. */
		costs->of[list[i].function].error_ns += cost_ns * cost_ns / (sum_ns * sum_ns) *
		    ((1 - share) * (1 - share) * own + share * share * (variance - own));
	}
}

static int
by_cost(const void *left, const void *right)
{
	const struct function_cost *a = left, *b = right;

	return a->cost_ns != b->cost_ns ? (a->cost_ns > b->cost_ns ? -1 : 1) :
	    (a->function > b->function) - (a->function < b->function);
}

static void
find_function_costs(const struct imbalance *im, const struct site_groups *groups, struct by_function *by,
    const struct taken *list, size_t taken)
{
	struct costs costs = { zalloc(by->count, sizeof *costs.of), function_named(by, not_sampled, NULL),
	    function_named(by, "(MPI)", NULL) };
	size_t count;
	struct delay *delays = sorted_delays(im, &count);

	for (size_t f = 0; f < by->count; f++)
		costs.of[f].function = (uint32_t)f;
	for (size_t i = 0; i < count; i++) {
		const double cost_ns = delay_cost_ns(&delays[i]);
		struct sums s;

		if (delays[i].key % 2 == 1) {
			costs.of[costs.mpi].cost_ns += cost_ns;
			continue;
		}
		if (delays[i].key / 2 >= groups->count) {
			costs.of[costs.not_sampled].cost_ns += cost_ns;
			continue;
		}
		s = sums_of(im, groups, by, list, taken, groups->of[delays[i].key / 2]);
		if (s.compute_ns == NULL || s.samples[delays[i].rank] == 0)
			costs.of[costs.not_sampled].cost_ns += cost_ns;
		else {
			size_t functions;
			struct excess *of = excesses_of(&s, delays[i].rank, &functions);

			share_out(&costs, of, functions, cost_ns);
			free(of);
		}
		free(s.samples);
	}
	free(delays);
	qsort(costs.of, by->count, sizeof *costs.of, by_cost);
	while (by->cost_count < by->count && costs.of[by->cost_count].cost_ns > 0) {
		struct function_cost *of = &costs.of[by->cost_count++];

		of->error_ns = sqrt(of->error_ns);
	}
	by->costs = costs.of;
}

const struct by_function *
functions_by(const struct imbalance *im, bool own)
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
			by->on_core_ns += (int64_t)s.samples[r] * worth_ns(&s, r);
		}
		if (s.compute_ns != NULL)
			by->sites[by->site_count++] = uneven_of(&s, list[i].site);
		free(s.samples);
	}
	for (size_t g = 0; g < groups.count; g++)
		for (int32_t r = 0; groups.compute_ns[g] != NULL && r < im->graph.known.ranks; r++)
			by->compute_ns += groups.compute_ns[g][r];
	qsort(by->sites, by->site_count, sizeof *by->sites, by_most_excess);
	find_function_costs(im, &groups, by, list, count);
	for (size_t g = 0; g < groups.count; g++)
		free(groups.compute_ns[g]);
	free(groups.compute_ns);
	free(groups.of);
	free(list);
	return by;
}
