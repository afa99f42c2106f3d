/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of the path through a stretch that has not ended, so that its rows can be forgotten. */
#ifndef EARLY_H
#define EARLY_H

#include "run.h"

struct pieces {
	struct run *run;
	struct segments *segments;	/* of one piece at a time */
	void (*take)(void *context);	/* takes these; they are in order */
	void *context;
};

/*
 * To be called after each message. True if the path up to an event of the stretch is certain, and
 * far enough to be worth taking; TO gets the event, for pieces_take.
 */
bool run_decided(struct run *run, const struct message *message, struct event *to);
/* Takes the piece up to that event, and forgets rows that nothing needs any more. */
void pieces_take(const struct pieces *pieces, struct event to);
/* The stretch has ended in LAST: takes pieces of a long way, but not the last one. */
void pieces_end(const struct pieces *pieces, struct event last);

#endif
