/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by section: sums (by.c), steps that took long (slow.c), and output (by_output.c). */
#ifndef BY_H
#define BY_H

#include "../base/run/sections.h"
#include "critpath.h"

/* What a rank on the path does: its computation by switches, or all COMPUTING without. */
enum cause { COMPUTING, BLOCKED, PREEMPTED, CALLING, RECEIVING, CAUSES };
extern const char *const cause_names[CAUSES];

/* The path through a section. Its parts make up path_ns. */
struct section_path {
	struct section_row row;
	int64_t path_ns, start_ns, polls_ns;
	int64_t ns[CAUSES];
	int64_t rank;			/* with the most of it */
	int64_t rank_ns;
	char *where, *function;		/* where most of it is; NULL: unknown */
	const char *slow;		/* if it is a slow step, the sentence */
	uint64_t kind;
	struct cause_at {		/* the rank with the most of each, and where */
		int64_t rank, ns;
		uint32_t site;
	} of[CAUSES];
};

/* A step that took longer than its like. */
struct slow {
	const struct section_path *step;
	const char *label;
	int64_t instance, of;		/* of so many steps */
	double times;			/* as long as the median of its like */
	int64_t extra_ns, cause_ns;	/* more than their median: in all, and of the cause */
	enum cause cause;
	const char *cause_name;
	int64_t rank, ns;		/* its time of that cause */
	char *where, *function, *sentence;
};

/* How the steps of a loop grow: Theil's and Sen's slope, with its interval of 95 %. */
struct trend {
	const char *label;
	int64_t steps;			/* whose lengths count */
	double slope_ns, low_ns, high_ns;	/* a step */
	double growth;			/* from the first to the last, as a share of the median */
};

struct by_section {
	struct sections sections;
	struct open_section *open;
	size_t open_count, open_capacity;
	struct section_path *paths;	/* by number of section */
	size_t path_capacity;
	uint32_t visited;		/* the section that the path is in */
};

/* Slow steps, the slowest first; free() them. */
struct slow *slow_steps(const struct by_section *by, const struct definitions *known,
    size_t *count);
/* False: too few steps. */
bool trend_of(const struct by_section *by, size_t loop, struct trend *trend);
void by_print(struct critpath *c);

#endif
