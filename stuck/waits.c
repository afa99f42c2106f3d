/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the wait-for graph and finds the verdict. A rank comes when one of its threads goes on. A
 * thread in a call waits for the ranks that its messages come from or go to, or for a hub. A hub is
 * a collective that all members must call, or any one member of a communicator. A thread does not
 * wait for messages that rows show to be on their way.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/tool.h"
#include "solve.h"
#include "stuck.h"
#include "waits.h"

#define NOBODY UINT32_MAX
enum { MOST_MEMBERS = 64, MOST_TURNS = 16 };

uint32_t
group_of(const struct rank *rank, uint32_t comm)
{
	return comm < rank->member_count ? rank->members[comm].group : 0;
}

static int32_t
member(const struct look *look, uint32_t group, int side, int32_t i)
{
	const struct group *g = &look->groups[group];

	if (group == 1)
		return i >= 0 && i < look->rank_count ? i : -1;
	if (group < 3 || i < 0 ||
	    i >= (g->remote_size == 0 || side == 0 ? g->size : g->remote_size))
		return -1;
	return g->of[side][i];
}

/* In an intercommunicator peers are in the other group. */
static int
side_of(const struct look *look, uint32_t group, int32_t world)
{
	const struct group *g = &look->groups[group];

	for (int32_t i = 0; g->remote_size > 0 && i < g->size; i++)
		if (g->of[0][i] == world)
			return 0;
	return g->remote_size > 0;
}

int32_t
world_rank(const struct look *look, const struct rank *rank, uint32_t comm, int32_t peer)
{
	const uint32_t group = group_of(rank, comm);
	const int32_t own = (int32_t)(rank - look->ranks);

	if (group == 2)
		return own;
	if (group == 0 || peer < 0)
		return -1;
	return member(look, group,
	    look->groups[group].remote_size > 0 ? 1 - side_of(look, group, own) : 0, peer);
}

/* ---- the graph ---- */

struct graph {
	struct look *look;
	struct solve s;
	uint32_t threads;	/* first node after the threads' nodes */
	struct hub *hubs;
	size_t hub_count, hub_capacity;
};

static uint32_t
hub_node(struct graph *g, struct hub hub)
{
	for (size_t i = g->hub_count; i-- > 0; )
		if (g->hubs[i].any == hub.any && g->hubs[i].group == hub.group &&
		    g->hubs[i].collective == hub.collective)
			return g->threads + (uint32_t)i;
	g->hubs = grow(g->hubs, &g->hub_capacity, g->hub_count + 1, sizeof *g->hubs);
	g->hubs[g->hub_count++] = hub;
	return g->threads + (uint32_t)(g->hub_count - 1);
}

/* The number of collectives that the rank has called on the communicator; -1: unknown. */
static int64_t
collectives_of(const struct look *look, const struct rank *rank, uint32_t group)
{
	uint32_t comm = group == 1;
	int64_t count = 0;

	while (comm < rank->member_count && rank->members[comm].group != group)
		comm++;
	if (comm == rank->member_count)
		return rank->life == ABSENT ? 0 : -1;
	for (size_t t = 0; t < rank->thread_count; t++) {
		const struct open_count last = rank->threads[t].open.last[comm % OPEN_COUNTS];

		if (last.comm == comm && last.collectives > count)
			count = last.collectives;
		else if (last.comm != comm && last.comm != 0)
			return -1;
	}
	(void)look;
	return rank->life == ENDED ? -1 : count;
}

static bool
has_called(const struct look *look, int32_t world, uint32_t group, uint32_t collective)
{
	const struct rank *rank = &look->ranks[world];
	int64_t count;

	if (collective == FINALIZE) {
		for (size_t t = 0; t < rank->thread_count; t++)
			if (call_class(rank->threads[t].call) == CLASS_FINALIZE)
				return true;
		return rank->life == ENDED;
	}
	count = collectives_of(look, rank, group);
	return count < 0 ? rank->life != ENDED : count >= collective;
}

