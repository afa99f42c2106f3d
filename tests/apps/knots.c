/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares lp-stuck's graph with brute force, on random patterns of AND and OR waits, half of them
 * with a planted knot. A set of nodes is closed if each is halted or has a clause within the set.
 * The stuck nodes are the union of all closed sets.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../base/tool/tool.h"
#include "../../base/stuck/solve.h"

enum { MOST = 9 };

struct pattern {
	unsigned nodes, halted, clause[MOST][4];	/* clauses: sets of nodes; 0 ends */
};

static unsigned
draw(unsigned below)
{
	return (unsigned)rand() % below;
}

static struct pattern
make(void)
{
	struct pattern p = { .nodes = 2 + draw(MOST - 1) };

	for (unsigned n = 0; n < p.nodes; n++) {
		unsigned clauses = draw(4);

		p.halted |= (unsigned)(draw(20) == 0) << n;
		for (unsigned c = 0; c < clauses; c++)
			for (unsigned i = 1 + draw(3); i > 0; i--)
				p.clause[n][c] |= 1u << draw(p.nodes);
	}
	if (draw(2) == 0) {		/* a planted cycle of the first nodes */
		unsigned length = 1 + draw(p.nodes);

		for (unsigned n = 0; n < length; n++)
			p.clause[n][0] = 1u << (n + 1) % length;
	}
	return p;
}

static bool
is_closed(const struct pattern *p, unsigned set)
{
	for (unsigned n = 0; n < p->nodes; n++) {
		bool held = !(set & 1u << n) || (p->halted & 1u << n);

		for (unsigned c = 0; c < 4 && p->clause[n][c] != 0; c++)
			held |= (p->clause[n][c] & ~set) == 0;
		if (!held)
			return false;
	}
	return true;
}

/* The nodes that the stuck ones wait for in clauses that never end. */
static unsigned
awaited(const struct pattern *p, unsigned stuck)
{
	unsigned set = 0;

	for (unsigned n = 0; n < p->nodes; n++)
		for (unsigned c = 0; c < 4 && p->clause[n][c] != 0; c++)
			if ((stuck & ~p->halted & 1u << n) && (p->clause[n][c] & ~stuck) == 0)
				set |= p->clause[n][c];
	return set;
}

static bool
agrees(const struct pattern *p)
{
	unsigned all = 0, stuck = 0, core = 0;
	struct solve s = { 0 };

	for (unsigned set = 1; set < 1u << p->nodes; set++)
		if (is_closed(p, set))
			all |= set;
	for (unsigned n = 0; n < p->nodes; n++) {
		solve_node(&s, p->halted & 1u << n);
		for (unsigned c = 0; c < 4 && p->clause[n][c] != 0; c++) {
			solve_clause(&s);
			for (unsigned m = 0; m < p->nodes; m++)
				if (p->clause[n][c] & 1u << m)
					solve_member(&s, m);
		}
	}
	solve(&s);
	for (unsigned n = 0; n < p->nodes; n++) {
		stuck |= (unsigned)s.nodes[n].stuck << n;
		core |= (unsigned)s.nodes[n].core << n;
	}
	solve_free(&s);
	/* A halted node is a core only to those that wait for it. */
	return stuck == all && (core & ~stuck) == 0 &&
	    ((stuck & ~p->halted) == 0) == (core == 0) && is_closed(p, core) &&
	    (core & p->halted & ~awaited(p, stuck)) == 0;
}

int
main(int argc, char **argv)
{
	const int patterns = argc > 1 ? atoi(argv[1]) : 10000;

	tool = "knots";
	srand(1);
	for (int i = 0; i < patterns; i++) {
		struct pattern p = make();

		if (!agrees(&p)) {
			printf("pattern %d differs\n", i);
			return ANSWER_IS_NO;
		}
	}
	printf("%d patterns\n", patterns);
	return DONE;
}
