/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "waits.h"

static uint32_t
hub_node(struct graph *g, struct hub hub)
{
	for (size_t i = g->hub_count; i-- > 0; )
		if (memcmp(&g->hubs[i], &hub, sizeof hub) == 0)		/* it has no gaps */
			return g->threads + (uint32_t)i;
	*APPEND(g->hubs, g->hub_count, g->hub_capacity) = hub;
	return g->threads + (uint32_t)(g->hub_count - 1);
}

/* How many collectives the rank has called on the communicator; -1: not known. */
static int64_t
collectives_of(const struct rank *rank, uint32_t group)
{
	const uint32_t comm = comm_of(rank, group);
	int64_t count = 0;

	if (comm == 0)
		return rank->life == ABSENT ? 0 : -1;
	for (size_t t = 0; t < rank->thread_count; t++) {
		const struct open_count last = rank->threads[t].open.last[comm % OPEN_COUNTS];

		if (last.comm == comm && last.collectives > count)
			count = last.collectives;
		else if (last.comm != comm && last.comm != 0)
			return -1;
	}
	return rank->life == ENDED ? -1 : count;
}

/* Starts of persistent collectives have no number: whether one of them is to be completed. */
static bool
has_started(const struct rank *rank, uint32_t group)
{
	for (size_t t = 0; t < rank->thread_count; t++)
		for (size_t i = 0; i < rank->threads[t].op_count; i++) {
			const struct row *op = &rank->threads[t].ops[i];

			if (is_collective_start(op->class) && op->collective == 0 &&
			    group_of(rank, op->comm) == group)
				return true;
		}
	return false;
}

static bool
has_called(const struct look *look, int32_t world, uint32_t group, uint32_t collective)
{
	const struct rank *rank = &look->ranks[world];
	int64_t count;

	if (collective == 0)
		return has_started(rank, group);
	if (collective == INITIALIZE)
		return !rank->outside;
	if (collective == FINALIZE) {
		for (size_t t = 0; t < rank->thread_count; t++)
			if (call_class(rank->threads[t].call) == CLASS_FINALIZE)
				return true;
		return rank->life == ENDED;
	}
	count = collectives_of(rank, group);
	return count < 0 ? rank->life != ENDED : count >= collective;
}

/* What MPI demands. In an intercommunicator ranks wait for the other side. */
static uint32_t
collective_node(struct graph *g, int32_t own, const struct row *op)
{
	const struct look *look = g->look;
	const struct rank *rank = &look->ranks[own];
	const enum call_class class = blocking_class(op->class);
	const uint32_t group = group_of(rank, op->comm);
	const int32_t root = world_peer(look, rank, op->comm, op->peer);
	struct hub hub = { HUB_ALL, group, op->collective, BOTH_SIDES, 0, 0 };

	if (group == 0 || group == 2)
		return NO_NODE;
	if (g->may)
		return hub_node(g, hub);
	if (op->collective == 0 || op->class == CLASS_FILE || op->class == CLASS_FILE_START)
		return NO_NODE;
	if (class == CLASS_ONE_TO_ALL)
		return root < 0 || root == own || has_called(look, root, group, op->collective) ?
		    NO_NODE : (uint32_t)root;
	if (class == CLASS_ALL_TO_ONE && root != own && op->peer != ROOT_PEER)
		return NO_NODE;
	if (class == CLASS_SCAN) {
		hub.rule = HUB_BEFORE;
		hub.of = rank->members[op->comm].rank;
	} else if (class == CLASS_NEIGHBOUR) {
		hub.rule = HUB_SOURCES;
		hub.of = own;
	}
	if (class != CLASS_COMM_CREATE && is_inter(look, group))
		hub.side = peers_side(look, rank, op->comm);
	return hub_node(g, hub);
}

