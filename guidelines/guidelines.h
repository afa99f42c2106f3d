/* SPDX-License-Identifier: BSD-3-Clause */
/* A campaign: what R mpiruns measured, the tests that are made of it, and what they say. */
#ifndef GUIDELINES_H
#define GUIDELINES_H

#include <stdint.h>

#include "../base/stream/stream.h"
#include "../base/tool/text.h"
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
	size_t capacity;
};

struct campaign {
	int64_t ranks;
	char *library;		/* "" where it is not known */
	size_t mpiruns;
	struct sample spreads;	/* of the barrier, by mpirun that has it, ns */
	size_t spread_capacity;
	struct series *series;
	size_t count, capacity;
};

/* Reads the files, or dies; what a test needs and is not there is named. */
struct campaign read_campaign(char **files, size_t count);
const struct series *find_series(const struct campaign *c, const char *function, enum role role,
    uint64_t bytes, uint64_t part);

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
	bool violated;
};

struct verdict {
	struct judgement *at;
	size_t count, capacity;
	size_t violations;
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
};

struct verdict judge(const struct campaign *c, const struct rules_of_judging *rules);

/* report.c and plot.c */
void print_table(struct text *out, const struct campaign *c, const struct verdict *v, bool all);
void print_tables(struct text *out, const struct campaign *c, const struct verdict *v);
void print_json(struct text *out, const struct verdict *v);
void print_csv(struct text *out, const struct verdict *v);
void write_stream(const struct campaign *c, const struct verdict *v, int argc, char **argv);
void write_plots(const struct verdict *v, const char *folder);
const char *stars(double p);

/* mend.c: finds algorithms, writes FILE, measures again, and says to OUT what that changed; true
 * where nothing is violated any more. */
bool mend(const struct campaign *c, const struct verdict *v, const struct rules_of_judging *rules,
    const char *file, const char *mpirun, struct text *out);

#endif
