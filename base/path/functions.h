/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path by function. Each sample stands for its period, or less if all periods would exceed the
 * computation. Switches say exactly how long the computation was on a core. The rest has lines of
 * its own. Memory: the sampled places, and for the calls kept 16 bytes a sample and 48 bytes an
 * interval off the core.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "../run/thread_waits.h"
#include "stretch.h"

/* A place with its callers. */
struct sampled {
	uint32_t site, callers;
	/* On the path, in another thread than the one that makes the calls; else 0. */
	uint32_t worker;
	int32_t rank;
	uint64_t all;		/* samples of computation, on the path or not */
	uint64_t samples;	/* on the path */
	/* Time blocked on the path: there; before that call, at a place that is not known. */
	int64_t blocked_ns, before_ns;
	int64_t awaited_ns;	/* place 0: all time on the path in that other thread */
	/* Between two samples of the path in this function, in one piece; on a core meanwhile. */
	struct sample_counts counts;
	int64_t counted_ns;
};

struct place_table;

/* Sums over samples, which can be added whoever found them. */
struct function_sums {
	uint64_t lost;
	int64_t period_ns;
	int64_t path_ns[KINDS];
	bool any;			/* the run was sampled, or has switches */
	bool switched, clock;		/* it has switches; timed by threads' own clocks */
	struct core_time core;		/* of the path's computation, by switches */
	int64_t threads_ns, alone_ns;	/* meanwhile on cores: all its threads; just one */
};

struct functions {
	struct function_sums sums;
	struct thread_lanes lanes;
	struct thread_states threads;	/* of one piece */
	struct awaited awaited;		/* the same */
	struct samples block;		/* as read */
	struct place_table *places;
	const struct definitions *known;	/* set with the first samples or switches */
};

/* The path's computation by samples and switches: functions, and the rest. */
struct on_path {
	uint64_t samples;
	int64_t worth_ns;		/* of each sample, rounded down */
	int64_t compute_ns;
	int64_t on_core_ns;
	/* of that, by switches: in the kernel, which is not sampled, or when samples came late */
	int64_t unsampled_ns;
	int64_t off_ns[OFF_REASONS];	/* with on_core_ns, the whole computation */
	int64_t drawn_ns;		/* time from which samples are drawn */
	int64_t awaited_ns;		/* of compute_ns: in threads that others waited for */
};
/* The time that so many samples of the path stand for. */
int64_t on_path_ns(const struct on_path *path, uint64_t samples);

struct run;
/*
 * Samples of the run, which come before the calls: of own locations, or of ALL. Own ones are
 * counted by this process, which gets the calls of their location.
 */
void run_take_samples(struct run *run, const struct message *message, bool all);
/* Drops samples that are not needed after their rows; COUNTS: they are part of all time. */
void run_forget_samples(struct run *run, bool counts);
/* After run_end: computation up to here is part of all time. */
void run_count_rest(struct run *run);
/* Calls, as read: they show which samples of their location are of computation. */
void functions_see_calls(struct functions *functions, const struct calls *calls);
/* A piece of the path whose functions are known or not wanted: only its length counts. */
void functions_length(struct functions *functions, const struct segment *segment);
/* A piece of the path; the samples of its location must be kept. */
void functions_segment(struct functions *functions, const struct segment *segment);
/* The same part by part: for the whole piece, then for each part. */
void functions_find(struct functions *functions, const struct segment *segment);
void functions_part(struct functions *functions, const struct segment *part);
/*
 * No more pieces from before the instant will come. COUNTS: the computation of the location until
 * then is part of all time. INT64_MAX: as far as it is known.
 */
void functions_forget(struct functions *functions, uint32_t location, int64_t before_ns, bool owns,
    bool counts);
/* Forgets the pieces added so far, but not the samples of all time. */
void functions_begin_window(struct functions *functions);
/* Places in a fixed order; free() them. */
struct sampled *functions_places(const struct functions *functions, size_t *count);
void functions_add_place(struct functions *functions, const struct sampled *more);
struct on_path functions_on_path(const struct functions *functions);

/* functions_sum.c: adds up the sums of all members; member 0 gets the result. */
void functions_gather(struct functions *functions, const struct team *team);
void functions_write(struct writer *out, const struct functions *functions);
void functions_read(struct functions *functions, struct reader *in, const struct message *message);

#endif
