/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts that were needed stand in a row; in each round every second of those that are left gives what it
 * has to the one before it.
 */
#include "join.h"

#include <stdlib.h>

#include "causes.h"
#include "delays.h"
#include "functions.h"
#include "part.h"

/* One kind of number. Both return or take items from *NEXT on; nothing is left where FILL returns 0. */
struct kind {
	size_t bytes;		/* of an item */
	size_t (*fill)(const struct imbalance *im, size_t *next, void *items, size_t most);
	void (*add)(struct imbalance *im, const void *item);
};

/* ---- of the run, and by state ------------------------------------------------------------ */

struct run_item {
	uint64_t unmatched_sends, unmatched_receives, unmatched_collectives;	/* read by the last part only */
	uint64_t errors, sampled;
};

static size_t
fill_run(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	(void)most;
	if ((*next)++ > 0)
		return 0;
	*(struct run_item *)items = (struct run_item){ im->unmatched_sends, im->unmatched_receives,
	    im->unmatched_collectives, im->errors, im->functions != NULL };
	return 1;
}

static void
add_run(struct imbalance *im, const void *item)
{
	const struct run_item *more = item;

	im->unmatched_sends += more->unmatched_sends;
	im->unmatched_receives += more->unmatched_receives;
	im->unmatched_collectives += more->unmatched_collectives;
	im->errors += more->errors;
	if (more->sampled)
		functions_begin(im);
}

struct state_item {
	size_t state;
	struct state_sums sums;
};

static size_t
fill_states(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	struct state_item *to = items;
	size_t count = 0;

	for (; *next < STATES && count < most; ++*next)
		to[count++] = (struct state_item){ *next, im->states[*next] };
	return count;
}

static void
add_state(struct imbalance *im, const void *item)
{
	const struct state_item *more = item;
	struct state_sums *sums = &im->states[more->state];

	sums->wait_ns += more->sums.wait_ns;
	sums->direct_ns += more->sums.direct_ns;
	sums->indirect_ns += more->sums.indirect_ns;
	sums->propagating_ns += more->sums.propagating_ns;
	sums->count += more->sums.count;
	count_largest(im, &more->sums.largest);
}

/* ---- by call, rank and location ---------------------------------------------------------- */

struct totals_item {
	size_t index;
	struct totals totals;
};

static size_t
fill_calls(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	struct totals_item *to = items;
	size_t count = 0;

	for (; *next < im->call_capacity && count < most; ++*next)
		to[count++] = (struct totals_item){ *next, im->calls[*next] };
	return count;
}

static void
add_call(struct imbalance *im, const void *item)
{
	const struct totals_item *more = item;

	add_totals(totals_of(im, (uint16_t)more->index), &more->totals);
}

struct rank_item {
	size_t rank;
	struct totals totals;
	struct span span;
};

static size_t
fill_ranks(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	struct rank_item *to = items;
	size_t count = 0;

	for (; *next < (size_t)im->known.ranks && count < most; ++*next)
		to[count++] = (struct rank_item){ *next, im->ranks[*next], im->spans[*next] };
	return count;
}

static void
add_rank(struct imbalance *im, const void *item)
{
	const struct rank_item *more = item;

	add_totals(&im->ranks[more->rank], &more->totals);
	span_join(&im->spans[more->rank], &more->span);
}

struct location_item {
	size_t location;
	int64_t before_ns, last_leave_ns;
};

static size_t
fill_locations(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	struct location_item *to = items;
	size_t count = 0;

	for (; *next < im->known.location_count && count < most; ++*next)
		to[count++] = (struct location_item){ *next, im->before_ns[*next], im->last_leave_ns[*next] };
	return count;
}

static void
add_location(struct imbalance *im, const void *item)
{
	const struct location_item *more = item;

	im->before_ns[more->location] += more->before_ns;	/* only one part has its first call */
	if (more->last_leave_ns > im->last_leave_ns[more->location])
		im->last_leave_ns[more->location] = more->last_leave_ns;
}

/* ---- by rank, site, call, communicator and partner --------------------------------------- */

struct cell_item {
	size_t dimension, index;
	struct cell cell;
};

/* NEXT counts places in all tables, side by side in rows of the longest. */
static bool
place_of(const struct imbalance *im, size_t kinds, size_t next, size_t *dimension, size_t *kind, size_t *index)
{
	size_t longest = 1;

	for (int d = 0; d < DIMENSIONS; d++)
		longest = im->tables[d].count > longest ? im->tables[d].count : longest;
	*index = next % longest;
	*kind = next / longest % kinds;
	*dimension = next / longest / kinds;
	return *dimension < DIMENSIONS;
}

static size_t
fill_cells(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	struct cell_item *to = items;
	size_t count = 0, dimension, kind, index;

	for (; count < most && place_of(im, 1, *next, &dimension, &kind, &index); ++*next)
		if (index < im->tables[dimension].count)
			to[count++] = (struct cell_item){ dimension, index, im->tables[dimension].cells[index] };
	return count;
}

static void
add_cell_item(struct imbalance *im, const void *item)
{
	const struct cell_item *more = item;

	join_cell(&im->tables[more->dimension], more->index, &more->cell);
}

struct wait_item {
	size_t dimension, state, index;
	int64_t wait_ns;
};

