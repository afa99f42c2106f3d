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
	/* what is balanced: the computation at PLACE, by this factor */
	const struct place *place;
	double factor;
};

static void
take_computing(struct computing *c, struct balances *balances)
{
	const struct stretch *stretch = c->dag->stretch;
	size_t i = 0;

	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++, i++) {
			const struct row *row = window_row(stretch->window, l, seq);
			struct place place = {
			    .site = first_of_name(c->same_sites, c->known, row->site),
			    .rank = c->known->location_rank[l], .compute = true,
			    .ns = c->dag->weight_ns[2 * i] };

			c->site[i] = place.site;
			c->rank[i] = place.rank;
			if (kind_before(row->call, seq == stretch->first_seq[l] &&
			    !stretch->from_sync) == START)
				c->site[i] = NO_SITE;
			if (place.ns == 0 || c->site[i] == NO_SITE)
				continue;
			places_add(&balances->computed, &place);
		}
}

static bool
is_there(const struct computing *c, uint32_t v)
{
	return v < c->dag->events && (v & 1) == 0 && c->site[v / 2] == c->place->site &&
	    c->rank[v / 2] == c->place->rank;
}

static int64_t
weight_if_balanced(const void *context, uint32_t v)
{
	const struct computing *c = context;
	const int64_t weight_ns = c->dag->weight_ns[v];

	return is_there(c, v) ? (int64_t)((double)weight_ns * c->factor + 0.5) : weight_ns;
}

/* The mean of the others by what the rank computes there itself; no more than 1. */
static double
factor_in_stretch(const struct computing *c)
{
	const int32_t ranks = c->known->ranks;
	int64_t own_ns = 0, others_ns = 0;

	for (uint32_t v = 0; v < c->dag->events; v += 2)
		if (is_there(c, v))
			own_ns += c->dag->weight_ns[v];
		else if (c->site[v / 2] == c->place->site)
			others_ns += c->dag->weight_ns[v];
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

void
balances_add(struct balances *balances, const struct dag *dag, const struct longest_way *way,
    const struct definitions *known, struct same_sites *same_sites)
{
	enum { MOST_PLACES = 8 };	/* of a stretch: each is one more evaluation of the graph */
	struct computing c = { .dag = dag, .known = known, .same_sites = same_sites };
	struct place *places;
	int64_t *time_ns;
	size_t count;

	if (known->ranks < 2)
		return;
	c.site = zalloc(dag->events / 2 + 1, sizeof *c.site);
	c.rank = zalloc(dag->events / 2 + 1, sizeof *c.rank);
	time_ns = zalloc(dag->vertices, sizeof *time_ns);
	take_computing(&c, balances);
	places = places_of_way(&c, way, &count);
	for (size_t i = 0; i < count && i < MOST_PLACES; i++) {
		struct place sum = places[i];

		c.place = &places[i];
		c.factor = factor_in_stretch(&c);
		if (c.factor >= 1)
			continue;
		sum.ns = (int64_t)((1 - c.factor) * (double)places[i].ns + 0.5);
		places_add(&balances->most, &sum);
		sum.ns = dag->time_ns[dag->end] - dag_evaluate(dag, time_ns, weight_if_balanced,
		    &c);
		places_add(&balances->gained, &sum);
	}
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
