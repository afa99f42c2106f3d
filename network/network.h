/* SPDX-License-Identifier: BSD-3-Clause */
/* What lp-network fits: medians of measured times, a ping-pong's lines, and models of
 * collectives. */
#ifndef NETWORK_H
#define NETWORK_H

#include "../base/machine/machine.h"

/* ---- samples.c: measurement streams ------------------------------------------------------ */

struct point {
	char *function;		/* MPI_Bcast */
	int64_t ranks;
	uint64_t bytes;		/* a block */
	double *medians_us;	/* one an mpirun; of a ping-pong half a round trip */
	size_t count, capacity;
	double us;		/* median of these */
	double fitted_us;	/* what the machine says; < 0: nothing */
	bool taken;		/* the machine has this very time: no error is known */
};

struct points {			/* by function, ranks and bytes */
	struct point *at;
	size_t count, capacity;
	int64_t most_ranks;
	char *library;		/* NULL: not known */
};

struct range { int64_t least, most; };

enum { MEAN_OF_ALL = -1 };	/* in place of a quantile */

/* Those of SIZES, bytes a block; of repetitions that quantile. FILES end with NULL; none is
 * standard input. */
struct points read_points(char **files, struct range sizes, double quantile);
bool is_pingpong(const struct point *point);
/* Or NULL. */
struct point *find_point(const struct points *points, const char *function, int64_t ranks,
    uint64_t bytes);

/* ---- lines.c: T = L + m / B ------------------------------------------------------------------ */

struct line {
	double latency_us, latency_error_us;		/* standard errors; < 0: not known */
	double us_per_byte, us_per_byte_error;
};

enum { MOST_SEGMENTS = 4 };

struct pingpong {
	struct line all;	/* one line through everything, which is what a machine has */
	double mean_error, most_error;	/* of that line, relative */
	uint64_t most_at;	/* bytes */
	size_t count;		/* sizes */
	struct segment { uint64_t first, last; struct line line; } segments[MOST_SEGMENTS];
	size_t segment_count;
	bool has_limit;		/* a break upwards is visible */
	uint64_t below, from;	/* the largest size before it, and the first behind it */
	uint64_t below_least, from_most;	/* and these where it may be as well */
};

/* Fits the ping-pong's points and sets their fitted_us. FILE is for messages. */
struct pingpong fit_pingpong(struct points *points, const char *file);
/* Mean relative error of another line. */
double line_error(const struct points *points, double latency_us, double us_per_byte);

/* ---- collectives.c: the models of Dimemas -------------------------------------------------- */

struct wires {			/* of the machine that is written */
	double latency_us, us_per_byte;			/* between nodes */
	double local_latency_us, local_us_per_byte;	/* inside one */
	int64_t cpus;		/* ranks on a node */
};

struct collective {
	const char *function;	/* without MPI_, lower case in a machine */
	struct phases phases;
	double mean_error;	/* relative */
	bool few;		/* no more measurements than parameters: no error is known */
	bool alike;		/* measured on 2 ranks at most, where all models are the same */
};

/* The best model of each function that was measured; sets fitted_us. Returns how many. */
size_t fit_collectives(struct points *points, const struct wires *wires, struct collective **all);

/* ---- loggp.c: tables by size --------------------------------------------------------------- */

enum { NO_LINKS, FULL_DUPLEX, HALF_DUPLEX, LINKS };

struct ends {			/* what a message costs at its ends, and on its way */
	struct end_times {
		uint64_t bytes;
		double pingpong_us, send_us, receive_us, way_us;
		/* of what the sender spends, so much once the message is on its way */
		double sent_us;
		double held_us;	/* of links, where there are any */
		double exchange_us, burst_us;	/* of a message, of 16; NaN: not measured */
	double combine_us;	/* of two blocks; NaN: not measured */
	} *at;
	size_t count;
	bool has_limit;		/* larger ones than BELOW wait for their receive */
	uint64_t below;
	double latency_us;	/* the least way */
	int links;		/* with these exchanges and bursts are explained best */
	double errors[LINKS];	/* mean relative ones */
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
		double error;	/* sum of the relative ones over SIZES */
		size_t sizes;
	} *at;
	size_t count, capacity;
	/* What was measured beyond the messages of these schedules, where all wait for all. */
	struct beside_found { const char *function; int64_t ranks; uint64_t bytes;
	    double us; } *besides;
	size_t beside_count, beside_capacity;
};

/* The schedule of each collective that was measured, on MACHINE; sets fitted_us. */
struct rules fit_schedules(struct points *points, const char *machine);

#endif
