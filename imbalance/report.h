/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

#include "../base/tool/fields.h"
#include "../base/waits/functions.h"
#include "critical.h"

enum form { TEXT, JSON, CSV, STREAM };

struct view {
	bool all;	/* every line of a table */
	bool whole;	/* efficiencies of the whole run: base/run/span.h */
	int by;		/* enum dimension; -1: the overview */
	const struct critical *critical;	/* or NULL */
	const struct times *ideal;		/* or NULL */
};

extern const char *const dimension_names[DIMENSIONS + 2];	/* and the name of BY_FUNCTION */

/* report.c: code for all forms. */
void report(const struct imbalance *im, enum form form, const struct view *view,
    int argc, char **argv);
/* table.c */
void print_table(struct text *out, const struct imbalance *im, const struct view *view);
void print_json(struct text *out, const struct imbalance *im, const struct view *view);	/* json.c */
void print_csv(struct text *out, const struct imbalance *im, const struct view *view);	/* csv.c */
void write_stream(const struct imbalance *im, int argc, char **argv);	/* csv.c */

/* times.c: several runs side by side. */
void print_scaling(char **files, size_t count, bool weak, bool whole, enum form form);

/* functions_report.c: prints nothing if the run was not sampled. */
void functions_table(struct text *out, const struct imbalance *im, bool all);
void functions_members(struct json *out, const struct imbalance *im);
void functions_rows(struct text *out, const struct imbalance *im);

/* hybrid_report.c: a line, if several threads of a process compute; in JSON otherwise null. */
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

#endif
