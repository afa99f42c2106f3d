/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective.h"

#include <stdlib.h>

#include "../tool/search.h"
#include "../tool/tool.h"

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

uint32_t
comm_rank(struct comm_ranks *ranks, const struct definitions *d, uint32_t comm, uint32_t location)
{
	const int32_t rank = d->location_rank[location];
	const struct communicator *c = comm < d->comm_count ? &d->comms[comm] : NULL;
	int32_t i;

	if (c == NULL || c->members == NULL || rank < 0 || rank >= d->ranks)
		return (uint32_t)rank;
	if (ranks->of == NULL)
		ranks->of = zalloc((size_t)d->ranks, sizeof *ranks->of);
	for (i = ranks->comm != comm ? c->size - 1 : -1; i >= 0; i--)
		if (c->members[i] >= 0 && c->members[i] < d->ranks)
			ranks->of[c->members[i]] = i;
	ranks->comm = comm;
	i = ranks->of[rank];
	return (uint32_t)(i < c->size && c->members[i] == rank ? i : rank);
}

/* The member of each of the SIZE ranks of the communicator, or NOBODY; free() them. */
static uint32_t *
members_by_rank(struct comm_ranks *ranks, const struct definitions *d,
    const struct member *members, uint32_t count, int32_t *size)
{
	const struct communicator *c = comm_of(d, members);
	const bool all = c == NULL || c->members == NULL;
	uint32_t *member_of;

	*size = c != NULL && c->size > 0 ? c->size : d->ranks;
	member_of = zalloc((size_t)*size, sizeof *member_of);
	for (int32_t r = 0; r < *size; r++)
		member_of[r] = NOBODY;
	for (uint32_t i = 0; i < count; i++) {
		const int32_t rank = d->location_rank[members[i].location];
		const uint32_t r = all ? (uint32_t)rank :
		    comm_rank(ranks, d, members->row->comm, members[i].location);

		if (r < (uint32_t)*size && (all || c->members[r] == rank))
			member_of[r] = i;
	}
	return member_of;
}

struct overlap
collective_overlap(const struct member *members, uint32_t count)
{
	struct overlap overlap = { INT64_MIN, INT64_MAX };

	for (uint32_t i = 0; i < count; i++) {
		overlap.from_ns = larger(overlap.from_ns, members[i].row->enter_ns);
		overlap.to_ns = smaller(overlap.to_ns, members[i].row->leave_ns);
	}
	return overlap;
}

bool
collective_holds(const struct member *members, uint32_t count)
{
	const enum call_class class = call_class(members[0].row->call);
	struct overlap overlap;

	if (class != CLASS_FILE && class != CLASS_DISCONNECT)
		return true;
	overlap = collective_overlap(members, count);
	return overlap.from_ns <= overlap.to_ns;
}

/* A group behind the others, with room for MOST sources and MOST dependents. */
static struct need *
add_group(struct needs *needs, bool chained, size_t most)
{
	const struct need *last = needs->count > 0 ? &needs->groups[needs->count - 1] : NULL;
	struct need new = { .chained = chained };

	if (last != NULL) {
		new.source = last->source + last->source_count;
		new.dependent = last->dependent + last->dependent_count;
	}
	GROW(needs->sources, needs->source_capacity, new.source + most);
	GROW(needs->dependents, needs->dependent_capacity, new.dependent + most);
	GROW(needs->groups, needs->capacity, needs->count + 1);
	needs->groups[needs->count] = new;
	return &needs->groups[needs->count++];
}

static void
needs_by_rank(struct needs *needs, const struct definitions *d, const struct member *members,
    uint32_t count, bool scan)
{
	const struct communicator *c = comm_of(d, members);
	int32_t size;
	uint32_t *member_of;

	if (needs->ranks == NULL)
		needs->ranks = zalloc(1, sizeof *needs->ranks);
	member_of = members_by_rank(needs->ranks, d, members, count, &size);

	for (int32_t r = 0; r < size; r++) {
		const struct neighbours *of = scan || c == NULL || c->neighbours == NULL ||
		    r >= c->size ? NULL : &c->neighbours[r];
		struct need *need;

		if (member_of[r] == NOBODY || (!scan && (of == NULL || of->sources == NULL)))
			continue;	/* or its sources are unknown */
		need = add_group(needs, scan && needs->count > 0, of == NULL ? 1 : of->count + 1);
		needs->dependents[need->dependent + need->dependent_count++] = member_of[r];
		/* its own start, too, as in all collectives */
		needs->sources[need->source + need->source_count++] = member_of[r];
		for (uint32_t s = 0; of != NULL && s < of->count; s++)
			if (of->sources[s] >= 0 && of->sources[s] < size &&
			    member_of[of->sources[s]] != NOBODY)
				needs->sources[need->source + need->source_count++] =
				    member_of[of->sources[s]];
	}
	free(member_of);
}

