/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling is waiting. Failed tests and probes in a row, with no longer than a given time between
 * two, that are ended by the one that succeeds (a probe by the receive behind it) become one wait:
 * the call that ended them was entered when the first of them was, and they have no time. A run of
 * polls that anything else ends, a longer computation among it, is left as it is.
 *
 * For this messages are held back until the runs in them have ended, as far as memory allows.
 */
#ifndef POLLS_H
#define POLLS_H

#include "graph.h"

struct polls {
	bool as_waits;
	int64_t gap_ns;			/* computing for longer between two polls is work */
	uint64_t waits, absorbed;	/* waits made, and failed polls in them */
	struct poll_run *runs;		/* by location */
	struct held *oldest, *newest;	/* messages held back */
	struct calls spare;		/* a block that is written anew */
	size_t held_bytes;
};

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
