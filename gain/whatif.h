/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Beyond the path: the slack of every activity, the next-longest disjoint ways through the run, and
 * what the run would gain if a call site were faster. All are sums over stretches, since everybody
 * goes through each synchronisation point together.
 */
#ifndef WHATIF_H
#define WHATIF_H

#include "dag.h"
#include "../base/path/functions.h"
#include "../base/path/report.h"
#include "../base/path/run.h"

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

/* By function, which is numbered as it is met: functions_gain.c. */
struct function_gains {
	struct function_gain *at;
	size_t count, capacity;
	uint32_t *number_of;	/* by site: 1 + number of its function */
	size_t site_count;
};

struct alternative {
	int64_t length_ns;	/* of its pieces, in the stretches that have it */
	int64_t shorter_ns;	/* than the critical path there */
	int64_t absent_ns;	/* time of the stretches that have not */
	struct segments segments;	/* of this stretch, in order of time */
	struct report report;		/* of all */
};

struct whatif {
	const struct functions *functions;	/* their gains, too, where the run was sampled */
	bool slack;
	bool whole;		/* the start, MPI_Init and MPI_Finalize may be faster, too */
	int count;		/* of alternatives */
	struct slack_rows rows;	/* of this stretch */
	int64_t *held_ns;	/* by location: compute slack of the call that the next one begins with */
	struct site_slack *site_slack;
	size_t slack_capacity;
	struct gains gains;	/* percent 0: not asked for */
	struct function_gains function_gains;
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
/* Into a stream: the slack of this stretch's activities; what each call site would gain, of the whole run. */
void write_slack(struct writer *out, const struct slack_rows *rows);
void write_gains(struct writer *out, const struct gains *gains);

/* functions_gain.c: what the run would gain if a function took less time. */
void function_gains_add(struct function_gains *gains, const struct functions *functions,
    const struct definitions *known, const struct dag *dag, const struct segments *segments, int percent);
/* Shares are of TOLD_NS. */
void function_gains_text(struct text *out, const struct function_gains *gains, int64_t told_ns, int percent,
    size_t shown);
void function_gains_json(struct json *out, const struct function_gains *gains);

#endif
