/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool's options and state, the path as a whole and in parts, and its output. */
#ifndef CRITPATH_H
#define CRITPATH_H

#include "../base/path/early.h"
#include "../base/path/output.h"
#include "solvers/intervals.h"

/* ---- options.c ----------------------------------------------------------------------------- */

enum algorithm { WALK, KAHN, DIJKSTRA, DELTA, INTERVALS };
/* How stretches follow each other, and the algorithm within one: in sequence or in parallel. */
enum splits { UNSAID = -1, SEQ_SEQ, SEQ_PAR, PAR_SEQ, PAR_PAR };

enum { BY_STEP, BY_REGION };

struct options {
	enum algorithm algorithm;
	enum form form;
	enum splits splits;
	bool all, join, whole, distance;
	const char *json;		/* a file for JSON beside the form; NULL: none */
	const char *verdict;		/* file with the verdict for JSON; NULL: that of the path */
	size_t memory;			/* bytes for rows; SIZE_MAX: unsaid */
	int64_t every_ns;		/* 0: the path as one */
	int by;				/* BY_STEP, BY_REGION; -1: the path as one */
	int64_t steps;			/* 0: unsaid */
	int list;			/* how many parts to list; 0: none */
	int part, parts;		/* solve PART, from 1, of PARTS; 0: the whole run */
	char **files;			/* with join several; NULL or "-": standard input */
	int file_count;
};

extern const char usage[];

struct options parse_options(int argc, char **argv);

/* ---- path.c -------------------------------------------------------------------------------- */

struct path {
	struct segments segments;
	uint64_t *counts;		/* segments of each stretch */
	size_t stretches, capacity;
};

/*
 * Finds the path through the stretches of a part: all of it on member 0 of the team, empty on the
 * others. RUN has been opened for both. With a REPORT the segments go there, and PATH keeps none.
 */
void path_find(struct path *path, struct run *run, solver *solve, struct report *report);
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

/* ---- parts.c ------------------------------------------------------------------------------- */

/* Where the stretches of a run are in its stream: from its index, or from its messages. */
struct chunks {
	struct chunk {			/* one stretch, or several consecutive ones */
		uint64_t rows;
		uint64_t first;		/* stretch */
		/* offset of the synchronisation point that it begins with */
		uint64_t at;
		uint64_t offset;	/* no row of it begins before */
		uint64_t stretch;	/* stretch of the stream at the offset */
	} *at;
	size_t count, capacity;
	uint64_t stretches;		/* of the run */
	uint64_t defined;		/* no definition comes after */
};

void chunks_read(struct chunks *chunks, const char *file);
void chunks_free(struct chunks *chunks);
/*
 * Part INDEX of COUNT with about equal numbers of rows, and its ROWS. With few chunks some parts
 * are empty.
 */
struct part chunks_part(const struct chunks *chunks, int index, int count, uint64_t *rows);

/* ---- functions: the path by function -------------------------------------------------------- */

/* functions_stacks.c */
/* of parts that are not computation; NULL: computation */
extern const char *const other_names[KINDS];
struct frames {
	struct stack_frame at[256];	/* the place itself first */
	size_t count;
};
struct frames frames_of(const struct definitions *known, const struct sampled *place);
/* Stacks with their times for flame graphs: on the path, and in all. */
void functions_stacks(struct text *out, const struct functions *functions,
    const struct definitions *known, bool speedscope);

/* functions_list.c */
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

/* Rows of a table or of a JSON array, the longest first; free() them. */
struct rows {
	const struct field *fields;
	void *at;
	size_t count, size;
};
/* functions_blocked.c: a run with switches; the times add up to the time blocked on the path. */
struct rows blocked_rows(const struct listed *functions, const struct definitions *known);
/* functions_awaited.c: a run with switches; the times add up to awaited_ns of all places. */
struct rows awaited_rows(const struct listed *functions, const struct definitions *known);
/* functions_counted.c: samples with counters. */
struct rows counted_rows(const struct functions *functions, const struct definitions *known);

/* functions_report.c */
void functions_text(struct text *out, const struct functions *functions,
    const struct definitions *known, bool all);
void functions_json(struct json *out, const struct functions *functions,
    const struct definitions *known);
void computation_json(struct json *out, const struct functions *functions,
    const struct on_path *path);

struct critpath {
	struct options opt;
	struct team team;
	struct part part;		/* of --part */
	struct run run;
	struct output output;
	struct segments segments;	/* of one stretch, or of a part of it */
	struct functions functions;
	struct distance distance;	/* of --distance */
	struct by_section *by;			/* of --by; else NULL */
	struct {
		struct report report;	/* of the current window of the path */
		bool screen;		/* of a terminal: each window replaces the previous one */
	} every;
};

/* every.c: --every: a line for each window of the run. Pieces of the path arrive in order. */
void every_begin(struct critpath *c);
void every_add(struct critpath *c, const struct segments *segments);
/* The current window; nothing if the path is not in it. */
void every_tell(struct critpath *c);

/* by.c: --by: sums of each section of the run. */
void by_begin(struct critpath *c);
void by_see(struct critpath *c, const struct message *message);
void by_add(struct critpath *c, const struct segments *segments);
void by_end(struct critpath *c);

/* Adds the rest of a stretch, or all of it, to the sums and to a stream. */
void put_sums(struct critpath *c, const struct segments *segments);	/* only to the sums */
void put_segments(struct critpath *c, const struct segments *segments);
void end_output(struct critpath *c);

#endif
