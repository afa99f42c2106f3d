/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds nodes that can never go on: a wait-for graph of AND and OR (Hilbrich et al., EuroMPI 2012).
 * A node waits for all of its clauses; a clause is over when one of its nodes has come. A node
 * without clauses goes on by itself, unless it is halted.
 */
#ifndef SOLVE_H
#define SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_NODE UINT32_MAX

struct solve_node {
	size_t clause, clauses;		/* its first clause, and their number */
	bool halted;			/* it never goes on, whatever others do */
	/* Results: */
	bool stuck;			/* it never goes on */
	/* in a cycle or knot that all stuck nodes finally wait for, or halted and awaited by one */
	bool core;
	/* if stuck: the first node of a clause that never comes; else the one that comes last */
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

/* Nodes are added one after another, each with its clauses, and each clause with its members. */
uint32_t solve_node(struct solve *s, bool halted);
void solve_clause(struct solve *s);		/* of the node added last */
/* of the clause added last; the node may be added later */
void solve_member(struct solve *s, uint32_t node);
void solve(struct solve *s);
void solve_free(struct solve *s);

#endif
