/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much worse the network may be. curve.c: the run time as a function of each parameter;
 * paths.c: the longest path. Both watch the engine while it replays: base/replay/watchers.h.
 */
#ifndef TOLERANCE_H
#define TOLERANCE_H

#include <math.h>

#include "../base/replay/replay.h"

/* ---- curve.c ------------------------------------------------------------------------------- */

/*
 * The whole curve in one pass. Each time is the maximum of lines in the parameter; lines that are
 * nowhere largest are dropped. When all ranks have one time and nothing is in flight, new lines
 * begin, and the time before is added to a sum. Where the longest ways to several ranks have met,
 * their times bend alike. Between two such points, the tree of branches.c keeps such bends once. So
 * a time has only the bends since the ranks last heard of each other.
 */
struct line { double ns, slope; };	/* at 0 */

struct envelope {		/* of lines in order of slopes, all relative to BASE */
	struct line base;
	struct line *lines;
	uint32_t count, capacity;	/* count 0: one line, which is BASE */
	uint32_t generation;	/* an earlier generation has time 0: it is before all of this one */
	uint32_t branch;	/* whose bends it has, too, and those of the branches below */
	uint32_t location;	/* from whose clock it comes; NO_LOCATION: from none */
	uint32_t look;		/* during which it was last used */
};
enum { NO_LOCATION = UINT32_MAX };

/* The first one is the trunk: it is below all, and keeps the bends of earlier generations. */
struct branch {
	struct bend { double at, by; } *bends;
	size_t count, capacity;
	uint32_t below;		/* the branch that it grows from: an earlier one */
	uint32_t users;		/* at the last look: times and branches on it */
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
	struct branch *branches;
	size_t branch_count, branch_capacity;
	uint32_t *groups;	/* by location: one that it has heard of since the last look */
	uint32_t looks;
	uint64_t merges, next_look;	/* lines merged so far; when to look for bends in common */
};

static inline uint32_t
lines_of(const struct envelope *e)
{
	return e->count > 0 ? e->count : 1;
}

static inline struct line
line_at(const struct envelope *e, uint32_t i)
{
	struct line line = e->base;

	if (e->count > 0) {
		line.ns += e->lines[i].ns;
		line.slope += e->lines[i].slope;
	}
	return line;
}

static inline struct bend
bend_between(struct line before, struct line line)
{
	const double by = line.slope - before.slope;

	return (struct bend){ (before.ns - line.ns) / by, by };
}

/* Adds a line to those of the upper envelope; its slope is at least theirs. */
static inline uint32_t
push(const struct curve *c, struct line *lines, uint32_t count, struct line line)
{
	while (count > 0 && line.ns >= lines[count - 1].ns)	/* from 0 on it is above */
		count--;
	if (count > 0 && (line.slope <= lines[count - 1].slope || (c->range < INFINITY && line.ns +
	    line.slope * c->range <= lines[count - 1].ns + lines[count - 1].slope * c->range)))
		return count;
	for (; count > 1; count--) {	/* the last is dropped if it is nowhere above both */
		const struct line a = lines[count - 2], b = lines[count - 1];

		if ((long double)(a.ns - line.ns) * (b.slope - a.slope) >
		    (long double)(a.ns - b.ns) * (line.slope - a.slope))
			break;
	}
	lines[count] = line;
	return count + 1;
}

struct piece {			/* of a curve */
	double from, to, run_ns, slope;	/* run time at FROM; to: INFINITY */
	const char *parameter;
	unsigned exact;
};

struct watcher curve_watcher(struct curve *curve);
size_t curve_end(struct curve *curve, struct piece **pieces);	/* returns their number */
double pieces_at(const struct piece *pieces, size_t count, double value);	/* run time */
/* The largest value at which the run takes at most RUN_NS; INFINITY: any value. */
double pieces_reach(const struct piece *pieces, size_t count, double run_ns);

void take_merged(struct curve *c, struct envelope *e, uint32_t count);	/* they become those of E */

/* ---- branches.c ---------------------------------------------------------------------------- */

void branches_begin(struct curve *c);
/* A location has heard of another one. */
void unite(struct curve *c, uint32_t location, uint32_t other);
/* The maximum of A and B comes next, so both have the bends of one branch. */
void meet(struct curve *c, struct envelope *a, struct envelope *b);
/* Looks for bends that times have in common. */
void look(struct curve *c);
void sort_bends(struct bend *bends, size_t count);	/* by place */
/* All bends of a time become the trunk's. */
void bends_to_trunk(struct curve *c, struct envelope *e);

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
	enum form form;
	struct replay replay;
	double percents[MOST_PERCENTS];
	size_t percent_count;
	double range;		/* curves end at this multiple of the parameter; 0: nowhere */
	bool wanted[PARAMETERS];
	bool sites;		/* report the payers on the longest path */
	struct paths paths;
	const char *sampled;	/* why the curves are points; NULL: they are exact */
	double base[PARAMETERS], run_ns, recorded_ns;
	struct marks marks;
	struct curve curves[PARAMETERS];
	struct watcher watchers[PARAMETERS + 1];
	struct piece *pieces[PARAMETERS];
	size_t piece_count[PARAMETERS];
};

extern const char *const parameter_names[PARAMETERS];

/* ---- print.c ------------------------------------------------------------------------------- */

/* Not for stream. */
void tolerance_print(struct tolerance *tolerance);
void tolerance_write(const struct tolerance *tolerance, struct writer *out);

#endif
