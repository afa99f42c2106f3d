/* SPDX-License-Identifier: BSD-3-Clause */
/* A campaign: what R mpiruns measured, the tests that are made of it, and what they say. */
#ifndef GUIDELINES_H
#define GUIDELINES_H

#include <stdint.h>

#include "../base/stream/stream.h"
#include "../base/tool/fields.h"
#include "../base/tool/tool.h"
#include "../base/statistics/statistics.h"

enum role { FUNCTION, MOCKUP, SPLIT, CONTROL };

/* One subject at one size in all mpiruns. */
struct series {
	char *name;		/* "MPI_Gather", "Gather_as_Allgather" */
	char *function;		/* "MPI_Gather" in both */
	char *guideline;	/* "Gather <= Allgather", of a MOCKUP */
	enum role role;
	int number;		/* of the guideline in the paper, or from 20 on */
	uint64_t bytes;		/* m: of a block */
	uint64_t volume;	/* n: of all blocks, bytes */
	uint64_t part;		/* of a SPLIT: bytes of each of its calls */
	struct sample medians;	/* by mpirun, ns */
	/* likewise, the lower ones: another load hardly moves them */
	struct sample quartiles;
	size_t capacity, quartile_capacity, reps;
};

/* What a campaign is one in: mpiruns that differ in it are no repetitions of each other. */
struct setting {
	int64_t ranks, root;
	char *library, *hosts, *type, *sync;	/* "" where it is not known */
	char *mended;		/* rules of lp-mend; "" where it was not there */
};

struct campaign {
	struct setting setting;
	/* the candidates once more, in mpiruns of their own; or NULL */
	struct campaign *confirm;
	size_t mpiruns;
	struct sample spreads;	/* of the barrier, by mpirun that has it, ns */
	size_t spread_capacity;
	struct series *series;
	size_t count, capacity;
};

/*
 * Reads the files, or dies; what a test needs and is not there is named. Mpiruns of the stage that
 * confirms become a campaign of their own.
 */
struct campaign read_campaign(char **files, size_t count);
const struct series *find_series(const struct campaign *c, const char *function, enum role role,
    uint64_t bytes, uint64_t part);

/* A copy with each value times FACTOR; to be freed. */
struct sample scaled(const struct sample *sample, double factor);

/* Of the same name, function, role and sizes; or NULL. */
struct series *same_series(const struct campaign *c, const struct series *wanted);

enum kind { MONOTONY, SPLIT_ROBUSTNESS, PATTERN, KINDS };
extern const char *const kind_names[];
const char *short_name(const char *function);	/* without MPI_ */

/* "function at these bytes takes no longer than the other": one of the tests. */
struct judgement {
	enum kind kind;
	char *guideline;	/* "Gather <= Allgather", "Gather(n) <= Gather(n+k)" */
	const struct series *function;	/* that should be the faster */
	const struct series *other;	/* mock-up, next size, or the size split into */
	double factor;		/* that the other's time is multiplied with */
	double function_ns, other_ns;	/* medians over mpiruns; the other's with its factor */
	double ratio;		/* of the two; above 1 the function is slower */
	struct effect shift;	/* Hodges-Lehmann, ns */
	double p, p_normal, p_adjusted;
	double screen_ratio;	/* of the lower quartiles, median of pairs, in the first stage */
	bool candidate;		/* for the second stage */
	bool tested;		/* there: the values above are of it */
	bool violated;
	/* neither violated, nor would a difference that counts have been seen */
	bool undecided;
	/* the least difference that would have been, with probability POWER */
	double seen_ns;
	/* Of the output: */
	uint64_t bytes, volume, other_bytes;
	const char *sure, *name, *other_name;	/* stars; "MPI_Gather"; a mock-up, or "split" */
	/* the guideline, and the other side's size where that is not the function's */
	char *text;
	/* seen_ns; NaN, or -1, where nothing would have been seen */
	double margin_ns, known_margin_ns;
};

#define POWER 0.9