/* Rooted collectives need not wait for all; if the root has come nothing is certain. */
static uint32_t
collective_node(struct graph *g, int32_t own, const struct row *op)
{
	const enum call_class class = blocking_class(op->class);
	const uint32_t group = group_of(&g->look->ranks[own], op->comm);
	const int32_t root = world_rank(g->look, &g->look->ranks[own], op->comm, op->peer);

	if (group == 0 || group == 2 || op->collective == 0 ||
	    g->look->groups[group].remote_size > 0 || class == CLASS_NEIGHBOUR ||
	    class == CLASS_SCAN)
		return NOBODY;
	if (class == CLASS_ONE_TO_ALL)
		return root < 0 || root == own || has_called(g->look, root, group, op->collective) ?
		    NOBODY : (uint32_t)root;
	if (class == CLASS_ALL_TO_ONE && root != own)
		return NOBODY;
	return hub_node(g, (struct hub){ false, group, op->collective });
}

/* The node that the operation waits for. */
static uint32_t
node_of(struct graph *g, int32_t own, const struct row *op)
{
	const struct look *look = g->look;
	const struct rank *rank = &look->ranks[own];
	const uint32_t group = group_of(rank, op->comm);
	int32_t peer;

	if (is_collective(op->class))
		return collective_node(g, own, op);
	if ((!sends(op) && !receives(op)) || group == 0 || group == 2)
		return NOBODY;
	if (op->peer == ANY_PEER) {
		for (int32_t r = 0; r < look->rank_count; r++)
			if (is_met(look, own, op, r))
				return NOBODY;
		return look->groups[group].remote_size > 0 ? NOBODY :
		    hub_node(g, (struct hub){ true, group, 0 });
	}
	peer = world_rank(look, rank, op->comm, op->peer);
	return peer < 0 || is_met(look, own, op, peer) ? NOBODY : (uint32_t)peer;
}

static void
add_thread(struct graph *g, struct thread *thread)
{
	const char state = g->look->ranks[thread->rank].state;
	bool somebody = false;
	uint32_t *nodes;

	solve_node(&g->s, false);
	thread->waits = false;
	/* a stopped process may be continued, whatever it waits for */
	if (state == 'T' || state == 't')
		return;
	nodes = zalloc(thread->op_count + 1, sizeof *nodes);
	for (size_t i = 0; i < thread->op_count; i++) {
		nodes[i] = node_of(g, thread->rank, &thread->ops[i]);
		somebody |= nodes[i] == NOBODY;
	}
	if (thread->op_count > 0 && thread->either && !somebody && !thread->unknown) {
		solve_clause(&g->s);
		thread->waits = true;
		for (size_t i = 0; i < thread->op_count; i++)
			solve_member(&g->s, nodes[i]);
	}
	for (size_t i = 0; i < thread->op_count && !thread->either; i++)
		if (nodes[i] != NOBODY) {
			solve_clause(&g->s);
			solve_member(&g->s, nodes[i]);
			thread->waits = true;
		}
	free(nodes);
}

static void
add_hub(struct graph *g, const struct hub *hub)
{
	const struct look *look = g->look;
	const int32_t size = hub->group == 1 ? look->rank_count : look->groups[hub->group].size;

	solve_node(&g->s, false);
	if (hub->any)
		solve_clause(&g->s);
	for (int32_t i = 0; i < size; i++) {
		const int32_t world = member(look, hub->group, 0, i);

		if (world < 0 ||
		    (!hub->any && has_called(look, world, hub->group, hub->collective)))
			continue;
		if (!hub->any)
			solve_clause(&g->s);
		solve_member(&g->s, (uint32_t)world);
	}
}

/* Nodes: the ranks, then their threads, then hubs. */
static void
build(struct graph *g, bool over)
{
	struct look *look = g->look;
	uint32_t next = (uint32_t)look->rank_count;

	for (int32_t r = 0; r < look->rank_count; r++) {
		struct rank *rank = &look->ranks[r];

		rank->node = solve_node(&g->s,
		    rank->life == ENDED || (rank->life == DEAD && !over));
		if (rank->thread_count > 0 && rank->life != ENDED)
			solve_clause(&g->s);
		for (size_t t = 0; t < rank->thread_count; t++) {
			rank->threads[t].node = next++;
			if (rank->life != ENDED)
				solve_member(&g->s, rank->threads[t].node);
		}
	}
	g->threads = next;
	for (int32_t r = 0; r < look->rank_count; r++)
		for (size_t t = 0; t < look->ranks[r].thread_count; t++)
			add_thread(g, &look->ranks[r].threads[t]);
	for (size_t h = 0; h < g->hub_count; h++)
		add_hub(g, &g->hubs[h]);
}

