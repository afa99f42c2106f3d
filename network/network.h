/* SPDX-License-Identifier: BSD-3-Clause */
/* lp-network fits medians of measured times: lines of a ping-pong, and models of collectives. */
#ifndef NETWORK_H
#define NETWORK_H

#include "../base/machine/machine.h"

struct point {
	char *function;		/* MPI_Bcast */
	int64_t ranks;
	uint64_t bytes;		/* of a block */
	double *medians_us;	/* one for each mpirun; of a ping-pong half a round trip */
	size_t count, capacity;
	double us;		/* median of these */
	double fitted_us;	/* by the machine; < 0: none */
	bool taken;		/* as many parameters as times fit it: no error is known */
};

struct points {
	struct point *at;	/* by function, ranks and bytes */
	size_t count, capacity;
	int64_t most_ranks;
	char *library;		/* or that it is not named */
};

struct range { int64_t least, most; };

enum { MEAN_OF_ALL = -1 };	/* instead of a quantile */

/*
 * Reads points with SIZES, in bytes of a block, as a quantile of repetitions. FILES end with NULL;
 * without files reads standard input.
 */
struct points read_points(char **files, struct range sizes, double quantile);
bool is_pingpong(const struct point *point);
/* Or NULL. */
struct point *find_point(const struct points *points, const char *function, int64_t ranks,
    uint64_t bytes);

/* ---- lines.c: T = L + m / B ------------------------------------------------------------------ */

struct line {
	double latency_us, latency_error_us;		/* standard errors; < 0: unknown */
	double us_per_byte, us_per_byte_error;
};

enum { MOST_SEGMENTS = 4 };

struct pingpong {
	struct line all;	/* one line through all sizes, as in a machine */
	double mean_error, most_error;	/* of that line, relative */
	uint64_t most_at;	/* bytes */
	size_t count;		/* sizes */
	struct segment { uint64_t first, last; struct line line; } segments[MOST_SEGMENTS];
	size_t segment_count;
	bool has_limit;		/* a break upwards is visible */
	uint64_t below, from;	/* the largest size before it, and the first after it */
	uint64_t below_least, from_most;	/* and their possible range */
};

/* Fits the ping-pong's points and sets their fitted_us. FILE is for messages. */
struct pingpong fit_pingpong(struct points *points, const char *file);
/* Mean relative error of another line. */
double line_error(const struct points *points, double latency_us, double us_per_byte);

/* ---- collectives.c: the models of Dimemas -------------------------------------------------- */

struct wires {			/* of the written machine */
	struct line between, inside;	/* nodes; INSIDE 0: one rank on a node */
	int64_t cpus;			/* ranks on a node */
};

struct collective {
	const char *function;	/* without MPI_, lower case in a machine */
	struct phases phases;
	double mean_error;	/* relative */
	bool few;		/* no more measurements than parameters: no error is known */
	bool alike;		/* measured on at most 2 ranks, where all models agree */
};

/* The best model of each measured function; sets fitted_us. Returns their number. */
size_t fit_collectives(struct points *points, const struct wires *wires, struct collective **all);

/* ---- loggp.c: tables by size --------------------------------------------------------------- */

enum { NO_LINKS, FULL_DUPLEX, HALF_DUPLEX, LINKS };

struct ends {			/* the cost of a message at its ends, and on its way */
	struct end_times {
		uint64_t bytes;
		double pingpong_us, send_us, receive_us, way_us;
		double sent_us;	/* part of the sender's overhead after the message has left */
		double held_us;			/* of links, if any */
		double exchange_us, burst_us;	/* of a message, of 16; NaN: not measured */
	double combine_us;	/* of two blocks; NaN: not measured */
	} *at;
	size_t count;
	bool has_limit;		/* messages larger than BELOW wait for their receive */
	uint64_t below;
	double latency_us;	/* the shortest travel time */
	int links;		/* the links that explain exchanges and bursts best */
	/* mean relative errors of exchanges and bursts: of all, and of those that do not set the
	 * links; NaN: there are none */
	double errors[LINKS], checked[LINKS];
};

struct text;
struct ends fit_ends(const struct points *points, const char *file);
/* Lines of a machine; WHERE is "" or "memory ". */
void print_combining(struct text *out, const struct ends *ends);
void print_ends(struct text *out, const struct ends *ends, const char *where);

/* ---- schedules.c --------------------------------------------------------------------------- */

struct rules {
	struct rule_found {
		const char *function;
		enum schedule schedule;
		uint64_t from_bytes, segment;	/* segment 0: none */
		int64_t from_ranks;
		double error;			/* sum of relative errors over SIZES */
		size_t sizes;
	} *at;
	size_t count, capacity;
	/* Measured time beyond the messages of the schedule, if all ranks wait for all. */
	struct beside_found { const char *function; int64_t ranks; uint64_t bytes;
	    double us; } *besides;
	size_t beside_count, beside_capacity;
};

/* The schedule of each measured collective on MACHINE; sets fitted_us. */
struct rules fit_schedules(struct points *points, const char *machine);

#endif