/* One group of all. */
static void
needs_at_once(struct needs *needs, const struct member *members, uint32_t count,
    enum call_class class, uint32_t root)
{
	struct need *need = add_group(needs, false, count);

	for (uint32_t i = 0; i < count; i++) {
		if (root != NOBODY && members[i].row->peer == NULL_PEER)
			continue;	/* on the root's side of an intercommunicator */
		if (class != CLASS_ONE_TO_ALL || i == root)
			needs->sources[need->source_count++] = i;
		if (class != CLASS_ALL_TO_ONE || i == root)
			needs->dependents[need->dependent_count++] = i;
	}
}

void
collective_needs(struct needs *needs, const struct definitions *d, const struct member *members,
    uint32_t count)
{
	enum call_class class = blocking_class(call_class(members[0].row->call));
	bool rooted = class == CLASS_ONE_TO_ALL || class == CLASS_ALL_TO_ONE;
	uint32_t root = rooted ? collective_root(d, members, count) : NOBODY;

	needs->count = 0;
	if (class == CLASS_SCAN || class == CLASS_NEIGHBOUR)
		needs_by_rank(needs, d, members, count, class == CLASS_SCAN);
	else if ((!rooted || root != NOBODY) && collective_holds(members, count))
		needs_at_once(needs, members, count, class, root);
}

void
needs_free(struct needs *needs)
{
	if (needs->ranks != NULL)
		free(needs->ranks->of);
	free(needs->ranks);
	free(needs->groups);
	free(needs->sources);
	free(needs->dependents);
	free(needs->waits_for);
	free(needs->in_tree);
	free(needs->entered);
}

static bool
later(const struct member *a, const struct member *b)
{
	return a->row->enter_ns > b->row->enter_ns ||
	    (a->row->enter_ns == b->row->enter_ns && a->location < b->location);
}

ORDER(by_enter, struct entered, BY(enter_ns) MOST(location))
#define NOT_AFTER(entered, ns) ((entered)->enter_ns <= (ns))
SEARCH(entered_until, struct entered, int64_t, NOT_AFTER)

/*
 * Some members may send nothing to others, which then leave before they enter. Who receives data
 * waits for the last that entered before it left, and sends any.
 */
static void
wait_for_entered(struct needs *needs, const struct member *members, uint32_t count)
{
	struct entered *senders = needs->entered;
	bool known = false;		/* who sends and receives */
	size_t sending = 0;

	for (uint32_t i = 0; i < count; i++)
		known |= members[i].row->sent;
	for (uint32_t i = 0; i < count; i++)
		if (members[i].row->sent || (!known && members[i].row->peer != NULL_PEER))
			senders[sending++] = (struct entered){ members[i].row->enter_ns,
			    members[i].location, i };
	SORT(senders, sending, by_enter);
	for (uint32_t i = 0; i < count; i++) {
		const size_t before = entered_until(senders, sending, members[i].row->leave_ns);

		if (needs->waits_for[i] != NOBODY)
			needs->waits_for[i] = before > 0 && (members[i].row->received || !known) ?
			    senders[before - 1].member : NOBODY;
	}
}

#define LEAST_TREE_NS 10000	/* in less a message may be on its way */

static bool
has_data(const struct row *row)
{
	return row->sent || row->received;
}

/*
 * Libraries pass data on in trees. So in a scan, or a call to or from a root, a member may also
 * wait for one that MPI does not let it wait for. That shows if for more than half of the time
 * since it needed nobody else nobody entered, and then somebody did before it left: it waited for
 * the last of these. Such a gap contains the middle of that time. Short calls have it by chance.
 */
static uint32_t
waited_in_tree(const struct entered *all, size_t count, int64_t since_ns, int64_t leave_ns)
{
	const int64_t middle_ns = since_ns + (leave_ns - since_ns) / 2;
	const size_t before = entered_until(all, count, middle_ns);
	const int64_t from_ns = before > 0 ? larger(all[before - 1].enter_ns, since_ns) : since_ns;

	if (before == count || all[before].enter_ns > leave_ns ||
	    all[before].enter_ns - from_ns < LEAST_TREE_NS ||
	    2 * (all[before].enter_ns - from_ns) <= leave_ns - since_ns)
		return NOBODY;
	return all[entered_until(all, count, leave_ns) - 1].member;
}

