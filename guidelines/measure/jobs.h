/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of lp-measure: each is a function at one size. */
#ifndef JOBS_H
#define JOBS_H

#include "../../base/stream/stream.h"
#include "measure.h"
#include "own.h"

struct options {
	const char *functions;		/* NULL: those of the file's guidelines, or all */
	const char *sizes, *reps_file, *output;
	const char *guidelines;		/* a file of guidelines, or NULL */
	const char *confirm;	/* a file of candidates: measures only these, a second time */
	const char *control;		/* NULL: the first one chosen */
	size_t reps, splits, warm_up;
	enum sync_kind sync;
	int64_t window_ns;
	enum type type;
	int root;
	int64_t seed;			/* -1: from the clock */
	int64_t budget_ns;		/* 0: none */
	bool plain, check, list;
};

/* A function at one size, and everything it is compared with. */
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

/* Measures the group at this position, and writes the result. */
void measure_group(struct state *s, size_t position);

/* Checks all results; returns false if a guideline of the file is impossible. */
bool check_all(struct state *s);
/* Whether all guidelines of the file are possible at the planned sizes; reports if not. */
bool own_fits(struct state *s);

#endif
