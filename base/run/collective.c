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

/* The member that is the root; NOBODY if its rank is not known. */
static uint32_t
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

struct ranked_member {
	int32_t rank;		/* in the world, or in the communicator */
	uint32_t member;
};

ORDER(by_rank, struct ranked_member, BY(rank))

/* The rank of each member in the communicator; free() them. */
static int32_t *
collective_ranks(const struct definitions *d, const struct member *members, uint32_t count)
{
	const struct communicator *c = comm_of(d, members);
	struct ranked_member *places = zalloc((size_t)count + 1, sizeof *places), *found;
	int32_t *ranks = zalloc((size_t)count + 1, sizeof *ranks);

	for (uint32_t i = 0; i < count; i++) {
		ranks[i] = d->location_rank[members[i].location];
		places[i] = (struct ranked_member){ ranks[i], i };
	}
	if (c != NULL && c->members != NULL) {
		SORT(places, count, by_rank);
		for (int32_t r = 0; r < c->size; r++) {
			struct ranked_member wanted = { .rank = c->members[r] };

			if ((found = bsearch(&wanted, places, count, sizeof *places,
			    by_rank)) != NULL)
				ranks[found->member] = r;
		}
	}
	free(places);
	return ranks;
}

/* The member of each of the SIZE ranks of the communicator, or NOBODY; free() them. */
static uint32_t *
collective_members(const struct definitions *d, const struct member *members, uint32_t count,
    const int32_t *ranks, int32_t *size)
{
	const struct communicator *c = comm_of(d, members);
	uint32_t *member_of;

	*size = c != NULL && c->size > 0 ? c->size : d->ranks;
	member_of = zalloc((size_t)*size + 1, sizeof *member_of);
	for (int32_t r = 0; r < *size; r++)
		member_of[r] = NOBODY;
	for (uint32_t i = 0; i < count; i++)
		if (ranks[i] >= 0 && ranks[i] < *size)
			member_of[ranks[i]] = i;
	return member_of;
}

/* The sources of a rank in a neighbourhood collective; NULL: unknown. */
static const struct neighbours *
collective_sources(const struct definitions *d, const struct member *members, int32_t comm_rank)
{
	const struct communicator *c = comm_of(d, members);
	const struct neighbours *of = c != NULL && c->neighbours != NULL && comm_rank >= 0 &&
	    comm_rank < c->size ?
	    &c->neighbours[comm_rank] : NULL;

	return of != NULL && of->sources != NULL ? of : NULL;
}

/* A neighbourhood collective: each rank needs its sources; if they are unknown, none. */
static void
neighbour_waits(const struct definitions *d, const struct member *members, uint32_t count,
    uint32_t *waits_for)
{
	int32_t *ranks = collective_ranks(d, members, count), size;
	uint32_t *member_of = collective_members(d, members, count, ranks, &size);

	for (uint32_t i = 0; i < count; i++) {
		const struct neighbours *of = collective_sources(d, members, ranks[i]);
		uint32_t last = i;

		waits_for[i] = of == NULL ? NOBODY : i;
		for (uint32_t s = 0; of != NULL && s < of->count; s++) {
			const int32_t from = of->sources[s];
			const uint32_t source = from >= 0 && from < size ? member_of[from] : NOBODY;

			if (source != NOBODY && later(&members[source], &members[last]))
				waits_for[i] = last = source;
		}
	}
	free(ranks);
	free(member_of);
}

/* A scan: each rank needs the ranks up to its own. */
static void
scan_waits(const struct definitions *d, const struct member *members, uint32_t count,
    uint32_t *waits_for)
{
	int32_t *ranks = collective_ranks(d, members, count), size;
	uint32_t *member_of = collective_members(d, members, count, ranks, &size), last = NOBODY;

	for (uint32_t i = 0; i < count; i++)
		waits_for[i] = NOBODY;
	for (int32_t r = 0; r < size; r++) {
		const uint32_t i = member_of[r];

		if (i == NOBODY)
			continue;
		if (last == NOBODY || later(&members[i], &members[last]))
			last = i;
		waits_for[i] = last;
	}
	free(ranks);
	free(member_of);
}

bool
collective_holds(const struct member *members, uint32_t count)
{
	int64_t last_enter_ns = INT64_MIN, first_leave_ns = INT64_MAX;

	if (call_class(members[0].row->call) != CLASS_FILE)
		return true;
	for (uint32_t i = 0; i < count; i++) {
		const struct row *row = members[i].row;

		last_enter_ns = row->enter_ns > last_enter_ns ? row->enter_ns : last_enter_ns;
		first_leave_ns = row->leave_ns < first_leave_ns ? row->leave_ns : first_leave_ns;
	}
	return last_enter_ns <= first_leave_ns;
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
	if (!collective_holds(members, count))
		return;
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
	*APPEND(needs->groups, needs->count, needs->capacity) = (struct need){
	    (uint32_t)needs->source_count, 0, (uint32_t)needs->dependent_count, 0, chained };
}

static void
add_source(struct needs *needs, uint32_t member)
{
	*APPEND(needs->sources, needs->source_count, needs->source_capacity) = member;
	needs->groups[needs->count - 1].source_count++;
}

static void
add_dependent(struct needs *needs, uint32_t member)
{
	*APPEND(needs->dependents, needs->dependent_count, needs->dependent_capacity) = member;
	needs->groups[needs->count - 1].dependent_count++;
}

static void
needs_by_rank(struct needs *needs, const struct definitions *d, const struct member *members,
    uint32_t count, bool scan)
{
	int32_t *ranks = collective_ranks(d, members, count), size;
	uint32_t *member_of = collective_members(d, members, count, ranks, &size);

	for (int32_t r = 0; r < size; r++) {
		const struct neighbours *of = scan ? NULL : collective_sources(d, members, r);

		if (member_of[r] == NOBODY)
			continue;
		begin_group(needs, scan && needs->count > 0);
		add_dependent(needs, member_of[r]);
		if (scan || of != NULL)	/* its own start, too, as in all collectives */
			add_source(needs, member_of[r]);
		for (uint32_t s = 0; of != NULL && s < of->count; s++)
			if (of->sources[s] >= 0 && of->sources[s] < size &&
			    member_of[of->sources[s]] != NOBODY)
				add_source(needs, member_of[of->sources[s]]);
	}
	free(ranks);
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
	else if ((!rooted || root != NOBODY) && collective_holds(members, count)) {
		begin_group(needs, false);
		for (uint32_t i = 0; i < count; i++) {
			if (rooted && members[i].row->peer == NULL_PEER)
				continue;	/* on the root's side of an intercommunicator */
			if (class != CLASS_ONE_TO_ALL || i == root)
				add_source(needs, i);
			if (class != CLASS_ALL_TO_ONE || i == root)
				add_dependent(needs, i);
		}
	}
}
