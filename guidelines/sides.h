/* SPDX-License-Identifier: BSD-3-Clause */
/* Campaigns beside each other: of other libraries, versions, numbers of ranks, or before and after. */
#ifndef SIDES_H
#define SIDES_H

#include "guidelines.h"

struct side {
	const char *folder;
	char name[160];		/* what the sides differ in, for columns and legends; visible */
	struct campaign c;
	struct verdict v;
};

/* A guideline, in as many sides as have it. */
struct row {
	enum kind kind;
	const char *guideline;
};

struct sides {
	struct side *at;
	size_t count;
	struct row *rows;	/* by kind and name */
	size_t row_count, row_capacity;
};

/* How a function's time is on another side than the first: shares, from all pairs of mpiruns. */
struct change {
	double share, low, high;	/* NAN where a side has not measured it */
};

/* Each FOLDER has the *.run files of a campaign; a file is one, too. */
struct sides read_sides(char **folders, size_t count, const struct rules_of_judging *rules);
struct change change_of(const struct sides *s, size_t side, const struct judgement *j,
    const struct rules_of_judging *rules);
/* The guideline at the size, where there are several parts of a split the one of the greatest ratio; or NULL. */
const struct judgement *find_judgement(const struct side *side, const char *guideline, uint64_t bytes);
/* Whether any side finds it violated; then J is the first such. */
bool is_news(const struct sides *s, const struct row *row, uint64_t bytes);
/* Ascending sizes at which any side has the guideline. */
uint64_t *row_sizes(const struct sides *s, const struct row *row, size_t *count);

/* sides_print.c */
void print_sides(struct text *out, const struct sides *s, const struct rules_of_judging *rules, bool all);
void print_sides_json(struct text *out, const struct sides *s, const struct rules_of_judging *rules);
void print_sides_csv(struct text *out, const struct sides *s, const struct rules_of_judging *rules);
/* A script for each guideline that any side finds violated: run times of all sides, with their spread. */
void plot_sides(const struct sides *s, const char *folder);

#endif
