/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

#include "../base/tool/fields.h"
#include "../base/tool/hash_table.h"
#include "../base/tool/json.h"
#include "../base/waits/functions.h"
#include "../base/waits/waits.h"

/*
 * What the critical path says of the imbalance (Boehme, Wolf, de Supinski, Schulz, Geimer: Scalable
 * critical-path based performance analysis, IPDPS 2012). For each call site c, CP_c is the time on
 * the path spent in it or computing up to it, t_c(r) the same time of rank r anywhere, waits left
 * out.
 *
 *	critical imbalance = max(0, CP_c - mean over r of t_c(r))
 *	activity impact = sum over r of min(CP_c, t_c(r))
 *	imbalance impact = sum over r of max(0, CP_c - t_c(r)) *
 *          (|CP| - sum t(r)) / (r's sum of these)
 *
 * The impacts are processor time: of all c, and waits that no site explains, they make up ranks *
 * |CP|.
 */

struct critical_site {
	uint32_t site;
	int32_t rank;			/* with the largest part of it on the path */
	int64_t path_ns;
	double mean_ns, imbalance_ns, activity_impact_ns, imbalance_impact_ns;
};

struct critical {
	int64_t length_ns, transfer_ns;
	struct critical_site *sites;	/* largest critical imbalance first */
	size_t count;
};

/* From a path stream of lp-critpath and the counted times; FILE must be of the same run. */
struct critical read_critical(const struct imbalance *im, const char *file);

enum form { TEXT, JSON, CSV, STREAM };

struct view {
	bool all;	/* every line of a table */
	bool whole;	/* efficiencies of the whole run: base/run/span.h */
	int by;		/* enum dimension; -1: the overview */
	const struct critical *critical;	/* or NULL */
	const struct times *ideal;		/* or NULL */
};

extern const char *const dimension_names[DIMENSIONS + 4];	/* and BY_FUNCTION to BY_REGION */

/* report.c: code for all forms. Writes the file NAME; NULL: standard output. */
void report(const struct imbalance *im, enum form form, const char *name,
    const struct view *view, int argc, char **argv);
/* table.c */
void print_table(struct text *out, const struct imbalance *im, const struct view *view);
void print_json(struct text *out, const struct imbalance *im, const struct view *view);	/* json.c */
void print_csv(struct text *out, const struct imbalance *im, const struct view *view);	/* csv.c */
void write_stream(const struct imbalance *im, int argc, char **argv);	/* csv.c */

/* report.c: several runs side by side. */
void print_scaling(char **files, size_t count, bool weak, bool whole, enum form form);

/* functions_report.c: prints nothing if the run was not sampled. */
void functions_table(struct text *out, const struct imbalance *im, bool all);
void functions_members(struct json *out, const struct imbalance *im);
void functions_rows(struct text *out, const struct imbalance *im);

/* counters.c: if samples have counters. */
void counters_text(struct text *out, const struct imbalance *im, const struct by_function *by,
    bool all);
void counters_json(struct json *out, const struct imbalance *im, const struct by_function *by);

/* functions_report.c: a line, if several threads of a process compute; in JSON otherwise null. */
void hybrid_line(struct text *out, const struct imbalance *im);
void hybrid_member(struct json *out, const struct imbalance *im);

/* ---- lines of several forms, and their fields: fields.c ---- */

struct totals_line {
	const char *what, *name;
	int64_t total_ns, wait_ns;
	double imbalance;
	struct totals of;
};
extern const struct field totals_fields[], share_fields[], delay_fields[], critical_fields[];
struct totals_line totals_line(const char *what, const char *name, const struct totals *totals);

struct delay_line {
	double cost_ns, short_ns, long_ns;
	int32_t rank;
	const char *kind, *where;
};
struct delay_line delay_line(const struct delay *delay);	/* without WHERE */

struct critical_line {
	struct critical_site of;
	const char *where;
};

/* A value by name, for limits; false: there is no such name. */
bool value_of(const struct imbalance *im, const char *name, bool whole, double *value);
/* Reports each NAME=VALUE that is exceeded; true if any is. */
bool check_limits(const struct imbalance *im, const char **limits, size_t count, bool whole);

/* Windows of the run: their sums (every.c), and a line or a screen for each (window.c). */

/*
 * A rank in a window: all its locations; the useful time is that of its first thread within its
 * span. Open time is in calls that had not returned or whose other end had not come.
 */
struct share {
	int64_t useful_ns, compute_ns, mpi_ns, wait_ns, open_ns;
	double cost_ns;		/* of its delays, in waits of all ranks that ended in this window */
};

/* A rank that waits for another one, or that is late at a site. */
struct pair {
	int32_t rank;		/* -1: a free slot */
	int32_t for_rank;	/* -1: it is late */
	uint32_t key;		/* if late: where, as in struct delay */
	double ns;		/* of waits */
};

#define PAIR_HASH(p) mix((uint64_t)(uint32_t)(p)->rank << 32 | (uint32_t)(p)->for_rank, (p)->key)
#define PAIR_SAME(a, b) \
	((a)->rank == (b)->rank && (a)->for_rank == (b)->for_rank && (a)->key == (b)->key)
HASH_TABLE_BY(pairs, struct pair, PAIR_HASH, PAIR_SAME, rank, -1)

struct window_sums {
	struct share *shares;		/* by rank; NULL: not begun */
	int64_t open_calls;
	struct pairs pairs;
};

/* The progress of a location's account. */
struct account {
	int64_t until_ns;
	bool began;			/* its first call has come */
};

struct every {
	struct observer observer;	/* first */
	struct imbalance *im;
	int64_t every_ns;
	enum form form;
	struct account *accounts;	/* by location; NULL: the run has not begun */
	int64_t *begin_ns, *end_ns;	/* by rank: its span */
	struct window_sums *windows;	/* from number FIRST on */
	size_t first, count, capacity;
	int64_t last_ns;		/* leave of the call just seen */
	int64_t told_ns;	/* last output of a window, or of calls that hold up the next one */
	/* SCREEN: of a terminal, where each window replaces the one before */
	bool ended, screen;
	struct text text;
	struct json json;
};

void print_every(struct imbalance *im, const char *file, int64_t every_ns, enum form form);

/* window.c: prints a window. */
void tell_window(struct every *e, const struct window_sums *w, int64_t from_ns, int64_t to_ns);
/* Prints which calls hold up the next window. ALL_UNTIL_NS: all is complete before. */
void tell_open_calls(struct every *e, const struct reached *now, int64_t all_until_ns);

/* by.c: --by step and region. STEPS: 0, or how many a loop must have. */
void print_sections(struct imbalance *im, const char *file, bool regions, uint64_t steps,
    enum form form, bool all);

#endif