static void
wait_in_tree(struct needs *needs, const struct member *members, uint32_t count)
{
	struct entered *all = needs->entered;
	bool known = false;		/* who has data */
	size_t taking_part = 0;

	for (uint32_t i = 0; i < count; i++)
		known |= has_data(members[i].row);
	for (uint32_t i = 0; i < count; i++)
		if (known ? has_data(members[i].row) : members[i].row->peer != NULL_PEER)
			all[taking_part++] = (struct entered){ members[i].row->enter_ns,
			    members[i].location, i };
	SORT(all, taking_part, by_enter);
	for (size_t p = 0; p < taking_part; p++) {
		uint32_t *waits_for = &needs->waits_for[all[p].member], last;
		const struct row *call = needs->ends != NULL ? &needs->ends[all[p].member] :
		    members[all[p].member].row;
		const int64_t leave_ns = call->leave_ns;
		int64_t since_ns = call->enter_ns;

		if (*waits_for != NOBODY && members[*waits_for].row->enter_ns <= leave_ns)
			since_ns = larger(since_ns, members[*waits_for].row->enter_ns);
		last = waited_in_tree(all, taking_part, since_ns, leave_ns);
		if (last != NOBODY)
			*waits_for = needs->in_tree[all[p].member] = last;
	}
}

/*
 * Whether a member may leave before one enters that sends it nothing. Where equal data goes to all,
 * only clocks that differ can show that.
 */
static bool
may_leave_early(const struct member *members, uint32_t count)
{
	if (call_counts_differ(members->row->call))
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (members[i].row->sent)
			return false;
	return true;
}

/* An all-to-all, or to a root, that a member left before another that it might have waited for. */
static bool
is_partial(const struct definitions *d, const struct member *members, uint32_t count)
{
	const enum call_class class = call_class(members[0].row->call);
	struct overlap overlap;
	uint32_t root;

	if ((class != CLASS_ALL_TO_ALL && class != CLASS_ALL_TO_ONE) ||
	    !may_leave_early(members, count))
		return false;
	overlap = collective_overlap(members, count);
	if (class == CLASS_ALL_TO_ALL || overlap.to_ns >= overlap.from_ns)
		return overlap.to_ns < overlap.from_ns;
	root = collective_root(d, members, count);
	return root != NOBODY && members[root].row->leave_ns < overlap.from_ns;
}

const uint32_t *
collective_waits(struct needs *needs, const struct definitions *d, const struct member *members,
    uint32_t count)
{
	uint32_t last = NOBODY;

	collective_needs(needs, d, members, count);
	GROW(needs->waits_for, needs->waits_capacity, count);
	GROW(needs->in_tree, needs->tree_capacity, count);
	GROW(needs->entered, needs->entered_capacity, count);
	for (uint32_t i = 0; i < count; i++)
		needs->waits_for[i] = needs->in_tree[i] = NOBODY;
	for (const struct need *n = needs->groups; n < needs->groups + needs->count; n++) {
		const uint32_t *source = needs->sources + n->source;
		const uint32_t *dependent = needs->dependents + n->dependent;

		last = n->chained ? last : NOBODY;
		for (uint32_t i = 0; i < n->source_count; i++)
			if (last == NOBODY || later(&members[source[i]], &members[last]))
				last = source[i];
		for (uint32_t i = 0; i < n->dependent_count; i++)
			needs->waits_for[dependent[i]] = last;
	}
	if (is_partial(d, members, count))
		wait_for_entered(needs, members, count);
	if (needs->count > 0 &&
	    (needs->ends != NULL || passes_on(call_class(members->row->call))))
		wait_in_tree(needs, members, count);
	return needs->waits_for;
}

/* Without those that left before the root entered, and received nothing. */
static void
drop_early(struct needs *needs, const struct member *members)
{
	struct need *need = needs->groups;
	uint32_t *dependents = needs->dependents + need->dependent, kept = 0;
	const int64_t from_ns = members[needs->sources[need->source]].row->enter_ns;

	for (uint32_t i = 0; i < need->dependent_count; i++) {
		const struct row *row = members[dependents[i]].row;

		if (row->received || row->leave_ns >= from_ns)
			dependents[kept++] = dependents[i];
	}
	need->dependent_count = kept;
}

/* Each member needs only the one that it waits for. */
static void
needs_as_waited(struct needs *needs, const struct definitions *d, const struct member *members,
    uint32_t count)
{
	const uint32_t *waits_for = collective_waits(needs, d, members, count);

	needs->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct need *need;

		if (waits_for[i] == NOBODY)
			continue;
		need = add_group(needs, false, 1);
		needs->sources[need->source + need->source_count++] = waits_for[i];
		needs->dependents[need->dependent + need->dependent_count++] = i;
	}
}

/* Calls of Dimemas traces have no length. */
static bool
show_waits(const struct member *members, uint32_t count)
{
	uint32_t i = 0;

	while (i < count && members[i].row->leave_ns == members[i].row->enter_ns)
		i++;
	return i < count;
}

void
collective_needs_seen(struct needs *needs, const struct definitions *d,
    const struct member *members, uint32_t count)
{
	collective_needs(needs, d, members, count);
	if (!may_leave_early(members, count) || !show_waits(members, count))
		return;
	if (is_partial(d, members, count))
		needs_as_waited(needs, d, members, count);
	else if (call_class(members[0].row->call) == CLASS_ONE_TO_ALL && needs->count > 0 &&
	    needs->groups->source_count > 0)
		drop_early(needs, members);
}
