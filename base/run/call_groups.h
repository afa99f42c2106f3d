/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places at which the first thread of each rank calls, by how their calls interleave. Tests and
 * probes do not count as calls.
 */
#ifndef CALL_GROUPS_H
#define CALL_GROUPS_H

#include "places.h"

/*
 * regular.c: are events regular, or might each chance have been one? Gaps are the numbers of
 * chances from one event to the next.
 */
struct gaps {
	uint64_t count, total, least, most;	/* of those above 0 */
	double logs;
};

/* Below this probability events are regular. */
#define MOST_CHANCE 1e-3

void gaps_add(struct gaps *gaps, uint64_t gap);
/*
 * The probability that the gaps are so alike if each chance is equally likely to be an event:
 * Bartlett's test of exponential intervals (Proc. R. Soc. A 160 (1937)), whose statistic is scaled
 * by its expectation for whole numbers. Gaps of 0 do not count: in a random sequence in which each
 * call depends on the one before, the others are geometric, too.
 */
double gaps_chance(const struct gaps *gaps);
/* The lower tail of chi-square (Wilson and Hilferty, PNAS 17 (1931)). */
double chi_square_below(double x, double freedom);
/* How unequal they are: the logarithm of their mean less the mean of their logarithms. */
double gaps_spread(const struct gaps *gaps);

/* ---- call_groups.c -------------------------------------------------------------------------- */

enum { MOST_PLACES = 1000, LEAST_STEPS = 5 };	/* places of a group */

/* A place of calls: a site, or a function if the site is unknown. */
struct call_place {
	uint32_t site;			/* 0: unknown */
	uint16_t call;			/* of call_name; 0 if the site is known */
};

static inline bool
same_place(struct call_place a, struct call_place b)
{
	return a.site == b.site && a.call == b.call;
}

/* Does the row count as a call? Its place; sites of one name are one (places.h). */
bool is_step_call(uint16_t call);
struct call_place call_place(struct same_sites *same, const struct definitions *known,
    uint32_t site, uint16_t call);

struct step_call {
	int32_t rank, peer;
	struct call_place place, before;	/* before: of the call before on its rank */
	uint64_t number;			/* on its rank, from 0 */
	int64_t enter_ns, leave_ns;
	int64_t left_ns;			/* the call before left */
};

/* Gives TAKE each call of the first threads of RANKS ranks, or of all. */
struct definitions step_calls_read(const char *file, int32_t ranks,
    void (*take)(void *context, const struct step_call *call), void *context);

/*
 * The calls of a rank at a place; a gap is the number of calls from one to the next. Calls that
 * only companions separate are a burst, if bursts are of regular lengths: then it counts once.
 */
struct repeated {
	int32_t rank;			/* -1: a free slot */
	struct call_place place;
	struct call_place before;	/* the call before most bursts, by majority vote */
	struct call_place first_before;	/* the call before the first one */
	uint64_t votes;
	uint64_t strays;		/* calls that come after another place than the first one */
	uint64_t calls, first, end;	/* numbers of calls */
	uint64_t count, last;		/* bursts; the begin of the last one */
	uint64_t run;			/* calls in it */
	int32_t peer;			/* of the first call */
	bool peers, all_peers;		/* of bursts, of calls: do they differ? */
	uint64_t burst;			/* gap within bursts; 0: there are none */
	uint64_t unit;			/* the place and its companions; 0: it is a companion */
	struct gaps gaps;		/* between bursts */
	struct gaps all;		/* between calls */
	struct gaps runs;		/* calls of bursts */
	double chance;			/* of these and, on rank 0, of those in other calls */
	bool regular;			/* it may divide its loop, and count the gaps of others */
	/* Not regular among the calls of another place, or compared with a chain of calls. */
	bool doubtful;
	bool varies, may_vary;		/* some of its steps have one place instead of another */
	bool alternates, mixed;		/* it is one of these two, or may be one */
	bool passing;			/* it comes now and then in the steps of another place */
	int64_t begin_ns, end_ns;	/* first enter, last leave */
};

/* Places of one rank whose calls interleave, in order of their first calls. */
struct group {
	struct repeated *places;
	size_t count;
	uint64_t first, last;		/* calls */
	int64_t begin_ns, end_ns;
};

struct groups {
	struct group *at;
	size_t count, capacity;
};

/* The groups of each rank. */
struct call_groups {
	struct groups *ranks;
	struct repeated *places;
	int32_t count;			/* of ranks */
	int64_t run_ns;
};

/*
 * Reads FILE up to three times. Groups of rank 0 with more than MOST_PLACES places are not
 * judged.
 */
struct call_groups call_groups_find(const char *file);
void call_groups_free(struct call_groups *groups);
/* Back to the begin of standard input, if that is the file. */
void rewind_input(const char *file);

#endif