/* ---- messages on their way, by rows -------------------------------------------------- */

/*
 * Whether one rank has sent messages to another that this has not received, or posted receives.
 * False: unknown.
 */
static bool
is_on_its_way(const struct look *look, int32_t own, const struct row *op, int32_t other,
    bool *on_its_way)
{
	const uint32_t group = group_of(&look->ranks[own], op->comm);
	struct traffic of[2] = { { 0 } };
	const int32_t ranks[2] = { own, other };

	for (int i = 0; i < 2; i++) {
		const struct rank *rank = &look->ranks[ranks[i]],
		    *peer = &look->ranks[ranks[1 - i]];
		struct channel channel = { .tag = op->tag, .peer = -1 };

		while (channel.comm < rank->member_count &&
		    rank->members[channel.comm].group != group)
			channel.comm++;
		for (size_t c = 0; c < peer->member_count; c++)
			if (peer->members[c].group == group)
				channel.peer = peer->members[c].rank;
		if (!rows_count(look, &look->ranks[ranks[i]], channel, &of[i]))
			return false;
	}
	*on_its_way = receives(op) ? of[1].sent > of[0].received : of[1].posted > 0 &&
	    of[1].posted + of[1].received > of[0].sent;
	return true;
}

/*
 * Drops operations on their way from those that the thread waits for. False: too many rows to read.
 */
static bool
drop_arriving(const struct look *look, struct thread *thread, bool *dropped)
{
	for (size_t i = 0; i < thread->op_count; i++) {
		struct row *op = &thread->ops[i];
		const uint32_t group = group_of(&look->ranks[thread->rank], op->comm);
		const int32_t peer = world_rank(look, &look->ranks[thread->rank],
		    op->comm, op->peer);
		const int32_t size = group == 1 ? look->rank_count : look->groups[group].size;
		bool coming = false;

		if (!sends(op) && !receives(op))
			continue;
		if (op->peer == ANY_PEER && size > MOST_MEMBERS)
			return false;
		for (int32_t m = 0; m < size && !coming; m++) {
			const int32_t other = member(look, group, 0, m);

			if (other >= 0 && (other == peer || op->peer == ANY_PEER) &&
			    !is_on_its_way(look, thread->rank, op, other, &coming))
				return false;
		}
		if (coming) {
			op->class = CLASS_LOCAL;
			*dropped = true;
		}
	}
	return true;
}

/* ---- the verdict ---- */

static bool
is_over(const struct look *look)
{
	for (int32_t r = 0; r < look->rank_count; r++)
		if (look->ranks[r].life == ALIVE || look->ranks[r].life == REMOTE)
			return false;
	return true;
}

/* Threads that go on by themselves, or could, of ranks that others wait for. */
static size_t
blame_awaited(struct look *look, const struct graph *g)
{
	size_t count = 0;
	bool *awaited = zalloc((size_t)look->rank_count, sizeof *awaited);

	for (size_t n = (size_t)look->rank_count; n < g->s.count; n++)
		for (size_t c = 0; c < g->s.nodes[n].clauses; c++) {
			const struct clause *clause = &g->s.clauses[g->s.nodes[n].clause + c];

			for (size_t i = 0; i < clause->size; i++)
				if (g->s.members[clause->first + i] < (uint32_t)look->rank_count)
					awaited[g->s.members[clause->first + i]] = true;
		}
	for (int32_t r = 0; r < look->rank_count; r++) {
		struct rank *rank = &look->ranks[r];
		bool alone = rank->thread_count == 0;

		for (size_t t = 0; t < rank->thread_count; t++)
			alone |= !rank->threads[t].waits;
		rank->blamed = awaited[r] && alone;
		count += rank->blamed;
	}
	free(awaited);
	return count;
}

/* If no rank is waited for: ranks that test or probe in vain. */
static size_t
blame_polling(struct look *look)
{
	size_t count = 0;

	for (int32_t r = 0; r < look->rank_count; r++) {
		look->ranks[r].blamed = false;
		for (size_t t = 0;
		    t < look->ranks[r].thread_count && look->ranks[r].life != ENDED; t++)
			look->ranks[r].blamed |= look->ranks[r].threads[t].polls != 0;
		count += look->ranks[r].blamed;
	}
	return count;
}

