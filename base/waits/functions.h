/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which functions a slow rank spends more time in than the others do, from samples of computation,
 * and why it was off its core.
 *
 * What a rank computes up to a call site is known. Where switches tell how long it was on a core
 * there, samples share that; else each stands for its period (base/run/sampled_place.h). What is
 * left are rows of their own.
 *
 * Memory: the samples and intervals of the calls that are kept, 16 and 48 bytes each, and 32 bytes
 * for each place that was sampled on a rank up to a call site.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "../run/off_core.h"
#include "waits.h"

/* A function of the program in a list of those that were sampled; its file NULL: not known. */
struct sampled_function {
	const char *name, *file;
};

/* Of the computation up to a site: a function on the slowest rank, and on the mean of the
 * others. */
struct excess {
	uint32_t function;		/* in the list */
	bool is_off;			/* what was not on a core */
	uint64_t samples;		/* on that rank */
	int64_t slow_ns;
	double others_ns, error_ns;	/* standard error of the difference */
};

/* Computation up to a site. */
struct uneven {
	uint32_t site;
	int32_t rank;			/* that computes most */
	int64_t slow_ns;
	double others_ns;		/* mean of the other ranks */
	struct excess *functions;	/* what is more on that rank first; they add up */
	size_t count;
};

struct function_cost {
	uint32_t function;
	double cost_ns, error_ns;
};

struct by_function {
	struct sampled_function *names;
	struct uneven *sites;		/* most excess first */
	/* of delays; most costly first; they add up to those of all delays */
	struct function_cost *costs;
	struct rank_cost *rank_costs;	/* the same by rank, in their order, most costly first */
	int32_t rank_count;
	struct rank_core *ranks;	/* where switches are known; else NULL */
	size_t count, site_count, cost_count, rank_cost_count;
	uint64_t samples;
	int64_t compute_ns;		/* of all ranks */
	struct core_time core;		/* of that; without switches by samples */
};

struct rank_cost {
	int32_t rank;
	uint32_t function;
	double cost_ns;
};

/* What a rank computes, in whose calls it was on a core, and with how many of its threads. */
struct rank_core {
	int32_t rank;
	struct core_time core;
	int64_t compute_ns, threads_ns, alone_ns;
};

/*
 * Samples at a place, of the computation of a rank up to a call site. Time that is not counted by
 * samples is here, too, with ns for samples and a place of its own.
 */
enum taken_place {
	/* of all threads on a core, and of one alone */
	TAKEN_THREADS = UINT32_MAX - 8, TAKEN_ALONE,
	TAKEN_ON_CORE, TAKEN_OFF_CORE,			/* and by reason, which is added */
};
struct taken {
	uint32_t site, place;		/* site UINT32_MAX: a free slot */
	uint32_t own;			/* place of the program in it, or that called it */
	int32_t rank;
	uint32_t function;		/* once it is known */
	uint64_t samples;
	int64_t period_ns;
};

/* functions_sites.c */
/* A compiler may make several sites of a line, each for other ranks: the lowest of them stands for
 * all. */
struct site_groups {
	uint32_t *of;			/* by site */
	int64_t **compute_ns;		/* by group, then rank; NULL: nothing */
	size_t count;
};
struct site_groups site_groups(const struct imbalance *im);
void site_groups_free(struct site_groups *groups);

/* Samples, which come before the calls. */
void functions_take(struct imbalance *im, const struct message *message);
/* A call is counted: what was sampled before it is of the computation up to it. */
void functions_count(struct imbalance *im, uint32_t location, const struct row *row,
    int64_t last_ns);
/* Counting of a location begins then. */
void functions_start(struct imbalance *im, uint32_t location, int64_t leave_ns);
/* How many places sums of samples may have; that of one, false: none; and one of another part of
 * the run. */
size_t taken_places(const struct imbalance *im);
bool taken_at(const struct imbalance *im, size_t at, struct taken *taken);
void join_taken(struct imbalance *im, const struct taken *more);
void functions_begin(struct imbalance *im);	/* the run was sampled */
/* NULL where the run was not sampled. OWN: what libraries of the system do is done by who called
 * them. */
const struct by_function *functions_by(const struct imbalance *im, bool own);

#endif
