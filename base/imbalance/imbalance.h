/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of lp-imbalance as text and as JSON, from the counts of base/waits. */
#ifndef IMBALANCE_H
#define IMBALANCE_H

#include "../tool/fields.h"
#include "../tool/json.h"
#include "../waits/functions.h"
#include "../waits/waits.h"

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

struct view {
	bool all;	/* every line of a table */
	bool whole;	/* efficiencies of the whole run: base/run/span.h */
	int by;		/* enum dimension; -1: the overview */
	const struct critical *critical;	/* or NULL */
	const struct times *ideal;		/* or NULL */
};

extern const char *const dimension_names[DIMENSIONS + 4];	/* and BY_FUNCTION to BY_REGION */

/* table.c, json.c */
void print_table(struct text *out, const struct imbalance *im, const struct view *view);
void print_json(struct text *out, const struct imbalance *im, const struct view *view);

/* functions.c: prints nothing if the run was not sampled. */
void functions_table(struct text *out, const struct imbalance *im, bool all);
void functions_members(struct json *out, const struct imbalance *im);
void functions_rows(struct text *out, const struct imbalance *im);

/* functions.c: a line, if several threads of a process compute; in JSON otherwise null. */
void hybrid_line(struct text *out, const struct imbalance *im);
void hybrid_member(struct json *out, const struct imbalance *im);

/* ---- lines of several forms, and their fields: fields.c ---- */

struct totals_line {
	const char *what, *name;
	struct totals of;
};
extern const struct field totals_fields[], share_fields[], delay_fields[], critical_fields[];

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

#endif
