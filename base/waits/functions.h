/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which functions a slow rank spends more time in than the others do, from samples of computation.
 *
 * What a rank computes up to a call site is known. Each sample there stands for its period
 * (base/run/sampled_place.h); what is left of the computation is a row of its own.
 *
 * Memory: the samples of the calls that are kept, 16 bytes each, and 32 bytes for each place that was
 * sampled on a rank up to a call site.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "waits.h"

/* A function of the program in a list of those that were sampled; its file NULL: not known. */
struct sampled_function {
	const char *name, *file;
};

/* Of the computation up to a site: a function on the slowest rank, and on the mean of the others. */
struct excess {
	uint32_t function;		/* in the list */
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
	struct function_cost *costs;	/* of delays; most costly first; they add up to those of all delays */
	size_t count, site_count, cost_count;
	uint64_t samples;
	int64_t compute_ns, on_core_ns;	/* of all ranks */
};

/* Samples at a place, of the computation of a rank up to a call site. */
struct taken {
	uint32_t site, place;		/* site UINT32_MAX: a free slot */
	uint32_t own;			/* place of the program in it, or that called it */
	int32_t rank;
	uint32_t function;		/* once it is known */
	uint64_t samples;
	int64_t period_ns;
};

/* Samples, which come before the calls. */
void functions_take(struct imbalance *im, const struct message *message);
/* A call is counted: what was sampled before it is of the computation up to it. */
void functions_count(struct imbalance *im, uint32_t location, const struct row *row, int64_t last_ns);
/* Counting of a location begins then. */
void functions_start(struct imbalance *im, uint32_t location, int64_t leave_ns);
/* How many places sums of samples may have; that of one, false: none; and one of another part of the run. */
size_t taken_places(const struct imbalance *im);
bool taken_at(const struct imbalance *im, size_t at, struct taken *taken);
void join_taken(struct imbalance *im, const struct taken *more);
void functions_begin(struct imbalance *im);	/* the run was sampled */
/* NULL where the run was not sampled. OWN: what libraries of the system do is done by who called them. */
const struct by_function *functions_by(const struct imbalance *im, bool own);

#endif
