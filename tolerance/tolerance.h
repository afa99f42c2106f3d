/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much worse the network may be. curve.c: the run time as a function of each parameter;
 * paths.c: the longest path. Both watch the engine while it replays: base/replay/watchers.h.
 */
#ifndef TOLERANCE_H
#define TOLERANCE_H

#include "../base/replay/replay.h"

/* ---- curve.c ------------------------------------------------------------------------------- */

/*
 * The whole curve in one pass. Each time is the maximum of lines in the parameter; lines that are
 * nowhere largest are dropped. When all ranks have one time and nothing is in flight, new lines
 * begin, and the time before is added to a sum. Between two such points, bends that all times have
 * in common go into the sum: where the longest ways to all have met, all times bend alike. So a
 * time has only the bends since the ranks last heard of each other.
 */
struct line { double ns, slope; };	/* at 0 */

struct envelope {		/* of lines in order of slopes, all relative to BASE */
	struct line base;
	struct line *lines;
	uint32_t count, capacity;	/* count 0: one line, which is BASE */
	uint32_t generation;	/* an earlier generation has time 0: it is before all of this one */
};

struct curve {
	enum parameter parameter;
	double base, range;	/* its value in the replay; the curve ends there */
	uint32_t locations, generation;
	struct envelope *times;
	size_t time_count;
	struct line *merged;
	size_t merged_capacity;
	struct line sum;	/* of all before */
	struct bend { double at, by; } *bends;
	size_t bend_count, bend_capacity;
	uint64_t merges, next_look;	/* lines merged so far; when to look for bends in common */
};

struct piece { double from, to, run_ns, slope; };	/* run time at FROM; to: INFINITY */

struct watcher curve_watcher(struct curve *curve);
size_t curve_end(struct curve *curve, struct piece **pieces);	/* returns their number */
double pieces_at(const struct piece *pieces, size_t count, double value);	/* run time */
/* The largest value at which the run takes at most RUN_NS; INFINITY: any value. */
double pieces_reach(const struct piece *pieces, size_t count, double run_ns);

/* ---- paths.c ------------------------------------------------------------------------------- */

/* Keeps all sums and maxima, to go back along the way, or to compute the run with a change. */
struct paths {
	struct mark *steps;
	size_t count, capacity;
	uint32_t locations;
	double earlier_ns;	/* how much earlier the messages of a site shall arrive */
};

struct watcher paths_watcher(struct paths *paths, uint32_t locations);

/* A part of the longest way: of a call at a site, a communicator, or a pair of nodes. */
struct share {
	struct payer who;
	double times[PARAMETERS];	/* latencies, bytes and calls on it */
	double ns;			/* their cost */
	double slack_ns;		/* slack of its messages; INFINITY: it has none */
	double waitless_ns;		/* gain of the run if it never waited */
	double earlier_ns;		/* gain of the run if its messages came earlier */
	/* For output: source and target are NaN for collectives */
	const char *call, *site;
	double source, target;
	char nodes[32];
};

enum grouping { BY_SITE, BY_COMM, BY_PAIR, GROUPINGS };
struct shares { struct share *at; size_t count; };

/* Each grouping, by time on the way, then in the order of their numbers. */
void paths_find(struct paths *paths, const struct marks *marks, struct shares found[GROUPINGS]);

/* ---- tolerance.c --------------------------------------------------------------------------- */

enum { MOST_PERCENTS = 16 };
enum form { TEXT, JSON, CSV, STREAM };

struct tolerance {
	double percents[MOST_PERCENTS];
	size_t percent_count;
	double range;		/* curves end at this multiple of the parameter; 0: nowhere */
	bool wanted[PARAMETERS];
	bool sites;		/* report the payers on the longest path */
	struct paths paths;
	const struct definitions *known;
	const char *sampled;	/* why the curves are points; NULL: they are exact */
	double base[PARAMETERS], run_ns, recorded_ns;
	struct marks marks;
	struct curve curves[PARAMETERS];
	struct watcher watchers[PARAMETERS + 1];
	struct piece *pieces[PARAMETERS];
	size_t piece_count[PARAMETERS];
};

extern const char *const parameter_names[PARAMETERS];

/* The largest value for runs PERCENT longer; INFINITY: any; NAN: no curve was asked for. */
double tolerance_at(const struct tolerance *tolerance, int parameter, double percent);

/* ---- print.c ------------------------------------------------------------------------------- */

/* Not for stream. */
void tolerance_print(struct tolerance *tolerance, const struct replay *replay, enum form form);
void tolerance_write(const struct tolerance *tolerance, struct writer *out);

#endif
