/* SPDX-License-Identifier: BSD-3-Clause */
#include "solve.h"

#include <stdlib.h>

#include "../tool/tool.h"

uint32_t
solve_node(struct solve *s, bool halted)
{
	*APPEND(s->nodes, s->count, s->node_capacity) = (struct solve_node){
	    .clause = s->clause_count, .halted = halted, .waits_for = NO_NODE };
	return (uint32_t)s->count - 1;
}

void
solve_clause(struct solve *s)
{
	APPEND(s->clauses, s->clause_count, s->clause_capacity)->first = s->member_count;
	s->nodes[s->count - 1].clauses++;
}

void
solve_member(struct solve *s, uint32_t node)
{
	*APPEND(s->members, s->member_count, s->member_capacity) = node;
	s->clauses[s->clause_count - 1].size++;
}

void
solve_free(struct solve *s)
{
	free(s->nodes);
	free(s->clauses);
	free(s->members);
	*s = (struct solve){ 0 };
}

/* By node: the clauses that it is in. */
struct uses {
	size_t *from;		/* count + 1 of them */
	size_t *clauses;
};

static struct uses
uses_of(const struct solve *s)
{
	struct uses uses = { zalloc(s->count + 2, sizeof *uses.from),
	    zalloc(s->member_count + 1, sizeof *uses.clauses) };

	for (size_t i = 0; i < s->member_count; i++)
		uses.from[s->members[i] + 2]++;
	for (size_t i = 1; i <= s->count + 1; i++)
		uses.from[i] += uses.from[i - 1];
	for (size_t c = 0; c < s->clause_count; c++)
		for (size_t i = 0; i < s->clauses[c].size; i++)
			uses.clauses[uses.from[s->members[s->clauses[c].first + i] + 1]++] = c;
	return uses;
}

/*
 * Starts from nodes that go on by themselves: a node whose clauses are all over goes on, too. The
 * rest is stuck.
 */
static void
reduce(struct solve *s)
{
	struct uses uses = uses_of(s);
	size_t *left = zalloc(s->count + 1, sizeof *left), queued = 0;
	uint32_t *of = zalloc(s->clause_count + 1, sizeof *of),
	    *queue = zalloc(s->count + 1, sizeof *queue);
	bool *over = zalloc(s->clause_count + 1, sizeof *over);

	for (uint32_t n = 0; n < s->count; n++) {
		struct solve_node *node = &s->nodes[n];

		node->stuck = true;
		left[n] = node->clauses;
		for (size_t c = 0; c < node->clauses; c++)
			of[node->clause + c] = n;
		if (node->clauses == 0 && !node->halted)
			queue[queued++] = n;
	}
	for (size_t done = 0; done < queued; done++) {
		const uint32_t free_node = queue[done];

		s->nodes[free_node].stuck = false;
		for (size_t i = uses.from[free_node]; i < uses.from[free_node + 1]; i++) {
			const size_t c = uses.clauses[i];

			if (!over[c] && --left[of[c]] == 0 && !s->nodes[of[c]].halted) {
				s->nodes[of[c]].waits_for = free_node;
				queue[queued++] = of[c];
			}
			over[c] = true;
		}
	}
	free(uses.from);
	free(uses.clauses);
	free(left);
	free(of);
	free(queue);
	free(over);
}

/* The smallest clause of a stuck node of which no member ever comes; NULL: the node is halted. */
static const struct clause *
dead_clause(const struct solve *s, const struct solve_node *node)
{
	const struct clause *best = NULL;

	for (size_t c = node->clause; c < node->clause + node->clauses; c++) {
		const struct clause *clause = &s->clauses[c];
		size_t i = 0;

		while (i < clause->size && s->nodes[s->members[clause->first + i]].stuck)
			i++;
		if (i == clause->size && (best == NULL || clause->size < best->size))
			best = clause;
	}
	return node->halted ? NULL : best;
}

/*
 * Tarjan's components, without recursion, on one dead clause of each stuck node; the final
 * components are the cores.
 */
struct walk {
	struct visit {
		const struct clause *dead;
		size_t next;		/* member of it to look at */
		uint32_t index, low;	/* index 0: not visited yet */
		bool on_stack, leaves;	/* leaves: a member of the component leads to another one */
		bool awaited;		/* by a stuck node */
	} *of;				/* by node */
	uint32_t *stack, *path;
	uint32_t stacked, depth, found;
};

static void
enter(struct walk *w, uint32_t node)
{
	w->of[node].index = w->of[node].low = ++w->found;
	w->stack[w->stacked++] = node;
	w->of[node].on_stack = true;
	w->path[w->depth++] = node;
}

static void
leave(struct solve *s, struct walk *w, uint32_t node)
{
	struct visit *parent = --w->depth > 0 ? &w->of[w->path[w->depth - 1]] : NULL;
	const struct visit *own = &w->of[node];
	uint32_t first = w->stacked;
	bool leaves = false;

	if (own->low != own->index) {
		if (own->low < parent->low)
			parent->low = own->low;
		return;
	}
	do
		leaves |= w->of[w->stack[--first]].leaves;
	while (w->stack[first] != node);
	for (uint32_t i = first; i < w->stacked; i++) {
		s->nodes[w->stack[i]].core = !leaves;
		w->of[w->stack[i]].on_stack = false;
	}
	w->stacked = first;
	if (parent != NULL)
		parent->leaves = true;
}

static void
components_from(struct solve *s, struct walk *w, uint32_t root)
{
	enter(w, root);
	while (w->depth > 0) {
		const uint32_t node = w->path[w->depth - 1];
		struct visit *own = &w->of[node];

		if (own->dead == NULL || own->next == own->dead->size) {
			leave(s, w, node);
			continue;
		}
		const uint32_t to = s->members[own->dead->first + own->next++];

		w->of[to].awaited = true;
		if (w->of[to].index == 0)
			enter(w, to);
		else if (!w->of[to].on_stack)
			own->leaves = true;
		else if (w->of[to].index < own->low)
			own->low = w->of[to].index;
	}
}

void
solve(struct solve *s)
{
	struct walk w = { .of = zalloc(s->count + 1, sizeof *w.of),
		.stack = zalloc(s->count + 1, sizeof *w.stack),
		.path = zalloc(s->count + 1, sizeof *w.path) };

	reduce(s);
	for (uint32_t n = 0; n < s->count; n++) {
		const struct clause *dead = s->nodes[n].stuck ? dead_clause(s, &s->nodes[n]) : NULL;

		w.of[n].dead = dead;
		if (dead != NULL && dead->size > 0)
			s->nodes[n].waits_for = s->members[dead->first];
	}
	for (uint32_t n = 0; n < s->count; n++)
		if (s->nodes[n].stuck && w.of[n].index == 0)
			components_from(s, &w, n);
	for (uint32_t n = 0; n < s->count; n++)
		s->nodes[n].core &= !s->nodes[n].halted || w.of[n].awaited;
	free(w.of);
	free(w.stack);
	free(w.path);
}
