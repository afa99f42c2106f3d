/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Beyond the path: the slack of every activity, the next-longest disjoint ways through the run, and
 * what the run would gain if a call site were faster. All are sums over stretches, since everybody
 * goes through each synchronisation point together.
 */
#ifndef WHATIF_H
#define WHATIF_H

#include "dag.h"
#include "report.h"

enum { NO_SLACK = -1 };		/* not known: the activity leads to nothing */

struct slack_rows {		/* one for each call, in order of location and seq */
	size_t count, capacity;
	uint32_t *location;
	uint64_t *seq;
	int64_t *compute_ns, *call_ns;	/* before the call, and of the call; or NO_SLACK */
};

struct site_slack {
	int64_t least_ns, time_ns, critical_ns;	/* time of activities; of those without slack */
	bool seen;
};

struct gain {
	int64_t ns;		/* by how much the run gets shorter */
	int64_t most_ns;	/* and would if no other path took over */
};

struct alternative {
	int64_t length_ns;	/* of its pieces, in the stretches that have it */
	int64_t shorter_ns;	/* than the critical path there */
	int64_t absent_ns;	/* time of the stretches that have not */
	struct segments segments;	/* of this stretch, in order of time */
	struct report report;		/* of all */
};

struct whatif {
	struct functions *functions;	/* their gains, too, where the run was sampled */
	bool slack;
	int faster;		/* per cent, 0: not asked for */
	bool whole;		/* the start, MPI_Init and MPI_Finalize may be faster, too */
	int count;		/* of alternatives */
	struct slack_rows rows;	/* of this stretch */
	int64_t *held_ns;	/* by location: compute slack of the call that the next one begins with */
	struct site_slack *site_slack;
	size_t slack_capacity;
	struct gain *gains;	/* by site */
	size_t gain_capacity;
	struct alternative *alternatives;
};

/* Adds a stretch, whose path is SEGMENTS. */
void whatif_add(struct whatif *whatif, const struct stretch *stretch,
    const struct instances *instances, const struct definitions *known,
    const struct segments *segments);
/* Shares are of what those of the path's REPORT are of. */
void whatif_text(struct text *out, const struct whatif *whatif, const struct report *report,
    const struct definitions *known, bool all);
/* Further members of the report's object. */
void whatif_json(struct json *out, const struct whatif *whatif, const struct definitions *known);

#endif
