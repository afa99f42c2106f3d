/* SPDX-License-Identifier: BSD-3-Clause */
/* The long pole of a run and the next two, from its waits and, if known, its path. */
#ifndef POLES_H
#define POLES_H

#include "../run/places.h"
#include "../run/verdict.h"
#include "waits.h"

/*
 * The gain of the run when a call site takes PERCENT less time, and the gain if no other path took
 * over.
 */
struct site_gain {
	uint32_t site;
	int64_t gain_ns, most_ns;
};

/* A critical path without its start; no places: unknown. */
struct known_path {
	const struct places *places;
	int64_t ns;
	const struct site_gain *gains;
	size_t gain_count;
	int percent;
	const struct balance *balances;
	size_t balance_count;
};

/* The place with most of the path, or otherwise the one whose delays cost the others most. */
struct verdict verdict_of(const struct imbalance *im, const struct known_path *path);

#endif
