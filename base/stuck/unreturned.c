/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "../tool/tool.h"
#include "waits.h"

struct unreturned {
	struct look look;
	struct verdict verdict;
	struct awaited_thread *of;	/* by node of a thread */
	bool *unproved;		/* likewise: there are too many rows to see what is on its way */
};

/*
 * Rather the rank that the verdict names. A rank's receive from any may be from itself, too, but
 * waits for others.
 */
static uint32_t
behind_hub(const struct unreturned *u, const struct graph *g, uint32_t hub, uint32_t own)
{
	const struct solve_node *node = &g->s.nodes[hub];
	const struct clause *clause = &g->s.clauses[node->clause], *end = clause + node->clauses;
	const bool named = u->verdict.kind == WAITING || u->verdict.state == KILLED;
	uint32_t to = node->waits_for;

	for (; clause < end; clause++)
		for (size_t i = 0; i < clause->size; i++) {
			const uint32_t member = g->s.members[clause->first + i];

			if (named && member != own && member < (uint32_t)u->look.rank_count &&
			    u->look.ranks[member].blamed)
				return member;
			if (node->stuck && to == own)
				to = member;
		}
	return to;
}

static struct awaited_thread
awaited_by(const struct unreturned *u, const struct graph *g, const struct thread *thread)
{
	const struct look *look = &u->look;
	const struct row *op = thread->ops;
	uint32_t to = g->s.nodes[thread->node].waits_for;
	struct awaited_thread of = { 0 };

	if (!thread->waits || u->unproved[thread->node])
		return of;
	while (op->node != to)
		op++;
	while (to >= g->threads && to != NO_NODE)
		to = behind_hub(u, g, to, look->ranks[thread->rank].node);
	if (to == NO_NODE)	/* all have come */
		return of;
	/* While others moved, a standard send may have been about to return. */
	if (is_buffered(op) && u->verdict.state != STUCK)
		return of;
	of.operation = call_class(op->call) != CLASS_SENDRECV ? op->call :
	    (unsigned)call_number(sends(op) ? "MPI_Send" : "MPI_Recv");
	of.rank = (int32_t)to;
	to = g->s.nodes[to].waits_for;
	for (size_t i = 0; to != NO_NODE && i < look->ranks[of.rank].thread_count; i++)
		if (look->ranks[of.rank].threads[i].node == to)
			of.thread = (uint32_t)i;
	return of;
}

/* Of the threads without a result. */
static void
find_awaited(struct unreturned *u, struct graph *g)
{
	const struct look *look = &u->look;

	graph_build(g, true);
	for (const struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; ) {
		struct awaited_thread *of = &u->of[thread->node];
		const struct thread *other;

		if (u->verdict.at == NULL ||
		    !mismatch_at(look, u->verdict.at, thread, &other)) {
			if (of->operation == 0)
				*of = awaited_by(u, g, thread);
		} else if (other != NULL)
			*of = (struct awaited_thread){ thread->call, other->rank, other->location };
	}
}

struct unreturned *
unreturned_open(char **files, size_t count, struct symbol_files *names_of)
{
	struct unreturned *u = zalloc(1, sizeof *u);
	struct graph g = { .look = &u->look };
	size_t kept = 0;

	look_read(&u->look, files, count, false, names_of);
	u->verdict = waits_judge(&u->look, STILL_NS, 0);
	graph_build(&g, true);
	u->of = zalloc(g.threads, sizeof *u->of);
	u->unproved = zalloc(g.threads, sizeof *u->unproved);
	/* A message on its way is no reason to wait. */
	for (struct thread *thread = NULL; (thread = next_thread(g.look, thread)) != NULL; ) {
		bool dropped;

		u->unproved[thread->node] = thread->waits &&
		    !drop_arriving(g.look, thread, &dropped, &kept);
	}
	find_awaited(u, &g);
	g.may = u->verdict.may;
	if (g.may)
		find_awaited(u, &g);
	graph_free(&g);
	return u;
}

void
unreturned_close(struct unreturned *u)
{
	look_free(&u->look);
	free(u->verdict.sentence);
	free(u->of);
	free(u->unproved);
	free(u);
}

const char *
unreturned_verdict(const struct unreturned *u)
{
	return kind_names[u->verdict.kind];
}

const char *
unreturned_sentence(const struct unreturned *u)
{
	return u->verdict.sentence;
}

struct awaited_thread
unreturned_call(const struct unreturned *u, int32_t rank, uint32_t t)
{
	const struct rank *of = rank < u->look.rank_count ? &u->look.ranks[rank] : NULL;

	return of != NULL && t < of->thread_count ? u->of[of->threads[t].node] :
	    (struct awaited_thread){ 0 };
}
