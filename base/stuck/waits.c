/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the verdict. A thread does not wait for messages that rows show to be on their way. */
#include <string.h>

#include "../tool/tool.h"
#include "waits.h"

enum {
	MOST_MEMBERS = 64, MOST_TURNS = 16,
	MOST_KEPT = 1 << 20,	/* rows in memory for the next thread's proof */
};

/* ---- what the rows say is on its way ---- */

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
		struct rank *rank = &look->ranks[ranks[i]];
		const struct rank *other_rank = &look->ranks[ranks[1 - i]];
		const uint32_t there = comm_of(other_rank, group);
		const struct channel channel = { comm_of(rank, group),
			there == 0 ? -1 : other_rank->members[there].rank, op->tag };

		if (channel.comm != 0 && !rows_count(look, rank, channel, &of[i]))
			return false;
	}
	*on_its_way = receives(op) ? of[1].sent > of[0].received : of[1].posted > 0 &&
	    of[1].posted + of[1].received > of[0].sent;
	return true;
}

static bool
drop_ops(const struct look *look, struct thread *thread, bool *dropped)
{
	for (size_t i = 0; i < thread->op_count; i++) {
		struct row *op = &thread->ops[i];
		const struct rank *rank = &look->ranks[thread->rank];
		const uint32_t group = group_of(rank, op->comm);
		const int32_t peer = world_peer(look, rank, op->comm, op->peer);
		const int side = peers_side(look, rank, op->comm);
		const int32_t size = side_size(look, group, side);
		bool coming = false;

		if (!sends(op) && !receives(op))
			continue;
		if (op->peer == ANY_PEER && size > MOST_MEMBERS)
			return false;
		for (int32_t m = 0; m < size && !coming; m++) {
			const int32_t other = member_at(look, group, side, m);

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

bool
drop_arriving(struct look *look, struct thread *thread, bool *dropped, size_t *kept)
{
	const bool known = drop_ops(look, thread, dropped);

	if ((*kept += thread->calls.count) >= MOST_KEPT) {
		rows_forget(look);
		*kept = 0;
	}
	return known;
}

/* ---- the verdict ---- */

bool
is_over(const struct look *look)
{
	for (int32_t r = 0; r < look->rank_count; r++)
		if (look->ranks[r].life == ALIVE || look->ranks[r].life == REMOTE)
			return false;
	return true;
}

/* What a rank is blamed for: one of its threads is in such a state. */
enum blame {
	HOLDS_UP,		/* others wait for the rank; the thread does not wait itself */
	ABORTS,
	POLLS,			/* it tests or probes in vain */
	WAITS_OUTSIDE,		/* for processes that the traces do not show */
	UNFINISHED,	/* in a call that nobody holds up: all have come, or the message is sent */
	IN_CORE,		/* of the stuck nodes; the rank may be, instead */
	DEAD_IN_CORE,
};

/* Whether the call ends when processes do something that the traces of this run do not show. */
static bool
waits_outside(unsigned call)
{
	const enum call_class class = call_class(call);

	return call_meets(call) || class == CLASS_COMM_CREATE_GROUP || class == CLASS_RMA ||
	    strcmp(call_name(call), "MPI_Session_finalize") == 0;
}

static bool
is_of_file(unsigned call)
{
	return strncmp(call_name(call), "MPI_File_", strlen("MPI_File_")) == 0;
}

/* Disks may take long. */
static bool
is_unfinished(const struct thread *thread)
{
	for (size_t i = 0; i < thread->op_count; i++)
		if (is_of_file(thread->ops[i].call))
			return false;
	return thread->call != 0 && !thread->waits && !is_of_file(thread->call);
}

static bool
is_in_state(const struct graph *g, const struct thread *thread, enum blame what)
{
	switch (what) {
	case HOLDS_UP: return !thread->waits;
	case ABORTS: return call_aborts(thread->call);
	case POLLS: return thread->polls != 0;
	case WAITS_OUTSIDE: return !g->s.nodes[thread->node].stuck && waits_outside(thread->call);
	case UNFINISHED: return is_unfinished(thread);
	default: return g->s.nodes[thread->node].core;
	}
}

/* Blames these ranks; returns their number. */
static size_t
blame(const struct graph *g, enum blame what)
{
	size_t count = 0;

	for (int32_t r = 0; r < g->look->rank_count; r++) {
		struct rank *rank = &g->look->ranks[r];
		bool is = what == HOLDS_UP && rank->thread_count == 0;

		if (what == IN_CORE || what == DEAD_IN_CORE)
			is = g->s.nodes[rank->node].core;
		for (size_t t = 0; t < rank->thread_count; t++)
			is |= is_in_state(g, &rank->threads[t], what);
		rank->blamed = is && (what != HOLDS_UP || rank->awaited) &&
		    (what != POLLS || rank->life != ENDED) &&
		    (what != DEAD_IN_CORE || g->s.nodes[rank->node].halted);
		count += rank->blamed;
	}
	return count;
}

static size_t
blame_core(const struct graph *g, enum kind *kind)
{
	const size_t dead = blame(g, DEAD_IN_CORE);

	*kind = dead > 0 ? GONE : DEADLOCK;
	return dead > 0 ? dead : blame(g, IN_CORE);
}

/* Whether a rank that may live is in no call. */
static bool
any_computes(const struct look *look)
{
	for (int32_t r = 0; r < look->rank_count; r++) {
		const struct rank *rank = &look->ranks[r];
		bool in_call = rank->life == ENDED || rank->life == DEAD;

		for (size_t t = 0; t < rank->thread_count; t++)
			in_call |= rank->threads[t].call != 0;
		if (!in_call)
			return true;
	}
	return false;
}

static int64_t
still_ns(const struct look *look)
{
	int64_t last_ns = INT64_MIN;

	for (struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; )
		last_ns = larger(last_ns, thread->moved_ns);
	return last_ns == INT64_MIN ? 0 : look->now_ns - last_ns;
}

/* The graph without what is on its way. */
static void
settle(struct graph *g, struct verdict *v)
{
	struct look *look = v->look;
	bool dropped = true;

	for (int turn = 1; dropped; turn++) {
		size_t kept = 0;

		graph_build(g, v->over);
		dropped = false;
		for (struct thread *thread = NULL; turn < MOST_TURNS &&
		    (thread = next_thread(look, thread)) != NULL; )
			if (g->s.nodes[thread->node].core)
				v->proved &= drop_arriving(look, thread, &dropped, &kept);
	}
}

/*
 * Where nothing has moved for long: ranks that hold up others and do not wait themselves, not even
 * by the ways of an implementation; cycles of that kind; and ranks that wait for what is not seen,
 * or that nobody holds up, as when the network is broken.
 */
static bool
judge_still(struct verdict *v, struct graph *g)
{
	graph_mark_awaited(g);
	g->may = true;
	settle(g, v);
	v->proved = false;
	v->kind = WAITING;
	v->may = blame(g, HOLDS_UP) > 0 || blame_core(g, &v->kind) > 0;
	if (!v->may) {
		graph_mark_awaited(g);
		v->kind = WAITING;
		v->may = blame(g, HOLDS_UP) > 0 || blame(g, POLLS) > 0 ||
		    (!any_computes(g->look) &&
		    (blame(g, WAITS_OUTSIDE) > 0 || blame(g, UNFINISHED) > 0));
	}
	return v->may;
}

/* Blames ranks that held up others; MAY: with what an implementation may wait for. */
static bool
blame_killed(struct verdict *v, struct graph *g, bool may)
{
	g->may = may;
	settle(g, v);
	graph_mark_awaited(g);
	return blame(g, HOLDS_UP) > 0;
}

/* No collective differs, and not all have ended. */
static void
judge_waits(struct verdict *v, bool aborted, size_t dead, int64_t after_ns)
{
	struct look *look = v->look;
	struct graph g = { .look = look };
	const bool still = v->still_ns >= after_ns || (v->over && look->killed_ns == 0);
	size_t count;

	settle(&g, v);
	count = blame_core(&g, &v->kind);
	v->state = STUCK;
	if (aborted) {
		v->state = KILLED;
		v->kind = NO_KIND;
		blame(&g, ABORTS);
	} else if (count > 0 && (v->proved || v->kind == GONE || still))
		;
	else if (dead > 0 && !v->over) {
		v->kind = GONE;
		for (int32_t r = 0; r < look->rank_count; r++)
			look->ranks[r].blamed = look->ranks[r].life == DEAD;
	} else if (still && judge_still(v, &g))
		;
	else if (v->over && look->killed_ns != 0) {
		v->state = KILLED;
		v->kind = NO_KIND;
		v->may = blame_killed(v, &g, true);
		if (!v->may)
			blame_killed(v, &g, false);
	} else if (v->over) {
		v->kind = GONE;
		for (int32_t r = 0; r < look->rank_count; r++)
			look->ranks[r].blamed = look->ranks[r].life != ENDED;
	} else {
		v->state = MOVING;
		v->kind = NO_KIND;
	}
	graph_free(&g);
}

/* Of ranks elsewhere it is not known how late it is there, but that nothing has moved since. */
static void
tell_time(struct look *look, int64_t seen_ns)
{
	bool here = false;

	for (int32_t r = 0; r < look->rank_count; r++)
		here |= look->ranks[r].life == ALIVE;
	if (look->elsewhere && !here)
		look->now_ns += seen_ns;
}

struct verdict
waits_judge(struct look *look, int64_t after_ns, int64_t seen_ns)
{
	struct verdict v = { .look = look, .over = is_over(look),
	    .still_ns = look->elsewhere || still_ns(look) < seen_ns ? seen_ns : still_ns(look),
	    .proved = true, .state = MOVING };
	const bool aborted = v.over && blame(&(struct graph){ .look = look }, ABORTS) > 0;
	size_t ended = 0, dead = 0;

	tell_time(look, seen_ns);
	for (int32_t r = 0; r < look->rank_count; r++) {
		ended += look->ranks[r].life == ENDED;
		dead += look->ranks[r].life == DEAD;
		for (size_t t = 0; t < look->ranks[r].thread_count; t++)
			find_ops(look, &look->ranks[r], &look->ranks[r].threads[t]);
	}
	if (ended == (size_t)look->rank_count)
		v.state = ENDED_WELL;
	else if (!aborted && (v.at = find_mismatch(look)) != NULL) {
		blame_few(look, v.at);
		v.state = STUCK;
		v.kind = MISMATCH;
	} else
		judge_waits(&v, aborted, dead, after_ns);
	v.sentence = sentence_of(&v);
	return v;
}
