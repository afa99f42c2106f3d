/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path by function: samples of what threads did between their calls share out the computation
 * that lies on the path. Memory: the places that were sampled, and 16 bytes for each sample of the
 * calls that are kept.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "../base/run/sample_lanes.h"
#include "../base/tool/json.h"
#include "../base/tool/stacks.h"
#include "dag.h"

__extension__ typedef unsigned __int128 functions_wide;	/* a sum that has no order */

/* A place with those who called it. */
struct sampled {
	functions_wide squares;	/* sum of squares of what each of these stands for, in ns */
	uint32_t site, callers;
	uint64_t all;		/* samples of computation, on the path or not */
	uint64_t samples;	/* on the path */
	int64_t path_ns;
};

struct place_table;

/* What is known of samples, whoever found it: all of it adds up. */
struct function_sums {
	uint64_t lost;
	int64_t period_ns;
	int64_t other_ns[KINDS];	/* of the path, by kind: what is no computation */
	int64_t not_sampled_ns;
	int64_t compute_ns;		/* of the path */
	bool any;			/* the run was sampled */
};

struct functions {
	struct function_sums sums;
	struct sample_lanes lanes;	/* of the locations */
	struct sample_lanes workers;	/* of the threads that go with them; not in order */
	struct samples block;		/* as read */
	struct loss {			/* told with samples from this instant on */
		int64_t at_ns;
		uint64_t lost;
		uint32_t location;
	} *losses;
	size_t loss_count, loss_capacity;
	struct place_table *places;
	struct function_gain *gains;	/* by number of the function */
	size_t gain_count, gain_capacity;
	uint32_t *number_of;		/* by site: 1 + number of its function */
	size_t site_count;
};

/* One line of a report: a function, or a line of one. */
struct function {
	const char *name, *file;	/* file NULL: not known */
	uint64_t line_samples;
	uint64_t all, samples;
	uint64_t all_inclusive;
	int64_t path_ns, inclusive_ns;
	functions_wide squares;
	double error;			/* the standard error of its share of the sampled path */
	int32_t line;			/* of a function where it is seen most; 0: not known */
};

struct function_gain {
	const char *name;
	int64_t ns, most_ns;	/* by how much the run gets shorter, and would if no other path took over */
};

enum by { BY_FUNCTION, BY_LINE };

/*
 * Samples of the run, which come before the calls. KEEPS: pieces of their location will be asked for;
 * OWNS: it counts them, and gets the calls of that location.
 */
void functions_see(struct functions *functions, struct reader *in, const struct message *message,
    bool keeps, bool owns);
/* Calls, as read, tell which of their location's samples are of computation. */
void functions_see_calls(struct functions *functions, const struct calls *calls);
/* A piece of the path of which the functions are known, or not asked for: its length counts. */
void functions_length(struct functions *functions, const struct segment *segment);
/* A piece of the path; its location's samples are kept. */
void functions_segment(struct functions *functions, const struct segment *segment);
/*
 * No piece from before the instant will come any more; COUNTS: what the location computed until then is
 * part of all time. INT64_MAX: as far as it is known.
 */
void functions_forget(struct functions *functions, uint32_t location, int64_t before_ns, bool owns,
    bool counts);

/* functions_join.c: adds what others know; member 0 gets what the team knows. */
void functions_gather(struct functions *functions, const struct team *team);
void functions_write(struct writer *out, const struct functions *functions);
void functions_read(struct functions *functions, struct reader *in, const struct message *message);

struct sampled *functions_place(struct functions *functions, uint32_t site, uint32_t callers);
/* Places in a fixed order; to be freed. */
struct sampled *functions_places(const struct functions *functions, size_t *count);
uint64_t functions_samples(const struct functions *functions);

/* functions_list.c: all of them, what is most on the path first; to be freed. */
struct function *functions_list(const struct functions *functions, const struct definitions *known,
    enum by by, size_t *count);
int compare_text(const char *a, const char *b);		/* either may be NULL */

/* The stack of a place, itself first. */
struct frames {
	struct stack_frame at[256];
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
/* Shares are of TOLD_NS. */
void functions_gain_text(struct text *out, const struct functions *functions, int64_t told_ns,
    int percent, size_t shown);
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

#endif
