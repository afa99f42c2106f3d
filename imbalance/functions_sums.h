/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts that tell imbalance by function share. */
#ifndef FUNCTIONS_SUMS_H
#define FUNCTIONS_SUMS_H

#include "functions.h"
#include "site_groups.h"
#include "../base/run/sampled_place.h"

/* Samples at a place, of the computation of a rank up to a call site. */
struct taken {
	uint32_t site, place;		/* site UINT32_MAX: a free slot */
	int32_t rank;
	uint32_t function;		/* once it is known */
	uint64_t samples;
	int64_t period_ns;
};

/* Computation up to a site, by rank: how long, and how many samples it has. */
struct sums {
	const struct imbalance *im;
	const struct by_function *by;
	const int64_t *compute_ns;	/* by rank */
	const struct taken *at;		/* by function and rank */
	size_t count;
	uint64_t *samples;		/* by rank */
	int64_t period_ns;
};

/* Of LIST, which is in order, those of one site; samples is to be freed. */
struct sums sums_of(const struct imbalance *im, const struct site_groups *groups, const struct by_function *by,
    const struct taken *list, size_t count, uint32_t site);
/* Each function there, on RANK against the others; they add up to the nanosecond. To be freed. */
struct excess *excesses_of(const struct sums *s, int32_t rank, size_t *count);
/* One without a file. */
uint32_t function_named(const struct by_function *by, const char *name);

/* functions_costs.c: what delays cost, by function. */
void find_function_costs(const struct imbalance *im, const struct site_groups *groups, struct by_function *by,
    const struct taken *list, size_t taken);

#endif
