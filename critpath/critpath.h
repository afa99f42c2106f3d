/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool's options and state, the path as a whole and in parts, and its forms of output. */
#ifndef CRITPATH_H
#define CRITPATH_H

#include "../base/path/output.h"
#include "solvers/intervals.h"

/* ---- options.c ----------------------------------------------------------------------------- */

enum algorithm { WALK, KAHN, DIJKSTRA, DELTA, INTERVALS };
/* The algorithm on a stretch, then the stretches: one after the other or in parallel. */
enum splits { UNSAID = -1, SEQ_SEQ, SEQ_PAR, PAR_SEQ, PAR_PAR };

struct options {
	enum algorithm algorithm;
	enum form form;
	enum splits splits;
	bool all, join, whole, distance;
	const char *verdict;		/* file with the one for JSON; NULL: that of the path */
	size_t memory;			/* bytes for rows; SIZE_MAX: unsaid */
	int64_t every_ns;		/* 0: the path as one */
	int list;			/* how many parts to list; 0: none */
	int part, parts;		/* solve this one, from 1, of so many; 0: the whole run */
	char **files;			/* with join several; NULL or "-": standard input */
	int file_count;
};

extern const char usage[];

struct options parse_options(int argc, char **argv);

/* ---- path.c -------------------------------------------------------------------------------- */

struct path {
	struct segments segments;
	uint64_t *counts;		/* by stretch: how many of the segments are its */
	size_t stretches, capacity;
};

/*
 * The path through the stretches of a part; whole on member 0 of the team, empty on the others. RUN
 * has been opened for both. Where there is a REPORT it gets the segments, and PATH keeps none.
 */
void path_find(struct path *path, struct run *run, solver *solve, struct report *report);
/* Notes that segments were added for one more stretch; BEFORE: how many there were. */
void path_end_stretch(struct path *path, size_t before);
/* Appends MORE and frees it. */
void path_append(struct path *path, struct path *more);
/* Member 0 gets the parts of all, in the order of members. */
void path_gather(struct path *path, const struct team *team);

/* The path of intervals, with calls read by location and intervals solved by period of time. */
void path_find_intervals(struct path *path, struct run *run, const struct team *team,
    struct report *report);
/* Who takes the samples of the run gets the segments from number FROM on. */
void path_count_functions(const struct path *path, size_t from, const struct run *run);
/* PATH's segments go into the report instead. */
void path_report(struct path *path, const struct definitions *known, struct report *report);
/*
 * Reads the segments of the COUNT files in order; each must go on where the one before ends. What
 * they know of the path by function adds up.
 */
void join_read(struct path *path, char **files, int count, struct functions *functions);

/* ---- parts.c ------------------------------------------------------------------------------- */

/* Where the stretches of a run lie in its stream: from its index, or by looking at its messages. */
struct chunks {
	struct chunk {			/* one stretch, or several that follow each other */
		uint64_t rows;
		uint64_t first;		/* stretch */
		/* offset of the synchronisation point that it begins with */
		uint64_t at;
		uint64_t offset;	/* its rows do not begin before */
		uint64_t stretch;	/* that the stream is in at the offset */
	} *at;
	size_t count, capacity;
	uint64_t stretches;		/* of the run */
	uint64_t defined;		/* no definition comes after */
};

void chunks_read(struct chunks *chunks, const char *file);
void chunks_free(struct chunks *chunks);
/* Part INDEX of COUNT with about equally many rows, and these; some are empty where chunks are
 * few. */
struct part chunks_part(const struct chunks *chunks, int index, int count, uint64_t *rows);

/* ---- functions: the path by function -------------------------------------------------------- */

/* functions_stacks.c */
extern const char *const other_names[KINDS];	/* of what is no computation; NULL: it is */
struct frames {
	struct stack_frame at[256];	/* the place itself first; their names are to be freed */
	size_t count;
};
struct frames frames_of(const struct definitions *known, const struct sampled *place);
/* Stacks with what they took, as flame graphs are made of: of the path, and of all time. */
void functions_stacks(struct text *out, const struct functions *functions,
    const struct definitions *known, bool speedscope);

/* functions_list.c */
enum by { BY_FUNCTION, BY_LINE };

/* One row of a report: samples by themselves, and with what was called. */
struct function {
	struct stack_frame frame;	/* of a function the line is where it is seen most */
	uint64_t all, samples;
	uint64_t all_inclusive, inclusive;
	int64_t path_ns;	/* of the samples: those of a list add up to the time on a core */
};

/* A list with what its shares are of. */
struct listed {
	const struct functions *of;
	struct on_path on_path;
	struct function *at;
	size_t count;
	int64_t path_ns;
	uint64_t all;		/* samples, 1 where there are none */
};

/* What is most on the path first. */
struct listed functions_list(const struct functions *functions,
    const struct definitions *known, enum by by);
void functions_list_free(struct listed *listed);
int functions_by_path(const void *left, const void *right);

/* functions_report.c */
void functions_text(struct text *out, const struct functions *functions,
    const struct definitions *known, bool all);
void functions_json(struct json *out, const struct functions *functions,
    const struct definitions *known);

/* ---- output.c ------------------------------------------------------------------------------ */

/*
 * Pieces of a stretch that has not ended, in an unnamed file, and all of them when it has; so a
 * stream does not depend on when the pieces were known. FILE begins as zeros.
 */
struct segment_file {
	FILE *file;		/* NULL: not needed so far */
	size_t count;
};
void segment_file_add(struct segment_file *file, const struct segments *segments);

struct critpath {
	struct options opt;
	struct team team;
	struct part part;		/* of --part */
	struct run run;
	struct output output;
	struct segments segments;	/* of one stretch, or of a part of it */
	struct segment_file early;	/* of the stretch, before it has ended */
	struct functions functions;
	struct distance distance;	/* of --distance */
	struct {
		struct report report;	/* of the window that the path is in */
		/* of a terminal, which a window replaces the one before on */
		bool screen;
	} every;
};

/* every.c: --every: a line for each window of the run. Pieces of the path follow each other. */
void every_begin(struct critpath *c);
void every_add(struct critpath *c, const struct segments *segments);
void every_end(struct critpath *c);

/* Into the sums, and into a stream: the rest of a stretch, or all of it. */
void put_sums(struct critpath *c, const struct segments *segments);	/* into the sums alone */
void put_segments(struct critpath *c, const struct segments *segments);
void end_output(struct critpath *c);
/* What an approximate path lacks, when all else is out. */
void tell_gaps(const struct critpath *c);

/*
 * early.c: after a message that was taken, true where the path up to an event of the stretch is
 * known whatever comes, and far enough to be worth it; the event is in TO. Then run_stretch gives
 * the way to it, and run_go_on forgets the rows that nothing needs any more.
 */
bool run_decided(struct run *run, const struct message *message, struct event *to);
void run_go_on(struct run *run, struct event from);

#endif
