/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GAIN_H
#define GAIN_H

#include "../base/path/dag.h"
#include "../base/path/functions.h"
#include "../base/path/report.h"
#include "../base/path/run.h"
#include "../base/run/places.h"
#include "../base/run/scale.h"

/* ---- needs.c --------------------------------------------------------------------------------- */

/*
 * The stretch as a graph in which durations can change.
 *
 * An activity begins when all that it needs is there, and lasts as long as recorded. A call needs
 * its own enter and the enters of the events that it may wait for; it lasts from the latest of
 * these to its leave. So unlike in stretch.h the graph also has edges that did not block, and its
 * weights contain no waiting. A send needs its receive only if it was seen to wait for it. A call
 * that waits for the last of many needs a hub: a vertex after the events, without duration. So
 * edges grow only linearly with members. Memory: about 100 bytes for each row.
 */
void dag_of_needs(struct dag *dag, const struct stretch *stretch, const struct instances *instances,
    const struct definitions *known);

#define NO_SITE UINT32_MAX

/* The vertices of a longest way through it, the last first. */
struct longest_way {
	uint32_t *at;
	size_t count;
};

/* The segment of a way from vertex FROM, or BEGIN, to VERTEX, an event at END_NS. */
struct segment dag_piece(const struct dag *dag, uint32_t from, uint32_t vertex, int64_t end_ns);

/* The row of a vertex below dag->events. */
static inline const struct row *
dag_row(const struct dag *dag, uint32_t vertex)
{
	struct event event = numbering_event(&dag->numbering, vertex);

	return window_row(dag->stretch->window, event.location, event.seq);
}

/* ---- needed.c -------------------------------------------------------------------------------- */

/*
 * The longest way through all that events need. An event may have many edges, and weights may have
 * changed: a solver finds the edge that binds.
 */

struct choice {
	struct scales scales;
	int64_t length_ns;	/* of the stretches before */
	uint32_t last;		/* location on which the way through them ended */
};

enum chooser { CHOOSE_WALK, CHOOSE_KAHN, CHOOSE_DIJKSTRA, CHOOSE_DELTA };

/* Appends the stretch's segments, in order of their new times. */
void choice_solve(struct choice *choice, enum chooser how, const struct stretch *stretch,
    const struct instances *instances, const struct definitions *known, struct segments *segments);

/* ---- whatif.c, whatif_report.c --------------------------------------------------------------- */

/*
 * Beyond the path: the slack of every activity, the next-longest disjoint ways through the run, and
 * the gains from faster call sites; sites of one name are one. All are sums over stretches, since
 * all ranks pass each synchronisation point together.
 */

enum { NO_SLACK = -1 };		/* unknown: the activity leads to nothing */

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

/* By function, in order of first use: functions_gain.c. */
struct function_gains {
	struct function_gain *at;
	size_t count, capacity;
	uint32_t *number_of;	/* by site: 1 + number of its function */
	size_t site_count;
	struct awaited awaited;	/* of one piece */
};

/* If a rank computed no longer than the others: balance.c. Sums over stretches. */
struct balances {
	struct places gained, most;	/* as in struct balance */
	struct places computed;
	struct balance *at;		/* most gain first, once they have ended */
	size_t count;
};

struct alternative {
	int64_t length_ns;	/* of its pieces, in the stretches that have it */
	int64_t shorter_ns;	/* than the critical path there */
	int64_t absent_ns;		/* time of the stretches without it */
	struct segments segments;	/* of this stretch, in order of time */
	struct report report;		/* of all */
};

struct whatif {
	const struct functions *functions;	/* their gains, too, if the run was sampled */
	bool slack;
	bool whole;		/* the start, MPI_Init and MPI_Finalize may be faster, too */
	int count;		/* of alternatives */
	struct slack_rows rows;	/* of this stretch */
	/* by location: compute slack of the call that begins the next stretch */
	int64_t *held_ns;
	struct site_slack *site_slack;
	size_t slack_capacity;
	struct gains gains;	/* percent 0: not asked for */
	struct balances balances;	/* with the gains */
	struct same_sites same_sites;	/* of which both sum up */
	struct function_gains function_gains;
	struct alternative *alternatives;
};

/* Adds a stretch. */
void whatif_add(struct whatif *whatif, const struct stretch *stretch,
    const struct instances *instances, const struct definitions *known);
/* Shares have the same totals as those of the path's REPORT. */
void whatif_text(struct text *out, const struct whatif *whatif, const struct report *report,
    const struct definitions *known, bool all);
/* After the last stretch. */
void whatif_end(struct whatif *whatif, const struct definitions *known);
/* Further members of the report's object. */
void whatif_json(struct json *out, const struct whatif *whatif, const struct definitions *known);
/*
 * Into a stream: the slack of this stretch's activities; the gain of each call site in the whole
 * run.
 */
void write_slack(struct writer *out, const struct slack_rows *rows);
void write_gains(struct writer *out, const struct gains *gains);

/* balance.c: adds a stretch; after the last one. */
void balances_add(struct balances *balances, const struct dag *dag, const struct longest_way *way,
    const struct definitions *known, struct same_sites *same_sites);
void balances_end(struct balances *balances, const struct definitions *known);

/* functions_gain.c: the gain of the run if a function took less time. */
void function_gains_add(struct function_gains *gains,
    const struct functions *functions, const struct definitions *known, const struct dag *dag,
    const struct longest_way *way, int percent);
/* Shares are of TOLD_NS. */
void function_gains_text(struct text *out, const struct function_gains *gains, int64_t told_ns,
    int percent, size_t shown);
void function_gains_json(struct json *out, const struct function_gains *gains);

#endif
