/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective.h"

#include <stdlib.h>

#include "../mpi/call_class.h"
#include "../tool/tool.h"

static bool
later(const struct member *a, const struct member *b)
{
	return a->row->enter_ns > b->row->enter_ns ||
	    (a->row->enter_ns == b->row->enter_ns && a->location < b->location);
}

static uint32_t
last_of(const struct member *members, uint32_t count)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < count; i++)
		if (later(&members[i], &members[last]))
			last = i;
	return last;
}

uint32_t
collective_root(const struct definitions *d, const struct member *members, uint32_t count)
{
	int32_t root = -1;

	for (uint32_t i = 0; i < count && root < 0; i++) {
		int32_t rank = d->location_rank[members[i].location];

		if (members[i].row->peer == ROOT_PEER)	/* of an intercommunicator */
			root = rank;
		else
			root = world_rank(d, members[i].row->comm, rank, members[i].row->peer);
	}
	for (uint32_t i = 0; i < count && root >= 0; i++)
		if (d->location_rank[members[i].location] == root)
			return i;
	return NOBODY;
}

static const struct communicator *
comm_of(const struct definitions *d, const struct member *members)
{
	return members[0].row->comm < d->comm_count ? &d->comms[members[0].row->comm] : NULL;
}

int32_t *
collective_ranks(const struct definitions *d, const struct member *members)
{
	const struct communicator *c = comm_of(d, members);
	int32_t *rank_in = zalloc((size_t)d->ranks, sizeof *rank_in);

	for (int32_t i = 0; i < d->ranks; i++)
		rank_in[i] = i;
	for (int32_t i = 0; c != NULL && c->members != NULL && i < c->size; i++)
		if (c->members[i] >= 0)
			rank_in[c->members[i]] = i;
	return rank_in;
}

struct place {
	int32_t comm_rank;
	uint32_t member;
};

static int
by_comm_rank(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return a->comm_rank < b->comm_rank ? -1 : a->comm_rank > b->comm_rank;
}

uint32_t *
collective_order(const struct definitions *d, const struct member *members, uint32_t count)
{
	struct place *places = zalloc(count, sizeof *places);
	int32_t *ranks = collective_ranks(d, members);
	uint32_t *order = zalloc(count, sizeof *order);

	for (uint32_t i = 0; i < count; i++)
		places[i] = (struct place){ ranks[d->location_rank[members[i].location]], i };
	qsort(places, count, sizeof *places, by_comm_rank);
	for (uint32_t i = 0; i < count; i++)
		order[i] = places[i].member;
	free(places);
	free(ranks);
	return order;
}

const struct neighbours *
collective_sources(const struct definitions *d, const struct member *members, int32_t comm_rank)
{
	const struct communicator *c = comm_of(d, members);
	const struct neighbours *of = c != NULL && c->neighbours != NULL && comm_rank < c->size ?
	    &c->neighbours[comm_rank] : NULL;

	return of != NULL && of->sources != NULL ? of : NULL;
}

/* A neighbourhood collective: everybody needs its sources; who knows of none waits for nobody. */
static void
neighbour_waits(const struct definitions *d, const struct member *members, uint32_t count,
    uint32_t *waits_for)
{
	const struct communicator *c = comm_of(d, members);
	int32_t *rank_in = collective_ranks(d, members);
	uint32_t *member_of = zalloc((size_t)(c != NULL ? c->size : 0) + 1, sizeof *member_of);

	for (int32_t i = 0; c != NULL && i < c->size; i++)
		member_of[i] = NOBODY;
	for (uint32_t i = 0; c != NULL && i < count; i++)
		if (rank_in[d->location_rank[members[i].location]] < c->size)
			member_of[rank_in[d->location_rank[members[i].location]]] = i;
	for (uint32_t i = 0; i < count; i++) {
		int32_t me = rank_in[d->location_rank[members[i].location]];
		const struct neighbours *of = collective_sources(d, members, me);
		uint32_t last = i;

		waits_for[i] = NOBODY;
		if (of == NULL)
			continue;
		for (uint32_t s = 0; s < of->count; s++) {
			uint32_t source = of->sources[s] >= 0 ? member_of[of->sources[s]] : NOBODY;

			if (source != NOBODY && later(&members[source], &members[last]))
				last = source;
		}
		waits_for[i] = last;
	}
	free(rank_in);
	free(member_of);
}

/* A scan: everybody needs the ranks up to its own. */
static void
scan_waits(const struct definitions *d, const struct member *members, uint32_t count,
    uint32_t *waits_for)
{
	uint32_t *order = collective_order(d, members, count), last = order[0];

	for (uint32_t i = 0; i < count; i++) {
		if (later(&members[order[i]], &members[last]))
			last = order[i];
		waits_for[order[i]] = last;
	}
	free(order);
}

