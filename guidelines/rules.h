/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between mending with its rules file (mend.c) and its mpiruns (launch.c). */
#ifndef RULES_H
#define RULES_H

#include "guidelines.h"

/* What coll/tuned compares with MSGSIZE: the vector, p blocks, or nothing useful. */
enum compared { VECTOR, BLOCKS, NOTHING };

/* Identifiers and algorithms of Open MPI 4.1.4; TWO_RANKS is the algorithm for exactly 2 ranks. */
struct tuned {
	const char *function;
	int id, algorithms, two_ranks;
	enum compared compared;
	unsigned segmented;	/* bit A: algorithm A supports segments */
};

enum { NO_ALGORITHM = 99, AS_IS = -1, DECISION = 0 };

/* A function at a measured size: the rule from there to the next size. */
struct rule {
	const struct tuned *tuned;
	const struct series *series;
	bool violated;
	int algorithm;		/* AS_IS: no rule; DECISION: the library's own choice by size */
	int segment;		/* bytes; 0: whole messages */
	double as_is_ns, best_ns;	/* the least without rules; median of the best algorithm */
};

struct mending {
	const struct campaign *c;
	const char *mpirun;
	/* for our files: beside FILE, visible on all nodes; absolute */
	char *folder;
	struct rule *rules;	/* by function, then size */
	size_t count, capacity;
};


/* All rules; BROKEN: with non-existent algorithms instead. */
void write_rules(const struct mending *m, const char *path, bool broken);

/* launch.c: our files are in m->folder. */
char *make_folder(const char *file);
void remove_files(const struct mending *m);

enum how { QUIET, LOUD, COUNTING };	/* LOUD shows mpirun's output; COUNTING counts messages */
/*
 * Runs lp-measure with the arguments under the rules file (NULL: under the user's settings) with
 * its stream to OUT. Returns whether it succeeded.
 */
bool run_measure(const struct mending *m, const char *rules, const char *arguments,
    const char *out, enum how how);
/* Whether the library reads the file of write_rules; reports the evidence for each rule. */
bool is_read(struct text *report, const struct mending *m, const char *file);
/* Repeats the campaign under the rules, with as many mpiruns of each stage, judged as in HOW. */
struct campaign measure_again(const struct mending *m, const char *rules,
    const struct rules_of_judging *how);

#endif
