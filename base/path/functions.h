/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path by function: each sample stands for its period, or less if all would exceed what
 * computed, of which switches tell exactly how long it was on a core. What is left are rows of
 * their own. Memory: the places that were sampled, and 16 bytes for each sample, and 48 for each
 * interval off the core, of the calls that are kept.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "../run/off_core.h"
#include "../run/sample_lanes.h"
#include "stretch.h"

/* A place with those who called it. */
struct sampled {
	uint32_t site, callers;
	uint64_t all;		/* samples of computation, on the path or not */
	uint64_t samples;	/* on the path */
};

struct place_table;

/* What is known of samples, whoever found it: all of it adds up. */
struct function_sums {
	uint64_t lost;
	int64_t period_ns;
	int64_t path_ns[KINDS];
	bool any;			/* the run was sampled, or has switches */
	bool switched, clock;		/* it has; by threads' own clocks */
	struct core_time core;		/* of the path's computation, by switches */
	/* of all threads of the process on cores meanwhile, and of one alone */
	int64_t threads_ns, alone_ns;
};

struct functions {
	struct function_sums sums;
	struct sample_lanes lanes;	/* of the locations */
	struct sample_lanes workers;	/* of the threads that go with them; not in order */
	struct off_lanes off;		/* of the locations and those threads */
	struct core_edges edges;	/* of one piece */
	struct samples block;		/* as read */
	struct place_table *places;
	const int32_t *location_rank;	/* with the first switches */
	uint32_t location_count;
};

/* What samples and switches on the path make of its computation: functions, and the rest. */
struct on_path {
	uint64_t samples;
	int64_t worth_ns;		/* of each of them, rounded down */
	int64_t compute_ns;
	int64_t on_core_ns;
	/* of that, by switches: in the kernel, which is not sampled, or when samples came late */
	int64_t unsampled_ns;
	int64_t off_ns[OFF_REASONS];	/* they make up the computation with on_core_ns */
	int64_t drawn_ns;		/* what samples are drawn from */
};
int64_t on_path_ns(const struct on_path *path, uint64_t samples);

/*
 * Samples of the run, which come before the calls. KEEPS: pieces of their location will be asked
 * for; OWNS: it counts them, and gets the calls of that location.
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
 * No piece from before the instant will come any more; COUNTS: what the location computed until
 * then is part of all time. INT64_MAX: as far as it is known.
 */
void functions_forget(struct functions *functions, uint32_t location, int64_t before_ns, bool owns,
    bool counts);
/* Places in a fixed order; to be freed. */
struct sampled *functions_places(const struct functions *functions, size_t *count);
void functions_add_place(struct functions *functions, const struct sampled *more);
struct on_path functions_on_path(const struct functions *functions);

/* functions_sum.c: adds what others know; member 0 gets what the team knows. */
void functions_gather(struct functions *functions, const struct team *team);
void functions_write(struct writer *out, const struct functions *functions);
void functions_read(struct functions *functions, struct reader *in, const struct message *message);

#endif
