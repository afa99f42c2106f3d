/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is on the longest way of a replay: all sums and maxima of it are kept, so that the way can be gone
 * back, and the run be computed anew with the messages of one call site changed.
 */
#ifndef PATHS_H
#define PATHS_H

#include "../base/run/definitions.h"
#include "../base/tool/json.h"
#include "engine.h"

struct paths {
	struct mark *steps;
	size_t count, capacity;
	uint32_t locations;
	double earlier_ns;	/* so much earlier the messages of a site are asked to come */
	const char *broken;
};

struct watcher paths_watcher(struct paths *paths, uint32_t locations);

struct share {			/* of the longest way: a call at a site, a communicator, or a pair of nodes */
	struct payer who;
	double times[PARAMETERS];	/* latencies, bytes and calls on it */
	double ns;		/* what these cost */
	double slack_ns;	/* a message of it may come so much later; INFINITY: it has none */
	double waitless_ns;	/* the run would be so much shorter if it never waited */
	double earlier_ns;	/* or if its messages came earlier */
};

struct shares { struct share *sites, *comms, *pairs; size_t site_count, comm_count, pair_count; };

/* All of it; by time on the way, then in the order of their numbers. */
struct shares paths_find(struct paths *paths, const struct marks *marks);

struct text;
void shares_table(struct text *text, const struct shares *shares, const struct definitions *known);
/* Members of the object that is open. */
void shares_json(struct json *json, const struct shares *shares, const struct definitions *known);

#endif