/* The ranks in the core of the stuck nodes. GONE: some of them are dead. */
static size_t
blame_core(struct look *look, const struct graph *g, enum kind *kind)
{
	size_t count = 0, gone = 0;

	for (int32_t r = 0; r < look->rank_count; r++) {
		struct rank *rank = &look->ranks[r];
		bool core = g->s.nodes[rank->node].core;

		for (size_t t = 0; t < rank->thread_count; t++)
			core |= g->s.nodes[rank->threads[t].node].core;
		rank->blamed = core;
		count += core;
		gone += core && g->s.nodes[rank->node].halted;
	}
	for (int32_t r = 0; r < look->rank_count && gone > 0; r++)
		look->ranks[r].blamed &= g->s.nodes[look->ranks[r].node].halted;
	*kind = gone > 0 ? GONE : DEADLOCK;
	return count;
}

static bool
drop_in_core(struct look *look, const struct graph *g, bool *proved)
{
	bool dropped = false;

	for (int32_t r = 0; r < look->rank_count; r++)
		for (size_t t = 0; t < look->ranks[r].thread_count; t++)
			if (g->s.nodes[look->ranks[r].threads[t].node].core)
				*proved &= drop_arriving(look, &look->ranks[r].threads[t],
				    &dropped);
	return dropped;
}

static int64_t
still_ns(const struct look *look)
{
	int64_t last_ns = INT64_MIN;

	for (int32_t r = 0; r < look->rank_count; r++)
		for (size_t t = 0; t < look->ranks[r].thread_count; t++)
			if (look->ranks[r].threads[t].moved_ns > last_ns)
				last_ns = look->ranks[r].threads[t].moved_ns;
	return last_ns == INT64_MIN ? 0 : look->now_ns - last_ns;
}

struct verdict
waits_judge(struct look *look, int64_t after_ns, int64_t seen_ns)
{
	const bool over = is_over(look);
	struct findings f = { .look = look, .over = over,
	    .still_ns = look->elsewhere || still_ns(look) < seen_ns ? seen_ns :
		still_ns(look),
		.proved = true };
	struct verdict verdict = { .state = MOVING };
	struct graph g = { .look = look };
	size_t ended = 0, dead = 0, count;

	for (int32_t r = 0; r < look->rank_count; r++) {
		ended += look->ranks[r].life == ENDED;
		dead += look->ranks[r].life == DEAD;
		for (size_t t = 0; t < look->ranks[r].thread_count; t++)
			find_ops(look, &look->ranks[r], &look->ranks[r].threads[t]);
	}
	if (ended == (size_t)look->rank_count)
		verdict.state = ENDED_WELL;
	else if ((f.at = find_mismatch(look)) != NULL) {
		blame_few(look, f.at);
		verdict.state = STUCK;
		verdict.kind = MISMATCH;
	} else {
		for (int turn = 0;
		    turn == 0 || (turn < MOST_TURNS && drop_in_core(look, &g, &f.proved)); turn++) {
			solve_free(&g.s);
			g.hub_count = 0;
			build(&g, over);
			solve(&g.s);
		}
		count = blame_core(look, &g, &verdict.kind);
		if (count > 0 && (f.proved || verdict.kind == GONE || f.still_ns >= after_ns))
			verdict.state = STUCK;
		else if (dead > 0 && !over) {
			verdict.state = STUCK;
			verdict.kind = GONE;
			for (int32_t r = 0; r < look->rank_count; r++)
				look->ranks[r].blamed = look->ranks[r].life == DEAD;
		} else if (((over && look->killed_ns == 0) || f.still_ns >= after_ns) &&
		    (blame_awaited(look, &g) > 0 || blame_polling(look) > 0)) {
			verdict.state = STUCK;
			verdict.kind = WAITING;
		} else if (over && look->killed_ns != 0) {
			verdict.state = KILLED;
			verdict.kind = NO_KIND;
			blame_awaited(look, &g);
		} else if (over) {
			verdict.state = STUCK;
			verdict.kind = GONE;
			for (int32_t r = 0; r < look->rank_count; r++)
				look->ranks[r].blamed = look->ranks[r].life != ENDED;
		} else
			verdict.kind = NO_KIND;
		solve_free(&g.s);
		free(g.hubs);
	}
	f.verdict = &verdict;
	verdict.sentence = sentence_of(&f);
	return verdict;
}
