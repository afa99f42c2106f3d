/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path by function: samples of what threads did between their calls share out the computation
 * that lies on the path. Memory: 16 bytes a sample, and the places that were sampled.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "dag.h"

/* A place with those who called it. */
struct sampled {
	uint32_t site, callers;
	uint64_t all;		/* samples of computation, on the path or not */
	uint64_t samples;	/* on the path */
	int64_t path_ns;
	double squares;		/* sum of squares of what each of these stands for, in ns */
};

struct sampled_lane;
struct place_table;

struct functions {
	bool any;			/* the run was sampled */
	int64_t period_ns;
	uint64_t lost;
	struct sampled_lane *lanes;	/* by location */
	size_t lane_count, lane_capacity;
	struct place_table *places;
	int64_t other_ns[KINDS];	/* of the path, by kind: what is no computation */
	int64_t not_sampled_ns;
	int64_t compute_ns;		/* of the path */
	struct function_gain *gains;	/* by number of the function */
	size_t gain_count, gain_capacity;
	uint32_t *number_of;		/* by site: 1 + number of its function */
	size_t number_capacity;
};

/* One line of a report: a function, or a line of one. */
struct function {
	const char *name, *file;	/* file NULL: not known */
	uint32_t site;			/* the one that is seen most */
	uint64_t site_samples;
	uint64_t all, samples;
	uint64_t all_inclusive;
	int64_t path_ns, inclusive_ns;
	double squares;
	int32_t line;			/* where it is seen most; 0: not known */
};

struct function_gain {
	const char *name;
	int64_t ns, most_ns;	/* by how much the run gets shorter, and would if no other path took over */
};

enum by { BY_FUNCTION, BY_LINE };

/*
 * The next message of the run: samples, which come before the calls, or calls, as read, which tell
 * which of their location's samples are of computation.
 */
void functions_see(struct functions *functions, struct reader *in, const struct message *message,
    const struct calls *calls);
void functions_segment(struct functions *functions, const struct segment *segment);

/* All of them, what is most on the path first; to be freed. */
struct function *functions_list(const struct functions *functions, const struct definitions *known,
    enum by by, size_t *count);
/* The standard error of a share of the path, by how many samples it rests on. */
double functions_error(const struct functions *functions, const struct function *function,
    int64_t path_ns);
/* Places in a fixed order; to be freed. */
struct sampled *functions_places(const struct functions *functions, size_t *count);
uint64_t functions_samples(const struct functions *functions);

/* The names on the stack of a place, itself first, each once however deep it recurs. */
struct frames {
	const char *names[256];
	uint32_t sites[256];
	size_t count;
};

/* The samples of computation of a location from one instant to before another; the first in FROM. */
size_t functions_between(const struct functions *functions, uint32_t location, int64_t begin_ns,
    int64_t end_ns, size_t *from);
/* Numbers the functions of all places seen so far; then that of a sample. */
void functions_number(struct functions *functions, const struct definitions *known);
uint32_t functions_at(const struct functions *functions, uint32_t location, size_t sample);

/* functions_gain.c */
void functions_add_gains(struct functions *functions, const struct definitions *known,
    const struct dag *dag, const struct segments *segments, int percent);
void functions_gain_text(struct text *out, const struct functions *functions,
    const struct definitions *known, int percent, size_t shown);
void functions_gain_json(struct json *out, const struct functions *functions);

/* functions_stacks.c */
extern const char *const other_names[KINDS];	/* of what is no computation; NULL: it is */
extern const char not_sampled[];
struct frames frames_of(const struct definitions *known, const struct sampled *place);
void frames_free(struct frames *frames);

/* functions_report.c, functions_stacks.c */
void functions_text(struct text *out, const struct functions *functions,
    const struct definitions *known, bool all);
void functions_json(struct json *out, const struct functions *functions,
    const struct definitions *known);
/* Stacks with what they took, as flame graphs are made of: of the path, and of all time. */
void functions_stacks(struct text *out, const struct functions *functions,
    const struct definitions *known, bool speedscope);
/* The name that a place has in a report. */
const char *place_name(const struct definitions *known, uint32_t site, char *text, size_t size);

#endif
