/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

#include "../base/tool/text.h"
#include "imbalance.h"
#include "../base/run/scaling.h"

enum form { TEXT, JSON, CSV, STREAM };

struct view {
	bool all;	/* every line of a table */
	bool whole;	/* efficiencies of the whole run: base/run/span.h */
	int by;		/* enum dimension; -1: the overview */
	const struct critical *critical;	/* or NULL */
	const struct times *ideal;		/* or NULL */
};

extern const char *const dimension_names[DIMENSIONS + 2];	/* with that of BY_FUNCTION */

/* report.c: what the forms share. */
void report(const struct imbalance *im, enum form form, const struct view *view, int argc, char **argv);
void print_table(struct text *out, const struct imbalance *im, const struct view *view);	/* table.c */
void print_json(struct text *out, const struct imbalance *im, const struct view *view);	/* json.c */
void print_csv(struct text *out, const struct imbalance *im, const struct view *view);	/* csv.c */
void write_stream(const struct imbalance *im, int argc, char **argv);	/* csv.c */

static inline double
seconds(int64_t ns)
{
	return 1e-9 * (double)ns;
}

/* times.c: several runs beside each other. */
void print_scaling(char **files, size_t count, bool weak, bool whole, enum form form);

/* The run as far as it counts. */
int64_t counted_run_ns(const struct imbalance *im);
/* The same of all locations together. */
int64_t all_time_ns(const struct imbalance *im);

/* Where the time of a rank went; all its locations together. */
struct shares {
	int64_t before_ns, compute_ns, mpi_useful_ns, wait_ns, after_ns;
	int64_t run_ns;		/* what they add up to, if all is well */
	int64_t polling_ns;	/* part of mpi_useful_ns */
};
struct shares *shares_by_rank(const struct imbalance *im);	/* to be freed */
struct shares shares_of_all(const struct imbalance *im);
bool sums_hold(const struct imbalance *im);	/* on every rank, to the nanosecond */

struct efficiency efficiency_of(const struct imbalance *im, bool whole);

/*
 * With the same run on an ideal network, by the two definitions in use.
 *	POP: transfer = ideal time / time, serialisation = largest useful / ideal time
 *	BSC modelfactors: serialisation = largest useful / time, both of the ideal run;
 *	    transfer = communication / serialisation
 */
struct ideal_efficiency {
	double transfer, serialisation, bsc_transfer, bsc_serialisation;
};
struct ideal_efficiency ideal_efficiency_of(const struct imbalance *im, const struct times *ideal,
    bool whole);

/* What is known of why all waits came about. */
struct explained {
	int64_t wait_ns;
	int64_t delay_ns;	/* by what other ranks did, or waited for, meanwhile */
	int64_t completion_ns;	/* the collective itself took so long */
};
struct explained explained_of(const struct imbalance *im);
double explained_share(const struct explained *e);	/* 1 where nobody waits */

/* The cells that have anything, most wait first, then by number. */
struct line {
	size_t index;
	const struct cell *cell;
	int64_t wait_ns;
};
struct line *sorted_cells(const struct imbalance *im, enum dimension dimension, size_t *count);
/* What INDEX of the dimension is called, into TEXT. */
const char *index_text(const struct imbalance *im, enum dimension dimension, size_t index, char *text,
    size_t size);

/* The heuristic estimate: of the compute up to a call site, the largest of a rank over the mean of all. */
double site_heuristic(const struct imbalance *im, size_t site);

/* The first line of every form: the run, and whose delays cost the others most; to be freed. */
char *imbalance_verdict(const struct imbalance *im);

/* A value by name, for limits; false: there is none of that name. */
bool value_of(const struct imbalance *im, const char *name, bool whole, double *value);
/* Says which of NAME=VALUE are exceeded; true if any is. */
bool check_limits(const struct imbalance *im, const char **limits, size_t count, bool whole);

#endif
