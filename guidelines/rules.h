/* SPDX-License-Identifier: BSD-3-Clause */
/* Between mending (mend.c), the mpiruns that it makes (launch.c) and the rules file (rules.c). */
#ifndef RULES_H
#define RULES_H

#include "guidelines.h"

/* What coll/tuned compares with MSGSIZE: the vector, p blocks, or nothing of use. */
enum compared { VECTOR, BLOCKS, NOTHING };

/* Identifiers and algorithms of Open MPI 4.1.4; TWO_RANKS is the algorithm for 2 ranks only. */
struct tuned {
	const char *function;
	int id, algorithms, two_ranks;
	enum compared compared;
	unsigned segmented;	/* bit A: algorithm A can cut its messages into segments */
};
extern const struct tuned tuned[];
extern const size_t tuned_count;
const struct tuned *find_tuned(const char *function);	/* or NULL */

enum { NO_ALGORITHM = 99, AS_IS = -1, DECISION = 0 };

/* A function at a measured size: what the rule from there to the next size will say. */
struct rule {
	const struct tuned *tuned;
	const struct series *series;
	bool violated;
	int algorithm;		/* AS_IS: no rule; DECISION: the library's own choice by size */
	int segment;		/* bytes; 0: whole messages */
	double as_is_ns, best_ns;	/* the least as it is; median of the best algorithm */
};

struct mending {
	const struct campaign *c;
	const char *mpirun;
	/* for files of our own: beside FILE, which all nodes see; absolute */
	char *folder;
	struct rule *rules;	/* by function, then size */
	size_t count, capacity;
};

bool has_rule(const struct mending *m, const struct tuned *t);

/* One algorithm for all sizes and communicators. */
void write_forced(const char *path, const struct tuned *t, int algorithm, int segment);
/* All rules; BROKEN: with algorithms that do not exist in their place. */
void write_rules(const struct mending *m, const char *path, bool broken);

/* launch.c: files of our own live in m->folder. */
char *make_folder(const char *file);
void remove_files(const struct mending *m);

enum how { QUIET, LOUD, COUNTING };	/* LOUD shows what mpirun says; COUNTING counts messages */
/*
 * Runs lp-measure with the arguments under the rules file (NULL: under what the user has set), its
 * stream to OUT; false where it fails.
 */
bool run_measure(const struct mending *m, const char *rules, const char *arguments,
    const char *out, enum how how);
/* Whether the library reads the file that write_rules made; says of each rule what shows it. */
bool is_read(struct text *report, const struct mending *m, const char *file);
/* The campaign once more, in as many mpiruns of each stage, under the rules; HOW it is judged, by
 * pairs. */
struct campaign measure_again(const struct mending *m, const char *rules,
    const struct rules_of_judging *how);

#endif
