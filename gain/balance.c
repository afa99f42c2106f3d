/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the run would gain if a rank computed before a call site no longer than the other ranks do.
 *
 * The question is asked of each stretch between two synchronisation points: a rank may be slow in
 * some steps only. There its computation takes as long as the mean of the others, and the end is
 * found anew.
 */
#include "../base/run/verdict.h"
#include "gain.h"

enum { MOST_PLACES = 8 };	/* of a stretch: each is one more question */

/* Computation of the stretch by call: vertex / 2. */
struct computing {
	const struct dag *dag;
	const struct definitions *known;
	struct same_sites *same_sites;
	uint32_t *site;		/* the first of its name; NO_SITE: the start */
	int32_t *rank;
	struct places sums;	/* of site and rank; compute false: of all ranks, as rank 0 */
	/* what is balanced in each question: the computation at PLACE (rank -1: none), and how */
	struct place place[MOST_PLACES];
	double factor[MOST_PLACES];
	size_t asked;
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
weights_if_balanced(const void *context, size_t question, uint32_t v, int64_t *weight_ns)
{
	const struct computing *c = context;
	const int64_t ns = c->dag->weight_ns[v];
	const bool computes = v < c->dag->events && (v & 1) == 0;

	for (size_t l = 0, q = question; l < LANES; l++, q++)
		weight_ns[l] = computes && c->rank[v / 2] == c->place[q].rank &&
		    c->site[v / 2] == c->place[q].site ?
		    (int64_t)((double)ns * c->factor[q] + 0.5) : ns;
}

static void
evaluate_balanced(const struct dag *dag, int64_t (*time_ns)[LANES], const void *context,
    size_t question, int64_t *end_ns)
{
	evaluate(dag, time_ns, weights_if_balanced, context, question, end_ns);
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

void
balances_add(struct balances *balances, const struct dag *dag, const struct longest_way *way,
    struct same_sites *same_sites)
{
	struct computing c = { .dag = dag, .known = dag->stretch->known, .same_sites = same_sites };
	struct place *places;
	int64_t *gain_ns;
	size_t count;

	if (c.known->ranks < 2)
		return;
	c.site = zalloc(dag->events / 2 + 1, sizeof *c.site);
	c.rank = zalloc(dag->events / 2 + 1, sizeof *c.rank);
	take_computing(&c, balances);
	places = places_of_way(&c, way, &count);
	for (size_t q = 0; q < MOST_PLACES; q++)
		c.place[q].rank = -1;
	for (size_t i = 0; i < count && i < MOST_PLACES; i++) {
		struct place place = places[i];
		const double factor = factor_in_stretch(&c, &place);

		if (factor >= 1)	/* the rank takes no longer than the others */
			continue;
		c.place[c.asked] = place;
		c.factor[c.asked++] = factor;
		place.ns = (int64_t)((1 - factor) * (double)place.ns + 0.5);
		places_add(&balances->most, &place);
	}
	gain_ns = gains_if(dag, c.asked, NULL, evaluate_balanced, NULL, &c);
	for (size_t q = 0; q < c.asked; q++) {
		c.place[q].ns = gain_ns[q];
		places_add(&balances->gained, &c.place[q]);
	}
	places_free(&c.sums);
	free(gain_ns);
	free(places);
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
