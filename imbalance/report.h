/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

#include "../base/imbalance/imbalance.h"
#define HASH_LEAST_SIZE 16		/* there may be many windows */
#include "../base/tool/hash_table.h"

/* From a path stream of lp-critpath and the counted times; FILE must be of the same run. */
struct critical read_critical(const struct imbalance *im, const char *file);

enum form { TEXT, JSON, CSV, STREAM };

/* report.c: all forms. Writes the file NAME; NULL: standard output. */
void report(const struct imbalance *im, enum form form, const char *name,
    const struct view *view, int argc, char **argv);

/* report.c: several runs side by side. */
void print_scaling(char **files, size_t count, bool weak, bool whole, enum form form);

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
	struct pairs *pairs;
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
