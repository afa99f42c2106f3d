/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the functions in which a slow rank spends more time than the others, from samples of
 * computation, and why it was off its core.
 *
 * The compute time of each rank before each call site is known, and switches show how long the rank
 * was on a core there. Each sample counts one period, or less (base/run/sampled_place.h). The rest
 * gets rows of its own.
 *
 * Memory: the samples and intervals of the kept calls, 16 and 48 bytes each, and 32 bytes for each
 * sampled place of a rank before a call site.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "../run/thread_lanes.h"
#include "waits.h"

/*
 * A function in the list of sampled functions, or a part of the rest: of time blocked, IN is the
 * function that blocked. FILE and IN are NULL if unknown.
 */
struct sampled_function {
	const char *name, *in, *file;
};
/* "long_work", "(blocked) in io"; TEXT may hold it. */
const char *function_text(const struct sampled_function *function, char *text, size_t size);

/* A function's computation before a site, on the slowest rank and the mean of the others. */
struct excess {
	uint32_t function;		/* index in the list */
	bool is_unsampled;		/* time off the core, or not sampled */
	int off;			/* enum off_reason; OFF_REASONS: on a core */
	uint64_t samples;		/* on that rank */
	int64_t slow_ns;
	double others_ns, error_ns;	/* standard error of the difference */
};

/* Computation before a site. */
struct uneven {
	uint32_t site;
	char *where;			/* the site's name */
	int32_t rank;			/* with the longest computation */
	int64_t slow_ns;
	double others_ns;		/* mean of the other ranks */
	struct excess *functions;	/* largest excess first; they add up */
	size_t count;
};

struct function_cost {
	uint32_t function;
	double cost_ns, error_ns;
};

struct by_function {
	struct sampled_function *names;
	struct uneven *sites;		/* largest excess first */
	struct function_cost *costs;	/* of all delays, most costly first */
	struct rank_cost *rank_costs;	/* the same by rank: ranks in order, most costly first */
	int32_t rank_count;
	struct rank_core *ranks;	/* if switches are recorded; otherwise NULL */
	size_t count, site_count, cost_count, rank_cost_count;
	uint64_t samples;
	int64_t period_ns;		/* of samples; 0: there are none */
	int64_t compute_ns;		/* of all ranks */
	struct core_time core;		/* part of compute_ns; without switches from samples */
};

struct rank_cost {
	int32_t rank;
	uint32_t function;
	double cost_ns;
};

/*
 * The compute time of a rank, the calls before which it was on a core, and how many threads
 * computed.
 */
struct rank_core {
	int32_t rank;
	struct core_time core;
	int64_t compute_ns, threads_ns, alone_ns;
	double threads_mean, alone_share;
};

/*
 * Samples at a place, in the computation of a rank before a call site. Time from other sources is
 * here, too: samples holds ns, and place is one of these.
 */
enum taken_place {
	TAKEN_THREADS = UINT32_MAX - 8, TAKEN_ALONE,	/* all threads on a core; one alone */
	TAKEN_ON_CORE, TAKEN_OFF_CORE,			/* plus the reason */
};
static inline uint32_t
taken_off(enum off_reason reason)
{
	return (uint32_t)TAKEN_OFF_CORE + reason;
}
struct taken {
	uint32_t site, place;		/* site UINT32_MAX: a free slot */
	uint32_t own;		/* the program's own place: this one, or the place that called it */
	int32_t rank;
	uint32_t function;		/* once it is known */
	uint64_t samples;
	int64_t period_ns;
};

/* Takes samples, which come before their calls. */
void functions_take(struct imbalance *im, const struct message *message);
/* A call is counted: samples before it belong to the computation up to it. */
void functions_count(struct imbalance *im, uint32_t location, const struct row *row,
    int64_t last_ns);
/* Forgets samples and intervals before LEAVE that no thread of the location's rank needs. */
void functions_drop(struct imbalance *im, uint32_t location, int64_t leave_ns);
/*
 * The number of sums of samples, the one at an index (false: none), and one from another part of
 * the run.
 */
size_t taken_places(const struct imbalance *im);
bool taken_at(const struct imbalance *im, size_t at, struct taken *taken);
void join_taken(struct imbalance *im, const struct taken *more);
void functions_begin(struct imbalance *im);	/* the run was sampled */
/* NULL if the run was not sampled. OWN: time in system libraries counts for their callers. */
const struct by_function *functions_by(const struct imbalance *im, bool own, bool crowded);

#endif
