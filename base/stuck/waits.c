/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the verdict. A thread does not wait for messages that rows show to be on their way. */
#include "../tool/tool.h"
#include "look.h"
#include "waitfor.h"
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

/* Of the ranks that others wait for those with a thread that goes on by itself, or could. */
static size_t
blame_awaited(struct look *look)
{
	size_t count = 0;

	for (int32_t r = 0; r < look->rank_count; r++) {
		struct rank *rank = &look->ranks[r];
		bool alone = rank->thread_count == 0;

		for (size_t t = 0; t < rank->thread_count; t++)
			alone |= !rank->threads[t].waits;
		rank->blamed = rank->awaited && alone;
		count += rank->blamed;
	}
	return count;
}

/* Where all are in calls: the ranks in one that waits for processes that the traces do not show. */
static size_t
blame_outside(struct look *look, const struct graph *g)
{
	size_t count = 0;
	bool computes = false;

	for (int32_t r = 0; r < look->rank_count; r++) {
		struct rank *rank = &look->ranks[r];
		bool in_call = rank->life == ENDED || rank->life == DEAD;

		rank->blamed = false;
		for (size_t t = 0; t < rank->thread_count; t++) {
			const struct thread *thread = &rank->threads[t];

			in_call |= thread->call != 0;
			rank->blamed |= !g->s.nodes[thread->node].stuck &&
			    waits_outside(thread->call);
		}
		computes |= !in_call;
		count += rank->blamed;
	}
	for (int32_t r = 0; r < look->rank_count && computes; r++)
		look->ranks[r].blamed = false;
	return computes ? 0 : count;
}

static size_t
blame_aborting(struct look *look)
{
	size_t count = 0;

	for (int32_t r = 0; r < look->rank_count; r++) {
		look->ranks[r].blamed = false;
		for (size_t t = 0; t < look->ranks[r].thread_count; t++)
			look->ranks[r].blamed |= call_aborts(look->ranks[r].threads[t].call);
		count += look->ranks[r].blamed;
	}
	return count;
}

/* Where nobody is waited for: ranks that test or probe in vain. */
static size_t
blame_polling(struct look *look)
{
	size_t count = 0;

	for (int32_t r = 0; r < look->rank_count; r++) {
		look->ranks[r].blamed = false;
		for (size_t t = 0; t < look->ranks[r].thread_count && look->ranks[r].life != ENDED;
		    t++)
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
	size_t kept = 0;

	for (struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; )
		if (g->s.nodes[thread->node].core)
			*proved &= drop_arriving(look, thread, &dropped, &kept);
	return dropped;
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
settle(struct graph *g, struct findings *f)
{
	for (int turn = 0; turn == 0 ||
	    (turn < MOST_TURNS && drop_in_core(f->look, g, &f->proved)); turn++)
		graph_build(g, f->over);
}

/*
 * Where nothing has moved for long: ranks that hold up others and do not wait themselves, not even
 * by the ways of an implementation; cycles of that kind; and ranks that wait for what is not seen.
 */
static bool
judge_still(struct findings *f, struct graph *g)
{
	struct look *look = f->look;

	graph_mark_awaited(g);
	g->may = true;
	settle(g, f);
	f->proved = false;
	f->verdict.kind = WAITING;
	f->may = blame_awaited(look) > 0 || blame_core(look, g, &f->verdict.kind) > 0;
	if (!f->may) {
		graph_mark_awaited(g);
		f->verdict.kind = WAITING;
		f->may = blame_awaited(look) > 0 || blame_polling(look) > 0 ||
		    blame_outside(look, g) > 0;
	}
	return f->may;
}

/* No collective differs, and not all have ended. */
static void
judge_waits(struct findings *f, bool aborted, size_t dead, int64_t after_ns)
{
	struct look *look = f->look;
	struct verdict *verdict = &f->verdict;
	struct graph g = { .look = look };
	const bool still = f->still_ns >= after_ns || (f->over && look->killed_ns == 0);
	size_t count;

	settle(&g, f);
	count = blame_core(look, &g, &verdict->kind);
	verdict->state = STUCK;
	if (aborted) {
		verdict->state = KILLED;
		verdict->kind = NO_KIND;
		blame_aborting(look);
	} else if (count > 0 && (f->proved || verdict->kind == GONE || still))
		;
	else if (dead > 0 && !f->over) {
		verdict->kind = GONE;
		for (int32_t r = 0; r < look->rank_count; r++)
			look->ranks[r].blamed = look->ranks[r].life == DEAD;
	} else if (still && judge_still(f, &g))
		;
	else if (f->over && look->killed_ns != 0) {
		verdict->state = KILLED;
		verdict->kind = NO_KIND;
		graph_mark_awaited(&g);
		blame_awaited(look);
	} else if (f->over) {
		verdict->kind = GONE;
		for (int32_t r = 0; r < look->rank_count; r++)
			look->ranks[r].blamed = look->ranks[r].life != ENDED;
	} else {
		verdict->state = MOVING;
		verdict->kind = NO_KIND;
	}
	graph_free(&g);
}

struct findings
waits_judge(struct look *look, int64_t after_ns, int64_t seen_ns)
{
	struct findings f = { .look = look, .over = is_over(look),
	    .still_ns = look->elsewhere || still_ns(look) < seen_ns ? seen_ns : still_ns(look),
	    .proved = true, .verdict = { .state = MOVING } };
	const bool aborted = f.over && blame_aborting(look) > 0;
	size_t ended = 0, dead = 0;

	for (int32_t r = 0; r < look->rank_count; r++) {
		ended += look->ranks[r].life == ENDED;
		dead += look->ranks[r].life == DEAD;
		for (size_t t = 0; t < look->ranks[r].thread_count; t++)
			find_ops(look, &look->ranks[r], &look->ranks[r].threads[t]);
	}
	if (ended == (size_t)look->rank_count)
		f.verdict.state = ENDED_WELL;
	else if (!aborted && (f.at = find_mismatch(look)) != NULL) {
		blame_few(look, f.at);
		f.verdict.state = STUCK;
		f.verdict.kind = MISMATCH;
	} else
		judge_waits(&f, aborted, dead, after_ns);
	return f;
}
