/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the steps that a program repeats, in its calls or its regions: steps.c. Below, the places
 * at which the first thread of each rank calls, by how their calls interleave, and which of them
 * divide the run into steps. Tests and probes do not count as calls.
 */
#ifndef STEPS_H
#define STEPS_H

#include "sections.h"

/*
 * Finds the steps of FILE, which is read twice. WANTED: only loops with so many steps, which need
 * not be regular; 0: all. Loops of less than a 20th of the run do not count.
 */
void steps_find(struct steps *steps, const char *file, uint64_t wanted);

/* The same of the outermost regions that repeat, equally often on all ranks. False: none do. */
bool steps_named(struct steps *steps, const char *file, uint64_t wanted);

/*
 * Are events regular, or might each chance have been one? Gaps are the numbers of chances from one
 * event to the next.
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

/* ---- call_groups.c ---- */

enum { MOST_PLACES = 1000 };		/* of a group */

static inline bool
same_place(struct call_place a, struct call_place b)
{
	return a.site == b.site && a.call == b.call;
}

/* For tables by place and rank. */
#define RANK_PLACE_HASH(s) \
	mix((uint64_t)(s)->place.site << 16 | (s)->place.call, (uint64_t)(s)->rank)
#define RANK_PLACE_SAME(a, b) ((a)->rank == (b)->rank && same_place((a)->place, (b)->place))

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

/*
 * ---- dividing_places.c: which places of a group divide it into steps, by how the calls of rank 0
 * at each of them lie among those at the others
 */

/*
 * The calls at a place among those of another one, with as many calls or more; among all, if it is
 * the place itself.
 */
struct among {
	uint64_t after;			/* calls directly after one of any other place */
	uint64_t since;			/* calls of the other one at the last call of this one */
	struct gaps gaps;
	uint64_t usual, votes;		/* the gap of most, by majority vote */
};

/* Most steps have a place, and some have others instead. */
struct instead {
	uint32_t divides, main;		/* the places that divides the steps, and that most have */
	uint64_t steps;			/* without it */
	uint64_t *others;		/* of these, steps with each place */
};

/* From a place to the one of the next call. */
struct way {
	uint32_t from, to;
	double calls, share;
};

/* Places of a group, those with the most calls first. */
struct clocks {
	struct group *group;
	uint64_t *calls;		/* so far */
	uint64_t *at;			/* the last call + 1 */
	uint64_t all_calls;		/* so far, of all of them */
	size_t before;			/* the place of the last one */
	struct among *among;		/* this place, among that one */
	struct way *ways;		/* NULL: not counted yet */
	size_t way_count;
	struct instead *instead;
	size_t instead_count, instead_capacity;
};

/*
 * Which places are regular; those with the most calls come first: others need them. And which of
 * their steps lack a place that most have: the caller then counts what these have instead.
 */
void judge_group(struct clocks *clocks);
/* Which places pass or are doubtful. Frees all but the group. */
void end_judgement(struct clocks *clocks);

/*
 * Does the place divide the group into steps? Its calls reach from begin to end, and are regular;
 * or there are STEPS of them, as wanted, where STEPS is not 0.
 */
enum answer { NO, UNDECIDED, YES };
enum answer place_divides(const struct group *g, const struct repeated *r, uint64_t steps);
/* Else so many steps may be output: there are few, and they have many other calls. */
bool are_enough(const struct group *g, const struct repeated *r, uint64_t steps);

/* Each of so many calls at the place, on one rank, divides the loop. */
struct turns {
	const struct repeated *place;
	uint64_t period;
};

/*
 * turns.c: reads FILE for the loop that has one group of each rank, and finds the places that
 * divide it into the fewest steps. False: there are none, or more than MOST.
 */
bool turns_find(const char *file, const struct group **loop, int32_t ranks, uint64_t most,
    struct turns *found);

#endif
