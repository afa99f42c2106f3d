/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps that a program repeats, found in its calls.
 *
 * A step begins with a call at the same place each time, or ends with it. A loop lies from the
 * first call of some places to their last, if these calls interleave. First, calls are made fewer:
 *	- a companion is a place that comes directly after another one, each time and nowhere
 *	  else; it says no more than that one, and is left out;
 *	- calls at a place that only companions separate are a burst, and count once, if bursts
 *	  are of regular lengths: else another place comes between them by chance.
 * So an exchange with each neighbour in turn is one call. A place may divide a loop into steps if
 *	- it was called LEAST_STEPS times or more, and equally often on all ranks;
 *	- its calls reach from the begin of the loop to its end: the calls before the first and
 *	  after the last are at most twice the longest step, or a tenth of the loop's;
 *	- its calls are regular (regular.c): the probability that each call, or on rank 0 each
 *	  call at another place, is just as likely to divide steps is below MOST_CHANCE. Other
 *	  places are those with as many calls or more, unless the place is four times as regular
 *	  among all calls;
 *	- on rank 0 each way from a call at the place leads back to it; or they are so regular,
 *	  too, compared with calls of which each depends only on the one before (chain.c).
 * Of these the one with the fewest calls counts, since the outermost loop is wanted, but not a
 * place that is passing: it comes now and then in the steps of another one, such as output. On
 * rank 0 that is one that is called
 *	- by chance: among twice as many steps or more of the other one;
 *	- instead of a place that almost all steps have, as where each tenth step of a
 *	  simulation sorts particles anew: a loop within another one has all its places in all
 *	  its steps;
 *	- each time after as many steps of the other one, if it and its like are fewer than a
 *	  64th of all calls, or if some steps have one place instead of another.
 * A loop is undecided, and has no steps, if there is other doubt: if another place, whose bursts
 * are of one length, divides it into somewhat more steps; if the place's messages go to other
 * ranks in turn, as where one function makes each exchange of a step, unless these turns have a
 * period (turns.c); if there are less than 16 steps, and the places called as often have a 16th of
 * all calls or less: a wrong period is worse than none. The place ends the steps if it is further
 * from the loop's begin than from its end. Tests and probes do not count as calls, because their
 * number depends on waiting.
 *
 * Memory: 340 bytes for each rank and place, and 80 bytes for each two places of a loop.
 */
#ifndef STEPS_H
#define STEPS_H

#include "../stream/samples.h"
#include "call_groups.h"

enum { LEAST_SHARE = 20 };	/* share of the run: 1/20 */

/* The steps of one rank. Calls have numbers from 0, without tests and probes. */
struct rank_steps {
	struct call_place place;	/* begins or ends each step */
	uint64_t first, last;		/* calls of all steps */
	uint64_t unit, burst;		/* as of struct repeated */
	uint64_t period;		/* each of so many calls there divides; of bursts, one */
};

struct loop {
	uint64_t steps;
	bool ends;			/* the place ends each step */
	double chance;			/* the largest of all ranks */
	double calls;			/* of a step, mean of rank 0 */
	int64_t begin_ns, end_ns;	/* of rank 0 */
	uint64_t synchronised;		/* points in its steps at which all ranks meet */
	uint64_t differ;		/* of these, with ranks in different steps */
	uint32_t region;		/* whose instances are the steps; 0: found in calls */
	struct rank_steps *ranks;	/* NULL with a region */
	char *label;			/* sections_name gives it: the place, or the region */
};

struct steps {
	struct loop *loops;		/* in order of time */
	size_t count, capacity;
	/* The longest undecided loop; steps 0: none. */
	struct loop undecided;
	struct call_place undecided_at;
	int32_t ranks;
};

/*
 * Finds the steps of FILE, which is read twice. WANTED: only loops with so many steps, which need
 * not be regular; 0: all. Loops of less than a 20th of the run do not count.
 */
void steps_find(struct steps *steps, const char *file, uint64_t wanted);

/*
 * region_steps.c: the same of the outermost regions that repeat, equally often on all ranks. False:
 * there are none.
 */
bool steps_named(struct steps *steps, const char *file, uint64_t wanted);
/* Ends the tool if the regions of a block are not defined. */
void check_regions(const struct definitions *known, struct reader *in,
    const struct message *message, const struct samples *block);

#endif
