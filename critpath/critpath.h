/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool's options and state, the path as a whole and in parts, and its output. */
#ifndef CRITPATH_H
#define CRITPATH_H

#include "../base/path/output.h"
#include "../base/path/solvers/solvers.h"
#include "../base/run/index.h"
#include "../base/run/sections.h"

/* ---- options.c ----------------------------------------------------------------------------- */

enum algorithm { WALK, KAHN, DIJKSTRA, DELTA, INTERVALS };
/* How stretches follow each other, and the algorithm within one: in sequence or in parallel. */
enum splits { UNSAID = -1, SEQ_SEQ, SEQ_PAR, PAR_SEQ, PAR_PAR };

enum { BY_STEP, BY_REGION, BY_WINDOW };

struct options {
	enum algorithm algorithm;
	enum form form;
	enum splits splits;
	bool all, join, whole, distance;
	const char *json;		/* a file for JSON beside the form; NULL: none */
	const char *verdict;		/* file with the verdict for JSON; NULL: that of the path */
	size_t memory;			/* bytes for rows; SIZE_MAX: unsaid */
	int64_t every_ns;		/* of BY_WINDOW */
	int by;				/* BY_STEP, ...; -1: the path as one */
	int64_t steps;			/* 0: unsaid */
	int list;			/* how many parts to list; 0: none */
	int part, parts;		/* solve PART, from 1, of PARTS; 0: the whole run */
	char **files;			/* with join several; NULL or "-": standard input */
	int file_count;
};

extern const char usage[];

struct options parse_options(int argc, char **argv);

/* ---- the tool ---------------------------------------------------------------------------- */

struct critpath {
	struct options opt;
	struct team team;
	struct run run;
	struct output output;
	struct segments segments;	/* of one stretch, or of a part of it */
	struct functions functions;
	struct distance {		/* of --distance, from the exact path: both name the same */
		bool wanted;
		int64_t all_ns;		/* of the exact path */
		int64_t same_rank_ns;	/* both are on the same rank */
		int64_t same_site_ns;	/* and before or in a call at the same site */
	} distance;
	struct by_section *by;		/* of --by and --every; else NULL */
};

extern solver *const solvers[];		/* by enum algorithm */

/* Adds the rest of a stretch, or all of it, to the sums and to a stream. */
void put_sums(struct critpath *c, const struct segments *segments);	/* only to the sums */
void put_segments(struct critpath *c, const struct segments *segments);
void end_output(struct critpath *c);

/* ---- together.c ---------------------------------------------------------------------------- */

struct path {
	struct segments segments;
	uint64_t *counts;		/* segments of each stretch */
	size_t stretches, capacity;
};

/* Notes that one more stretch has added its segments to the BEFORE earlier ones. */
void path_end_stretch(struct path *path, size_t before);
/* Appends MORE and frees it. */
void path_append(struct path *path, struct path *more);
/* Member 0 gets the parts of all, in the order of members. */
void path_gather(struct path *path, const struct team *team);

/* The path of intervals. Members read calls by location and solve intervals by period of time. */
void path_find_intervals(struct path *path, struct run *run, const struct team *team,
    struct report *report);
/* If the run has samples, takes the segments from number FROM on. */
void path_count_functions(const struct path *path, size_t from, const struct run *run);
/* Moves PATH's segments into the report. */
void path_report(struct path *path, const struct definitions *known, struct report *report);

struct part read_part(const struct critpath *c, int index, int count);
void solve_together(struct critpath *c, int argc, char **argv);

/* ---- parts.c ------------------------------------------------------------------------------- */

/* Where the stretches of a run are in its stream: from its index, or else from its messages. */
void parts_read(struct index *index, const char *file);
/*
 * Part NUMBER, from 0, of COUNT with about equal numbers of rows, and its ROWS. With few entries
 * some parts are empty.
 */
struct part part_of(const struct index *index, int number, int count, uint64_t *rows);

/* ---- intervals.c: the path by intervals, an approximation --------------------------------- */

bool solve_intervals(const struct stretch *stretch, struct segments *segments);

