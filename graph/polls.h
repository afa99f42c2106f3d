/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling is waiting where the rank goes on only when something has come. Failed tests and probes, of one
 * thing or in turns of several, with no longer than a given time between two, that are ended by the success of
 * one of these (of a probe by the receive behind it) become one wait: the call that ended them was entered
 * when all of them were first polled, and they have no time from then on.
 *
 * A run that anything else ends is left as it is, and so are runs for the same things where the rank did not
 * need them to go on, as it has done that in more than one of nine: between these polls it works, however
 * short that is, and they cost it time, as HPCC's RandomAccess that tests once for each number it makes.
 *
 * Where a thread is sampled, a longer time between two polls ends no run if it is off the core for most of the time
 * between the polls of these things: it sleeps until the next one.
 *
 * For this messages are held back until the runs in them have ended, as far as memory allows.
 */
#ifndef POLLS_H
#define POLLS_H

#include "graph.h"

enum { POLLS_MOST_LEFT = 8 };	/* a wait ends by success that many times for each time it does not */

struct samples;

struct polls {
	bool as_waits;
	int64_t gap_ns;			/* computing for longer between two polls is work */
	uint64_t waits, absorbed;	/* waits made, and failed polls in them */
	struct poll_run *runs;		/* by location */
	struct habits *habits;
	struct held *oldest, *newest;	/* messages held back */
	struct samples *samples;	/* of the block to come */
	struct calls spare;		/* a block that is written anew */
	size_t held_bytes;
};

/* A message of kind sampled, before it is taken: its body is there only now. */
void polls_samples(struct polls *polls, const struct graph *graph, struct reader *in, const struct message *message);
/* Takes a block, as read into CALLS, or another message; TAKE gets what need not be held any more. */
void polls_take(struct polls *polls, struct graph *graph, struct reader *in, const struct message *message,
    struct calls *calls);
void polls_end(struct polls *polls, struct graph *graph, struct reader *in);
/* How polls are read, as a message in front of all blocks; and, at last, what was found, for people. */
void polls_begin(const struct polls *polls, struct graph *graph);
void polls_tell(const struct polls *polls);

/* graph.c: a message goes out; CALLS: NULL, or its block, written anew where it has CHANGED. */
void pass_on(struct graph *graph, struct reader *in, const struct message *message,
    const struct calls *calls, bool changed);

#endif