struct verdict {
	struct judgement *at;
	size_t count, capacity;
	size_t violations, undecided, tests;
	bool paired, staged;	/* judged by pairs; by a second stage */
	double margin_ns;	/* a smaller gap is no violation */
	bool has_control, control_failed;
	double control_p;	/* the least, adjusted among the control's own tests */
	const struct series *control;	/* where that was */
	size_t needed;		/* mpiruns, before any of so many tests can be significant */
};

struct rules_of_judging {
	enum test test;
	enum correction correction;
	double alpha;
	double margin_ns;	/* negative: the barrier's spread */
	/* pairs: a function that is so much slower, a share, is no violation */
	double slower;
	double difference;	/* held is only where so much, a share, would have been seen */
	bool paired;		/* judged by pairs of mpiruns even where there is one stage */
};

struct verdict judge(const struct campaign *c, const struct rules_of_judging *rules);

/* stages.c: tests of pairs, an mpirun being a pair; and the second stage. */
void test_pairs(struct judgement *j, const struct rules_of_judging *rules);
void take_confirmed(struct verdict *v, const struct campaign *confirm,
    const struct rules_of_judging *rules);
/* Judgements that are neither violated nor known to be held. */
void find_undecided(struct verdict *v, const struct rules_of_judging *rules);
/* What the second stage is to measure, as lp-measure takes it; returns how many. */
size_t write_candidates(const struct campaign *c, const struct verdict *v, const char *file);

/* report.c, forms.c and plot.c */
extern const struct field violation_fields[], undecided_fields[];	/* of a struct judgement */
void print_table(struct text *out, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules, bool all);
void print_tables(struct text *out, const struct campaign *c, const struct verdict *v);
void print_json(struct text *out, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules);
void print_csv(struct text *out, const struct verdict *v);
void write_stream(const struct campaign *c, const struct verdict *v, int argc, char **argv);
void write_plots(const struct verdict *v, const char *folder);
const char *stars(double p);
char *count_violated(const struct verdict *v, enum kind kind);	/* "2/7" guidelines; to be freed */
/* Keeps sizes ascending, each once. */
void add_size(uint64_t **sizes, size_t *count, size_t *capacity, uint64_t bytes);
const char *verdict_word(const struct verdict *v);	/* violated, not decidable or held */

/* mend.c: finds algorithms, writes FILE, measures again, and says to OUT what that changed; true
 * where nothing is violated any more. C and V become those under the rules, where there are any. */
bool mend(struct campaign *c, struct verdict *v, const struct rules_of_judging *rules,
    const char *file, const char *mpirun, struct text *out);

/* ---- sides.c: campaigns of other libraries, versions or numbers of ranks, or before and after
 * ------- */

struct side {
	const char *folder;
	char name[160];		/* what the sides differ in, for columns and legends; visible */
	struct campaign c;
	struct verdict v;
	/* Of the output: */
	char letter[2], *violated[KINDS];	/* by kind, "2/7" */
	bool mended;
	size_t confirming;
	const char *verdict, *control;
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
/* The guideline at the size, where there are several parts of a split the one of the greatest
 * ratio; or NULL. */
const struct judgement *find_judgement(const struct side *side, const char *guideline,
    uint64_t bytes);
/* Whether any side finds it violated; at any size. */
bool is_news(const struct sides *s, const struct row *row, uint64_t bytes);
bool has_news(const struct sides *s, const struct row *row);
/* Ascending sizes at which any side has the guideline. */
uint64_t *row_sizes(const struct sides *s, const struct row *row, size_t *count);

/* sides_print.c */
void print_sides(struct text *out, struct sides *s, const struct rules_of_judging *rules, bool all);
void print_sides_json(struct text *out, struct sides *s, const struct rules_of_judging *rules);
void print_sides_csv(struct text *out, const struct sides *s, const struct rules_of_judging *rules);
/* A script for each guideline that any side finds violated: run times of all sides, with their
 * spread. */
void plot_sides(const struct sides *s, const char *folder);

#endif