/* Computation of a location between two calls. */
struct interval {
	int64_t begin_ns, end_ns;
	uint32_t location;
	uint32_t site;		/* of the call that ends it */
	int64_t call_enter_ns;	/* of the call before it */
	uint32_t call_site;
	uint16_t call;		/* index of call_name; 0: there is none before it */
	uint8_t kind;		/* COMPUTE or START */
};

struct intervals {
	struct interval *at;
	size_t count, capacity;
};

/* The call that a stretch ends in. */
struct ending {
	int64_t end_ns, enter_ns;
	uint64_t intervals;		/* number of intervals sent with it */
	uint32_t location, site;
	uint16_t call;
};

void add_interval(struct intervals *intervals, struct interval interval);
/* Adds the location's intervals in the stretch, in order of time. */
void add_intervals(struct intervals *intervals, const struct stretch *stretch, uint32_t location);
/* Merges ARRAYS sorted arrays into one; they begin at BOUNDS, which has room for 2 more. */
void merge_intervals(struct intervals *intervals, size_t *bounds, size_t arrays);
/* Appends the path through all groups from BEGIN_NS to the end. */
void connect_groups(const struct intervals *intervals, int64_t begin_ns,
    const struct ending *ending, struct segments *segments);

/* Adds a stretch whose approximate path is SEGMENTS. */
void distance_add(struct distance *distance, const struct stretch *stretch,
    const struct segments *segments);
double distance_share(const struct distance *distance, int64_t same_ns);

/* ---- functions: the path by function -------------------------------------------------------- */

/* functions_list.c */
/* of parts that are not computation; NULL: computation */
extern const char *const other_names[KINDS];
/* Stacks with their times for flame graphs: on the path, and in all. */
void functions_stacks(struct text *out, const struct functions *functions,
    const struct definitions *known, bool speedscope);
enum by { BY_FUNCTION, BY_LINE };

/* A row of a report: a function's own samples, and those with its callees. */
struct function {
	struct stack_frame frame;	/* of a function: its most frequent line */
	uint64_t all, samples;
	uint64_t all_inclusive, inclusive;
	int64_t path_ns;		/* of the samples: a list adds up to the time on a core */
};

/* A list with the totals of its shares. */
struct listed {
	const struct functions *of;
	struct on_path on_path;
	struct function *at;
	size_t count;
	int64_t path_ns;
	uint64_t all;		/* samples; 1: there are none */
};

/* The largest part of the path first; free() its rows. */
struct listed functions_list(const struct functions *functions,
    const struct definitions *known, enum by by);
int functions_by_path(const void *left, const void *right);

/* functions_rows.c: a run with switches; the times add up to the time blocked on the path. */
struct rows blocked_rows(const struct listed *functions, const struct definitions *known);
/* A run with switches; the times add up to awaited_ns of all places. */
struct rows awaited_rows(const struct listed *functions, const struct definitions *known);
/* Samples with counters. */
struct rows counted_rows(const struct functions *functions, const struct definitions *known);

/* functions_report.c */
void functions_text(struct text *out, const struct functions *functions,
    const struct definitions *known, bool all);
void functions_json(struct json *out, const struct functions *functions,
    const struct definitions *known);
void computation_json(struct json *out, const struct functions *functions,
    const struct on_path *path);

/* ---- by.c: --by and --every: sums of each section; slow.c: steps that took long ------------ */

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
	struct section_path *paths;	/* by number of section, without windows */
	size_t path_capacity;
	struct same_sites same;
	uint64_t visited;		/* the section that the path is in */
	bool screen;		/* of a terminal: each window replaces the previous one */
};

/* Slow steps, the slowest first; free() them. */
struct slow *slow_steps(const struct by_section *by, const struct definitions *known,
    size_t *count);
/* False: too few steps. */
bool trend_of(const struct by_section *by, size_t loop, struct trend *trend);
void by_begin(struct critpath *c);
void by_see(struct critpath *c, const struct message *message);
void by_add(struct critpath *c, const struct segments *segments);
void by_end(struct critpath *c);
void by_print(struct critpath *c);	/* by_output.c */
/* window.c: a line for a window of the path; nothing if the path is not in it. */
void tell_window(struct critpath *c, const struct report *report);

#endif
