/* SPDX-License-Identifier: BSD-3-Clause */
/* What lp-measure has to do, and the doing of one function at one size. */
#ifndef JOBS_H
#define JOBS_H

#include "../../base/stream/stream.h"
#include "measure.h"
#include "own.h"

struct options {
	const char *functions;		/* NULL: those of the file's guidelines, or all */
	const char *sizes, *reps_file, *output;
	const char *guidelines;		/* NULL or a file of them */
	const char *confirm;		/* a file of candidates: these only, a second time */
	const char *control;		/* NULL: the first that is chosen */
	size_t reps, splits, warm_up;
	enum sync_kind sync;
	int64_t window_ns;
	enum type type;
	int root;
	int64_t seed;			/* -1: from the clock */
	int64_t budget_ns;		/* 0: none */
	bool plain, check, list;
};

/* A function at one size, with all that it is compared with. */
struct group {
	const struct subject *function;
	size_t bytes;
	size_t reps;
};

struct state {
	struct options opt;
	struct sync sync;
	struct call call;
	struct random random;		/* the same on all ranks */
	struct writer out;
	struct group *groups;
	size_t group_count;
	const struct subject *control;
	struct own_file own;		/* guidelines of the file */
	size_t *sizes, size_count;
	int64_t began_ns;
};

/* Measures the group at this place of the order, and writes what comes out. */
void measure_group(struct state *s, size_t position);

/* Compares the results of everything there is; false: a guideline of the file cannot be made. */
bool check_all(struct state *s);
/* Whether all guidelines of the file can be made at the sizes that are planned; else it is said
 * why. */
bool own_fits(struct state *s);

#endif