static size_t
fill_waits(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	struct wait_item *to = items;
	size_t count = 0, dimension, state, index;

	for (; count < most && place_of(im, STATES, *next, &dimension, &state, &index); ++*next) {
		const int64_t ns = state_ns(&im->tables[dimension], index, (int)state);

		if (ns != 0)
			to[count++] = (struct wait_item){ dimension, state, index, ns };
	}
	return count;
}

static void
add_wait_item(struct imbalance *im, const void *item)
{
	const struct wait_item *more = item;

	join_wait_ns(&im->tables[more->dimension], more->index, (enum state)more->state, more->wait_ns);
}

/* ---- by site and rank -------------------------------------------------------------------- */

struct site_item {
	uint32_t site;
	int32_t rank;
	struct site_ns ns;
};

static size_t
fill_sites(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	const size_t ranks = (size_t)im->known.ranks;
	struct site_item *to = items;
	size_t count = 0;

	while (*next < im->site_count * ranks && count < most) {
		const size_t site = *next / ranks, rank = *next % ranks;
		const struct site_ns *ns = im->sites[site] != NULL ? &im->sites[site][rank] : NULL;

		if (ns == NULL) {
			*next += ranks;
			continue;
		}
		if (rank == 0 || ns->compute_ns != 0 || ns->mpi_ns != 0)
			to[count++] = (struct site_item){ (uint32_t)site, (int32_t)rank, *ns };
		++*next;
	}
	return count;
}

static void
add_site(struct imbalance *im, const void *item)
{
	const struct site_item *more = item;

	count_site(im, more->site, more->rank, more->ns.compute_ns, more->ns.mpi_ns);
}

/* ---- causes and functions ---------------------------------------------------------------- */

static size_t
fill_delays(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	return delays_some(delays_of(im), next, items, most);
}

static void
add_delay_item(struct imbalance *im, const void *item)
{
	delay_join(delays_of(im), item);
}

struct chain_item {
	size_t links;
	struct wait chain[MOST_LINKS];
};

static size_t
fill_chains(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	struct chain_item *to = items;
	size_t count = 0;

	for (; *next < chain_count(im) && count < most; ++*next, count++)
		to[count].links = chain_of(im, *next, to[count].chain);
	return count;
}

static void
add_chain(struct imbalance *im, const void *item)
{
	const struct chain_item *more = item;

	join_chain(im, more->chain, more->links);
}

static size_t
fill_taken(const struct imbalance *im, size_t *next, void *items, size_t most)
{
	return im->functions != NULL ? some_taken(im, next, items, most) : 0;
}

static void
add_taken(struct imbalance *im, const void *item)
{
	join_taken(im, item);
}

static const struct kind kinds[] = {
	{ sizeof(struct run_item), fill_run, add_run },
	{ sizeof(struct state_item), fill_states, add_state },
	{ sizeof(struct totals_item), fill_calls, add_call },
	{ sizeof(struct rank_item), fill_ranks, add_rank },
	{ sizeof(struct location_item), fill_locations, add_location },
	{ sizeof(struct cell_item), fill_cells, add_cell_item },
	{ sizeof(struct wait_item), fill_waits, add_wait_item },
	{ sizeof(struct site_item), fill_sites, add_site },
	{ sizeof(struct delay), fill_delays, add_delay_item },
	{ sizeof(struct chain_item), fill_chains, add_chain },
	{ sizeof(struct taken), fill_taken, add_taken },
};

/* ---- who gives to whom ------------------------------------------------------------------- */

enum { AT_ONCE = 4096 };	/* items */

/* All numbers of a kind to a member, some at a time; none are the last. */
static void
give(const struct imbalance *im, const struct team *team, const struct kind *kind, int to)
{
	void *items = zalloc(AT_ONCE, kind->bytes);
	size_t next = 0, count;

	do {
		count = kind->fill(im, &next, items, AT_ONCE);
		team_send(team, to, items, count, kind->bytes);
	} while (count > 0);
	free(items);
}

static void
take(struct imbalance *im, const struct team *team, const struct kind *kind, int from)
{
	size_t count;

	do {
		char *items = team_receive(team, from, kind->bytes, &count);

		for (size_t i = 0; i < count; i++)
			kind->add(im, items + i * kind->bytes);
		free(items);
	} while (count > 0);
}

/* Which members have the parts that make up the run; their count goes to *COUNT. */
static int *
needed(const struct part *part, const struct team *team, size_t *count)
{
	struct read { uint64_t member, first, end; } own = { (uint64_t)team->rank, 0, 0 }, *all;
	int *members = zalloc((size_t)team->size, sizeof *members);
	size_t parts;
	uint64_t next = 0;

	if (part != NULL) {
		own.first = part->first;
		own.end = part->end;
	}
	all = team_share(team, &own, part != NULL, sizeof own, &parts);
	*count = 0;
	for (size_t i = 0; i < parts; i++)	/* in order of their parts */
		if (all[i].first == next) {
			members[(*count)++] = (int)all[i].member;
			next = all[i].end;
		}
	free(all);
	return members;
}

void
join_parts(struct imbalance *im, const struct team *team)
{
	size_t count, own = 0;
	int *members = needed(im->part, team, &count);

	while (own < count && members[own] != team->rank)
		own++;
	for (size_t step = 1; own < count && step < count && own % step == 0; step *= 2) {
		const bool gives = own % (2 * step) == step, takes = !gives && own + step < count;

		for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
			if (gives)
				give(im, team, &kinds[k], members[own - step]);
			else if (takes)
				take(im, team, &kinds[k], members[own + step]);
	}
	free(members);
}