void
collective_waits(struct definitions *definitions, const struct member *members, uint32_t count,
    uint32_t *waits_for)
{
	enum call_class class = blocking_class(call_class(members[0].row->call));
	uint32_t who;

	if (class == CLASS_SCAN) {
		scan_waits(definitions, members, count, waits_for);
		return;
	}
	if (class == CLASS_NEIGHBOUR) {
		neighbour_waits(definitions, members, count, waits_for);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		waits_for[i] = NOBODY;
	if (class == CLASS_ONE_TO_ALL || class == CLASS_ALL_TO_ONE) {
		who = collective_root(definitions, members, count);
		if (who == NOBODY)
			return;
		if (class == CLASS_ALL_TO_ONE)
			waits_for[who] = last_of(members, count);
		else
			for (uint32_t i = 0; i < count; i++)
				waits_for[i] = who;
		return;
	}
	who = last_of(members, count);
	for (uint32_t i = 0; i < count; i++)
		waits_for[i] = who;
}

/* ---- the same without times ---- */

static void
begin_group(struct needs *needs, bool chained)
{
	needs->groups = grow(needs->groups, &needs->capacity, needs->count + 1, sizeof *needs->groups);
	needs->groups[needs->count++] = (struct need){ (uint32_t)needs->source_count, 0,
	    (uint32_t)needs->dependent_count, 0, chained };
}

static void
add_source(struct needs *needs, uint32_t member)
{
	needs->sources = grow(needs->sources, &needs->source_capacity, needs->source_count + 1,
	    sizeof *needs->sources);
	needs->sources[needs->source_count++] = member;
	needs->groups[needs->count - 1].source_count++;
}

static void
add_dependent(struct needs *needs, uint32_t member)
{
	needs->dependents = grow(needs->dependents, &needs->dependent_capacity,
	    needs->dependent_count + 1, sizeof *needs->dependents);
	needs->dependents[needs->dependent_count++] = member;
	needs->groups[needs->count - 1].dependent_count++;
}

/* By rank in the communicator the member; NOBODY where it is not one of these. */
static uint32_t *
members_by_rank(const struct definitions *d, const struct member *members, uint32_t count,
    int32_t size)
{
	int32_t *rank_in = collective_ranks(d, members);
	uint32_t *member_of = zalloc((size_t)size, sizeof *member_of);

	for (int32_t i = 0; i < size; i++)
		member_of[i] = NOBODY;
	for (uint32_t i = 0; i < count; i++)
		if (rank_in[d->location_rank[members[i].location]] < size)
			member_of[rank_in[d->location_rank[members[i].location]]] = i;
	free(rank_in);
	return member_of;
}

static void
needs_by_rank(struct needs *needs, const struct definitions *d, const struct member *members,
    uint32_t count, bool scan)
{
	const struct communicator *c = comm_of(d, members);
	int32_t size = c != NULL && c->members != NULL ? c->size : d->ranks;
	uint32_t *member_of = members_by_rank(d, members, count, size);

	for (int32_t r = 0; r < size; r++) {
		const struct neighbours *of = !scan && c != NULL && c->neighbours != NULL ?
		    &c->neighbours[r] : NULL;

		if (member_of[r] == NOBODY)
			continue;
		begin_group(needs, scan && needs->count > 0);
		add_dependent(needs, member_of[r]);
		if (scan)
			add_source(needs, member_of[r]);
		for (uint32_t s = 0; of != NULL && of->sources != NULL && s < of->count; s++)
			if (of->sources[s] >= 0 && of->sources[s] < size &&
			    member_of[of->sources[s]] != NOBODY)
				add_source(needs, member_of[of->sources[s]]);
	}
	free(member_of);
}

void
collective_needs(struct needs *needs, const struct definitions *d, const struct member *members,
    uint32_t count)
{
	enum call_class class = blocking_class(call_class(members[0].row->call));
	bool rooted = class == CLASS_ONE_TO_ALL || class == CLASS_ALL_TO_ONE;
	uint32_t root = rooted ? collective_root(d, members, count) : NOBODY;

	needs->count = needs->source_count = needs->dependent_count = 0;
	if (class == CLASS_SCAN || class == CLASS_NEIGHBOUR)
		needs_by_rank(needs, d, members, count, class == CLASS_SCAN);
	else if (!rooted || root != NOBODY) {
		begin_group(needs, false);
		for (uint32_t i = 0; i < count; i++) {
			if (rooted && members[i].row->peer == NULL_PEER)
				continue;	/* of the root's own side of an intercommunicator */
			if (class != CLASS_ONE_TO_ALL || i == root)
				add_source(needs, i);
			if (class != CLASS_ALL_TO_ONE || i == root)
				add_dependent(needs, i);
		}
	}
}
