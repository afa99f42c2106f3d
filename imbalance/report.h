/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_H
#define REPORT_H

#include "../base/imbalance/imbalance.h"
#include "../base/run/sections.h"
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

/* ---- by.c: --by step and region, and --every: sums of each section ------------------ */

/*
 * A rank in a section: all its locations. OUTSIDE is the part of computing that is not useful: in
 * other threads than the first, and from MPI_Finalize on. Waits are in MPI. Open time is in calls
 * that had not returned or whose other end had not come.
 */
enum time { COMPUTING, OUTSIDE, IN_MPI, WAITING, OPEN, TIMES };
struct share {
	int64_t ns[TIMES];
	double cost_ns;		/* of its delays, in waits of all ranks that ended in this one */
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

struct section_sums {
	struct share *shares;		/* by rank; NULL: not begun */
	int64_t open_calls;
	struct pairs *pairs;		/* of a window */
};

/* The progress of a location's account. */
struct account {
	int64_t until_ns;
	bool began;			/* its first call has come */
};

struct by_section {
	struct observer observer;	/* first */
	struct imbalance *im;
	struct sections sections;
	enum form form;
	struct account *accounts;	/* by location; NULL: the run has not begun */
	int64_t *begin_ns, *end_ns;	/* by rank: its span */
	uint32_t last;			/* location of the call just seen */
	int64_t last_ns;		/* its leave */
	struct section_sums *late;	/* of that instant, for its delays; NULL: none yet */
	int64_t open_ns;	/* windows before it have been printed; INT64_MIN: there are none */
	int64_t told_ns;	/* last output of calls that hold up the next window */
	/* SCREEN: of a terminal, where each window replaces the one before */
	bool ended, screen;
	struct text text;
	struct json json;
	struct section_line *lines;	/* by number of section, without windows */
	size_t line_capacity;
};

/* EVERY_NS: of windows, else 0. STEPS: 0, or how many a loop must have. */
void print_by_section(struct imbalance *im, const char *file, const struct view *view,
    int64_t every_ns, uint64_t steps, enum form form);

/* window.c: prints a window. */
void tell_window(struct by_section *by, const struct section_sums *w, int64_t from_ns,
    int64_t to_ns);
/* Prints which calls hold up the next window. ALL_UNTIL_NS: all is complete before. */
void tell_open_calls(struct by_section *by, const struct reached *now, int64_t all_until_ns);

/* by_output.c: a step or region as a line, and all of them. */
struct section_line {
	struct section_row row;
	int64_t compute_ns, mpi_ns, wait_ns;	/* of all ranks; waits are part of MPI */
	int64_t rank, rank_ns;			/* that computes most */
	double others_ns;			/* mean computation of the others */
	int64_t late;				/* the rank whose delays cost most; -1: none */
	double cost_ns, late_ns;		/* of all delays; of its own */
};

struct section_line section_line(const struct section_sums *sums, int32_t ranks);
void print_sections(struct by_section *by, bool all);

#endif
