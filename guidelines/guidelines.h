/* SPDX-License-Identifier: BSD-3-Clause */
/* A campaign: measurements of R mpiruns, the tests made from them, and their results. */
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
	const char *name;	/* "MPI_Gather", "Gather_as_Allgather" */
	const char *function;	/* "MPI_Gather" for both */
	const char *guideline;	/* "Gather <= Allgather", for a MOCKUP */
	enum role role;
	int number;		/* of the guideline in the paper, or from 20 on */
	uint64_t bytes;		/* m: of a block */
	uint64_t volume;	/* n: of all blocks, bytes */
	uint64_t part;		/* for a SPLIT: bytes of each of its calls */
	struct sample medians;	/* by mpirun, ns */
	/* likewise; other load on the machine hardly changes a lower quartile */
	struct sample quartiles;
	size_t capacity, quartile_capacity, reps;
};

enum setting_text { LIBRARY, HOSTS, TYPE, SYNC, MENDED, SETTING_TEXTS };

/* What all mpiruns of a campaign share: else they would not be repetitions. */
struct setting {
	int64_t ranks, root;
	/* "": unknown; MENDED: rules of lp-mend; "": it was not used */
	char *text[SETTING_TEXTS];
};

struct campaign {
	struct setting setting;
	/* the second stage: candidates in further mpiruns; or NULL */
	struct campaign *confirm;
	size_t mpiruns;
	struct sample spreads;	/* of the barrier, in mpiruns that measured it, ns */
	size_t spread_capacity;
	struct series *series;
	size_t count, capacity;
};

/*
 * Reads the files, and dies naming anything that a test lacks. Mpiruns of the second stage become a
 * campaign of their own.
 */
struct campaign read_campaign(char **files, size_t count);
const struct series *find_series(const struct campaign *c, const char *function, enum role role,
    uint64_t bytes, uint64_t part);

/* A copy with each value times FACTOR; the caller frees it. */
struct sample scaled(const struct sample *sample, double factor);

/* The series of the same name (NULL: any), function, role and sizes; or NULL. */
struct series *same_series(const struct campaign *c, const struct series *wanted);

enum kind { MONOTONY, SPLIT_ROBUSTNESS, PATTERN, KINDS };
extern const char *const kind_names[];
const char *short_name(const char *function);	/* without MPI_ */

/* "The function at these bytes takes no longer than the other": one test. */
struct judgement {
	enum kind kind;
	const char *guideline;	/* "Gather <= Allgather", "Gather(n) <= Gather(n+k)" */
	const struct series *function;	/* expected to be faster */
	const struct series *other;	/* mock-up, next size, or the size of the split's parts */
	double factor;		/* multiplies the other's time */
	double function_ns, other_ns;	/* medians over mpiruns, with factor */
	double ratio;		/* of the two; above 1 the function is slower */
	struct effect shift;	/* Hodges-Lehmann, ns */
	double p, p_normal, p_adjusted;
	double screen_ratio;	/* of lower quartiles, median of pairs, in the first stage */
	bool candidate;		/* for the second stage */
	bool tested;		/* in the second stage, which the values above are from */
	bool violated;
	/* neither violated nor precise enough to rule out a relevant difference */
	bool undecided;
	/* the least difference detectable with probability POWER */
	double seen_ns;
	/* For output: */
	uint64_t bytes, volume, other_bytes;
	const char *sure, *name, *other_name;	/* stars; "MPI_Gather"; a mock-up, or "split" */
	/* the guideline, and the other side's size if it differs */
	char *text;
	/* seen_ns; NaN, or -1, if nothing was detectable */
	double margin_ns, known_margin_ns;
};

#define POWER 0.9

struct verdict {
	struct judgement *at;
	size_t count, capacity;
	size_t violations, undecided, tests;
	bool paired, staged;	/* judged by pairs; in two stages */
	double margin_ns;	/* a smaller gap is not a violation */
	bool has_control, control_failed;
	double control_p;	/* the smallest, adjusted among the control's own tests */
	const struct series *control;	/* where that was */
	size_t needed;		/* mpiruns needed before any of so many tests can be significant */
};

struct rules_of_judging {
	enum test test;
	enum correction correction;
	double alpha;
	double margin_ns;	/* negative: use the barrier's spread */
	/* pairs: slowdown, as a share, up to which there is no violation */
	double slower;
	double difference;	/* held only if a difference of this share was detectable */
	bool paired;		/* judge by pairs of mpiruns even with one stage */
};

struct verdict judge(const struct campaign *c, const struct rules_of_judging *rules);

/* Writes the candidates for the second stage, in lp-measure's format; returns their number. */
size_t write_candidates(const struct campaign *c, const struct verdict *v, const char *file);

/* report.c and plot.c */
void print_table(struct text *out, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules, bool all);
void print_tables(struct text *out, const struct campaign *c, const struct verdict *v);
void print_json(struct text *out, const struct campaign *c, const struct verdict *v,
    const struct rules_of_judging *rules);
void print_csv(struct text *out, const struct verdict *v);
void write_stream(const struct campaign *c, const struct verdict *v, int argc, char **argv);
void write_plots(const struct verdict *v, const char *folder);
const char *stars(double p);
/* "2/7" guidelines; the caller frees it */
char *count_violated(const struct verdict *v, enum kind kind);
/* Inserts a size in ascending order, unless present. */
void add_size(uint64_t **sizes, size_t *count, size_t *capacity, uint64_t bytes);
const char *verdict_word(const struct verdict *v);	/* violated, not decidable or held */

/*
 * mend.c: finds algorithms, writes FILE, measures again, and reports to OUT what that changed.
 * Returns whether nothing is violated any more. C and V become those under the rules, if there are
 * any.
 */
bool mend(struct campaign *c, struct verdict *v, const struct rules_of_judging *rules,
    const char *file, const char *mpirun, struct text *out);

/* ---- sides.c: campaigns of several libraries or numbers of ranks, or before and after ---- */

struct side {
	const char *folder;
	char name[160];	/* the difference between sides, for columns and legends; printable */
	struct campaign c;
	struct verdict v;
	/* For output: */
	char letter[2], *violated[KINDS];	/* by kind, "2/7" */
	bool mended;
	size_t confirming;
	const char *verdict, *control;
};

/* A guideline, in all sides that have it. */
struct row {
	enum kind kind;
	const char *guideline;
	uint64_t *sizes;	/* at which any side has it, ascending */
	size_t count, capacity;
	bool news;		/* some side finds it violated, at some size */
};

struct sides {
	struct side *at;
	size_t count;
	struct row *rows;	/* by kind and name */
	size_t row_count, row_capacity;
};

/* Each FOLDER has the *.run files of a campaign; it may also be a single file. */
struct sides read_sides(char **folders, size_t count, const struct rules_of_judging *rules);
/* The guideline at the size, or NULL; of several parts of a split that of the largest ratio. */
const struct judgement *find_judgement(const struct side *side, const char *guideline,
    uint64_t bytes);

/* sides_print.c */
void print_sides(struct text *out, struct sides *s, const struct rules_of_judging *rules, bool all);
void print_sides_json(struct text *out, struct sides *s, const struct rules_of_judging *rules);
void print_sides_csv(struct text *out, const struct sides *s, const struct rules_of_judging *rules);
/* A script for each guideline that any side finds violated: run times of all sides, with spread. */
void plot_sides(const struct sides *s, const char *folder);

#endif