/* Whom the operation waits for. */
static uint32_t
node_of(struct graph *g, int32_t own, const struct row *op)
{
	const struct look *look = g->look;
	const struct rank *rank = &look->ranks[own];
	const uint32_t group = group_of(rank, op->comm);
	const int32_t peer = world_peer(look, rank, op->comm, op->peer);

	if (op->class == CLASS_COMM_CREATE_GROUP)
		return !g->may || peer < 0 || has_joined(look, own, op, peer) ? NO_NODE :
		    (uint32_t)peer;
	if (is_collective(op->class))
		return collective_node(g, own, op);
	if ((op->may && !g->may) || group == 0)
		return NO_NODE;
	/* Of a window: who holds the lock, who has not posted, started or completed. */
	if (op->class == CLASS_RMA)
		return hub_node(g, (struct hub){ HUB_HOLDERS, group, 0, 0, own, op->peer });
	if (is_of_window(op))
		return peer < 0 || epoch_is_met(look, own, op, peer) ? NO_NODE : (uint32_t)peer;
	if ((!sends(op) && !receives(op)) || group == 2)
		return NO_NODE;
	if (op->peer == ANY_PEER) {
		for (int32_t r = 0; r < look->rank_count; r++)
			if (is_met(look, own, op, r))
				return NO_NODE;
		return hub_node(g, (struct hub){ HUB_ANY, group, 0,
		    peers_side(look, rank, op->comm), 0, 0 });
	}
	return peer < 0 || is_met(look, own, op, peer) ? NO_NODE : (uint32_t)peer;
}

static void
add_thread(struct graph *g, struct thread *thread)
{
	const char state = g->look->ranks[thread->rank].state;
	bool somebody = false;

	solve_node(&g->s, false);
	thread->waits = false;
	/* a stopped process may be let go on, whatever it waits for */
	if (state == 'T' || state == 't')
		return;
	for (size_t i = 0; i < thread->op_count; i++) {
		thread->ops[i].node = node_of(g, thread->rank, &thread->ops[i]);
		somebody |= thread->ops[i].node == NO_NODE;
	}
	if (thread->op_count > 0 && thread->either && !somebody && !thread->unknown) {
		solve_clause(&g->s);
		thread->waits = true;
		for (size_t i = 0; i < thread->op_count; i++)
			solve_member(&g->s, thread->ops[i].node);
	}
	for (size_t i = 0; i < thread->op_count && !thread->either; i++)
		if (thread->ops[i].node != NO_NODE) {
			solve_clause(&g->s);
			solve_member(&g->s, thread->ops[i].node);
			thread->waits = true;
		}
}

static void
wait_for(struct graph *g, const struct hub *hub, int32_t world)
{
	if (world < 0 || has_called(g->look, world, hub->group, hub->collective))
		return;
	solve_clause(&g->s);
	solve_member(&g->s, (uint32_t)world);
}

/* The first rank in the communicator that has not called the collective. */
static int32_t
first_missing(struct graph *g, const struct hub *hub)
{
	const int32_t size = side_size(g->look, hub->group, 0);
	int32_t i = 0, world;

	if (g->missing.group == hub->group && g->missing.collective == hub->collective)
		return g->missing.of;
	while (i < size && ((world = member_at(g->look, hub->group, 0, i)) < 0 ||
	    has_called(g->look, world, hub->group, hub->collective)))
		i++;
	g->missing = (struct hub){ HUB_BEFORE, hub->group, hub->collective, 0, i, 0 };
	return i;
}

/* One of the members; where one is not known it may come at any time. */
static void
add_any(struct graph *g, const struct hub *hub)
{
	const int32_t size = side_size(g->look, hub->group, hub->side);

	for (int32_t i = 0; i < size; i++)
		if (member_at(g->look, hub->group, hub->side, i) < 0)
			return;
	solve_clause(&g->s);
	for (int32_t i = 0; i < size; i++)
		solve_member(&g->s, (uint32_t)member_at(g->look, hub->group, hub->side, i));
}

static void
add_holders(struct graph *g, const struct hub *hub)
{
	int32_t *holders;
	const size_t count = lock_holders(g->look, hub->of, hub->group, hub->target, &holders);
	const int32_t target = member_at(g->look, hub->group, 0, hub->target);

	if (count > 0 || (target >= 0 && target != hub->of))
		solve_clause(&g->s);
	for (size_t i = 0; i < count; i++)
		solve_member(&g->s, (uint32_t)holders[i]);
	/* where nobody has it the target may have to help */
	if (count == 0 && target >= 0 && target != hub->of)
		solve_member(&g->s, (uint32_t)target);
	free(holders);
}

