/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GAIN_H
#define GAIN_H

#include "../base/path/dag.h"
#include "../base/path/output.h"
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
void dag_of_needs(struct dag *dag, const struct stretch *stretch,
    const struct instances *instances);

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

/* ---- faster.c -------------------------------------------------------------------------------- */

/* Questions of what if some activities took less time are answered LANES at a time. */
enum { LANES = 4 };
/* The weights of a vertex in QUESTION and those after it; there may be fewer than LANES. */
typedef void weights_if(const void *context, size_t question, uint32_t vertex, int64_t *weight_ns);
/*
 * The end of the graph in LANES questions, which share the way through it. The larger of two times
 * is found without a branch, which nobody could predict. Inline, as WEIGHTS is: an evaluate_if for
 * each kind of question.
 */
static inline void
evaluate(const struct dag *dag, int64_t (*time_ns)[LANES], weights_if *weights, const void *context,
    size_t question, int64_t *end_ns)
{
	for (uint32_t i = 0; i < dag->ordered; i++) {
		const uint32_t v = dag->order[i];
		int64_t begin_ns[LANES] = { 0 }, weight_ns[LANES];

		for (uint64_t k = dag->in[v]; k < dag->in[v + 1]; k++) {
			const uint32_t u = dag->source[k];

			for (int l = 0; u != BEGIN && l < LANES; l++)
				begin_ns[l] = time_ns[u][l] > begin_ns[l] ? time_ns[u][l] :
				    begin_ns[l];
		}
		weights(context, question, v, weight_ns);
		for (int l = 0; l < LANES; l++)
			time_ns[v][l] = begin_ns[l] + weight_ns[l];
	}
	memcpy(end_ns, time_ns[dag->end], LANES * sizeof *end_ns);
}
typedef void evaluate_if(const struct dag *dag, int64_t (*time_ns)[LANES], const void *context,
    size_t question, int64_t *end_ns);

/* The first and the last place in the order whose weight is another than recorded. */
struct changes {
	uint32_t first, last;
};
static inline bool
changes_much(const struct dag *dag, const struct changes *changes)
{
	return changes->last - changes->first > dag->ordered / 8;
}
/*
 * By how much the end comes sooner than recorded, by question; free() it. CHANGES of each question:
 * first those that change much, then the last places first; NULL: not known, and WEIGHTS is not
 * needed.
 */
int64_t *gains_if(const struct dag *dag, size_t questions, const struct changes *changes,
    evaluate_if *evaluate_all, weights_if *weights, const void *context);

/* The longest way to each vertex, by the order; free() it. */
int64_t *walk_longest(const struct dag *dag);

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
    const struct instances *instances, struct segments *segments);

/* ---- whatif.c, whatif_report.c --------------------------------------------------------------- */

/*
 * Beyond the path: the slack of every activity, the next-longest disjoint ways through the run, and
 * the gains from faster call sites; sites of one name are one. All are sums over stretches, since
 * all ranks pass each synchronisation point together.
 */

enum { NO_SLACK = -1 };		/* unknown: the activity leads to nothing */

struct slack_rows {		/* one for each call, in order of location and seq */
	struct slack_row {
		uint64_t seq;
		int64_t compute_ns, call_ns;	/* before the call, and of the call; or NO_SLACK */
		uint32_t location;
	} *at;
	size_t count, capacity;
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
    const struct instances *instances);
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
    struct same_sites *same_sites);
void balances_end(struct balances *balances, const struct definitions *known);

/* functions_gain.c: the gain of the run if a function took less time. */
void function_gains_add(struct function_gains *gains, const struct functions *functions,
    const struct dag *dag, const struct longest_way *way, int percent);
/* Shares are of TOLD_NS. */
struct rows function_gain_rows(const struct function_gains *gains, int64_t told_ns);

#endif
