/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who can never go on: a wait-for graph of AND and OR (Hilbrich et al., EuroMPI 2012). A node waits
 * for all of its clauses; a clause is over when one of its nodes has come. A node without clauses
 * goes on by itself, unless it is stopped for ever.
 */
#ifndef SOLVE_H
#define SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct solve_node {
	size_t clause, clauses;		/* the first of its own, and how many */
	bool halted;			/* it goes on never, whatever others do */
	/* Results: */
	bool stuck;			/* it never goes on */
	/* one of those that all the stuck wait for in the end: a cycle or a knot */
	bool core;
	/* where stuck: the first node of its first clause that never comes */
	uint32_t waits_for;
};

struct solve {
	struct solve_node *nodes;
	size_t count, node_capacity;
	struct clause { size_t first, size; } *clauses;	/* of members */
	size_t clause_count, clause_capacity;
	uint32_t *members;
	size_t member_count, member_capacity;
};

/* Nodes are added one after the other, each with its clauses, and each clause with its members. */
uint32_t solve_node(struct solve *s, bool halted);
void solve_clause(struct solve *s);		/* of the node added last */
/* of the clause added last; the node may be added later */
void solve_member(struct solve *s, uint32_t node);
void solve(struct solve *s);
void solve_free(struct solve *s);

#endif
