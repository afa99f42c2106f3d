/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the run would gain if a rank computed before a call site no longer than the other ranks do.
 *
 * The question is asked of each stretch between two synchronisation points: a rank may be slow in
 * some steps only. There its computation takes as long as the mean of the others, and the end is
 * found anew.
 */
#include <stdlib.h>

#include "../base/run/verdict.h"
#include "gain.h"

/* Computation of the stretch by call: vertex / 2. */
struct computing {
	const struct dag *dag;
	const struct definitions *known;
	struct same_sites *same_sites;
	uint32_t *site;		/* the first of its name; NO_SITE: the start */
	int32_t *rank;
	struct places sums;	/* of site and rank; compute false: of all ranks, as rank 0 */
	/* what is balanced: the computation at PLACE, by this factor */
	struct place place[LANES];
	double factor[LANES];
	int lanes;
};

/* Adds a sum, and forgets it. */
static void
take_sum(struct computing *c, struct balances *balances, struct place *sum)
{
	if (sum->ns == 0)
		return;
	places_add(&balances->computed, sum);
	places_add(&c->sums, sum);
	*sum = (struct place){ .site = sum->site, .ns = sum->ns };
	places_add(&c->sums, sum);
	sum->ns = 0;
}

static void
take_computing(struct computing *c, struct balances *balances)
{
	enum { SLOTS = 16 };
	const struct stretch *stretch = c->dag->stretch;
	struct place sums[SLOTS] = { { 0 } }, *sum;	/* by site, most of which come often */
	size_t i = 0;

	for (uint32_t l = 0; l < stretch->window->locations; l++) {
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++, i++) {
			const struct row *row = window_row(stretch->window, l, seq);
			const uint32_t site = first_of_name(c->same_sites, c->known, row->site);

			c->rank[i] = c->known->location_rank[l];
			c->site[i] = kind_before(row->call, seq == stretch->first_seq[l] &&
			    !stretch->from_sync) == START ? NO_SITE : site;
			if (c->dag->weight_ns[2 * i] == 0 || c->site[i] == NO_SITE)
				continue;
			sum = &sums[site % SLOTS];
			if (sum->site != site)
				take_sum(c, balances, sum);
			*sum = (struct place){ .site = site, .rank = c->rank[i], .compute = true,
			    .ns = sum->ns + c->dag->weight_ns[2 * i] };
		}
		for (sum = sums; sum < sums + SLOTS; sum++)
			take_sum(c, balances, sum);
	}
}

static void
weights_if_balanced(const void *context, uint32_t v, int64_t *weight_ns)
{
	const struct computing *c = context;
	const int64_t ns = c->dag->weight_ns[v];
	const bool computes = v < c->dag->events && (v & 1) == 0;

	for (int l = 0; l < LANES; l++)
		weight_ns[l] = computes && l < c->lanes && c->site[v / 2] == c->place[l].site &&
		    c->rank[v / 2] == c->place[l].rank ?
		    (int64_t)((double)ns * c->factor[l] + 0.5) : ns;
}

/* The mean of the others by what the rank computes there itself; no more than 1. */
static double
factor_in_stretch(const struct computing *c, const struct place *place)
{
	const struct place all = { .site = place->site };
	const int32_t ranks = c->known->ranks;
	const int64_t own_ns = places_ns(&c->sums, place);
	const int64_t others_ns = places_ns(&c->sums, &all) - own_ns;

	return own_ns * (ranks - 1) > others_ns ?
	    (double)others_ns / (double)(ranks - 1) / (double)own_ns : 1;
}

/* Places of the way's computation with most time first; to be freed. */
static struct place *
places_of_way(const struct computing *c, const struct longest_way *way, size_t *count)
{
	struct places places = { NULL };
	struct place *sorted;

	for (size_t i = 0; i < way->count; i++) {
		const uint32_t v = way->at[i];

		if (v < c->dag->events && (v & 1) == 0 && c->dag->weight_ns[v] > 0 &&
		    c->site[v / 2] != NO_SITE)
			places_add(&places, &(struct place){ .site = c->site[v / 2],
			    .rank = c->rank[v / 2], .compute = true, .ns = c->dag->weight_ns[v] });
	}
	sorted = places_sorted(&places, count);
	places_free(&places);
	return sorted;
}

/* The next places at which the rank takes longer than the others. */
static void
next_places(struct computing *c, struct balances *balances, const struct place **at,
    const struct place *end)
{
	for (c->lanes = 0; *at < end && c->lanes < LANES; ++*at) {
		struct place sum = **at;

		c->factor[c->lanes] = factor_in_stretch(c, *at);
		if (c->factor[c->lanes] >= 1)
			continue;
		sum.ns = (int64_t)((1 - c->factor[c->lanes]) * (double)sum.ns + 0.5);
		places_add(&balances->most, &sum);
		c->place[c->lanes++] = **at;
	}
}

void
balances_add(struct balances *balances, const struct dag *dag, const struct longest_way *way,
    const struct definitions *known, struct same_sites *same_sites)
{
	enum { MOST_PLACES = 8 };	/* of a stretch: each is one more evaluation of the graph */
	struct computing c = { .dag = dag, .known = known, .same_sites = same_sites };
	const struct place *at;
	struct place *places;
	int64_t (*time_ns)[LANES];
	size_t count;

	if (known->ranks < 2)
		return;
	c.site = zalloc(dag->events / 2 + 1, sizeof *c.site);
	c.rank = zalloc(dag->events / 2 + 1, sizeof *c.rank);
	time_ns = zalloc(dag->vertices, sizeof *time_ns);
	take_computing(&c, balances);
	at = places = places_of_way(&c, way, &count);
	if (count > MOST_PLACES)
		count = MOST_PLACES;
	while (next_places(&c, balances, &at, places + count), c.lanes > 0) {
		dag_evaluate_lanes(dag, time_ns, weights_if_balanced, &c);
		for (int l = 0; l < c.lanes; l++) {
			c.place[l].ns = dag->time_ns[dag->end] - time_ns[dag->end][l];
			places_add(&balances->gained, &c.place[l]);
		}
	}
	places_free(&c.sums);
	free(places);
	free(time_ns);
	free(c.site);
	free(c.rank);
}

/* Keeps the places at which the rank is slow in the run as a whole. */
void
balances_end(struct balances *balances, const struct definitions *known)
{
	struct places by_site = { NULL };	/* of all ranks, as rank 0 */
	size_t count;
	struct place *computed = places_sorted(&balances->computed, &count), *gained;

	for (struct place *p = computed; p < computed + count; p++) {
		p->rank = 0;
		places_add(&by_site, p);
	}
	free(computed);
	gained = places_sorted(&balances->gained, &count);

	balances->at = zalloc(count, sizeof *balances->at);
	for (size_t i = 0; i < count && gained[i].ns > 0; i++) {
		const struct place key = { .site = gained[i].site, .rank = gained[i].rank,
		    .compute = true }, all = { .site = gained[i].site, .compute = true };
		struct balance b = { key.site, key.rank, gained[i].ns, places_ns(&balances->most,
		    &key), places_ns(&balances->computed, &key), 0 };

		b.others_ns = (places_ns(&by_site, &all) - b.compute_ns) / (known->ranks - 1);
		if (can_be_balanced((double)b.compute_ns, (double)b.others_ns))
			balances->at[balances->count++] = b;
	}
	free(gained);
	places_free(&balances->gained);
	places_free(&balances->most);
	places_free(&balances->computed);
	places_free(&by_site);
}