/* The hubs that it leads to are added behind it. */
static void
add_hub(struct graph *g, struct hub hub)
{
	const struct look *look = g->look;
	const struct member *member;

	solve_node(&g->s, false);
	switch (hub.rule) {
	case HUB_ANY:
		add_any(g, &hub);
		return;
	case HUB_HOLDERS:
		add_holders(g, &hub);
		return;
	case HUB_ALL:
		for (int side = 0; side < BOTH_SIDES; side++)
			for (int32_t i = 0; (hub.side == side || hub.side == BOTH_SIDES) &&
			    i < side_size(look, hub.group, side); i++)
				wait_for(g, &hub, member_at(look, hub.group, side, i));
		return;
	case HUB_SOURCES:
		member = &look->ranks[hub.of].members[comm_of(&look->ranks[hub.of], hub.group)];
		for (uint32_t i = 0; i < member->source_count; i++)
			wait_for(g, &hub, member_at(look, hub.group, 0, member->sources[i]));
		return;
	case HUB_BEFORE:
		if (--hub.of < 0)
			return;
		wait_for(g, &hub, member_at(look, hub.group, 0, hub.of));
		if (first_missing(g, &hub) >= hub.of)
			return;
		solve_clause(&g->s);
		solve_member(&g->s, hub_node(g, hub));
	}
}

/*
 * A thread in a call that all others have made does not wait, though it may never leave the call.
 * The hub of such a call has no clauses.
 */
static void
drop_done(const struct graph *g, struct thread *thread)
{
	size_t done = 0;

	for (size_t i = 0; i < thread->op_count; i++) {
		const uint32_t node = thread->ops[i].node;

		done += node == NO_NODE || (node >= g->threads && g->s.nodes[node].clauses == 0);
	}
	thread->waits &= thread->either ? done == 0 : done < thread->op_count;
}

/* Nodes: the ranks, then their threads, then hubs. */
void
graph_build(struct graph *g, bool over)
{
	struct look *look = g->look;
	uint32_t next = (uint32_t)look->rank_count;

	solve_free(&g->s);
	g->hub_count = 0;
	g->missing = (struct hub){ 0 };
	for (int32_t r = 0; r < look->rank_count; r++) {
		struct rank *rank = &look->ranks[r];

		rank->node = solve_node(&g->s, rank->life == ENDED || (rank->life == DEAD &&
		    !over));
		if (rank->thread_count > 0 && rank->life != ENDED)
			solve_clause(&g->s);
		for (size_t t = 0; t < rank->thread_count; t++) {
			rank->threads[t].node = next++;
			if (rank->life != ENDED)
				solve_member(&g->s, rank->threads[t].node);
		}
	}
	g->threads = next;
	for (struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; )
		add_thread(g, thread);
	for (size_t h = 0; h < g->hub_count; h++)
		add_hub(g, g->hubs[h]);
	for (struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; )
		drop_done(g, thread);
	solve(&g->s);
}

void
graph_free(struct graph *g)
{
	solve_free(&g->s);
	free(g->hubs);
	*g = (struct graph){ 0 };
}

void
graph_mark_awaited(const struct graph *g)
{
	const uint32_t ranks = (uint32_t)g->look->rank_count;

	for (uint32_t r = 0; r < ranks; r++)
		g->look->ranks[r].awaited = false;
	for (size_t n = ranks; n < g->s.count; n++)
		for (size_t c = 0; c < g->s.nodes[n].clauses; c++) {
			const struct clause *clause = &g->s.clauses[g->s.nodes[n].clause + c];

			for (size_t i = 0; i < clause->size; i++)
				if (g->s.members[clause->first + i] < ranks)
					g->look->ranks[g->s.members[clause->first + i]].awaited =
					    true;
		}
}
