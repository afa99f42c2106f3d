/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of which each member of a team keeps the rows of its own ranks only. What a call needs of
 * others that may have blocked it comes with the edge, from the member that has their rows. All
 * members read the same messages, so all exchange at the same ones.
 */
#ifndef SHARED_H
#define SHARED_H

#include "run.h"

/* What a row has behind struct event_row: the far end of its edge where that is with another member. */
struct shared_row {
	struct event_row at;
	int64_t other_ns;	/* its enter */
	uint32_t other_part;	/* distance to the first row of its call */
};

/* The block of edges read last is joined to own rows. */
void share_messages(struct run *run, const struct message *message);
void share_collectives(struct run *run, const struct message *message);
/* The last event of all members' in run->last_ns and LAST, from that of each; INT64_MIN: none. */
void share_last(struct run *run, struct event *last);
/* Ends of all locations in run->end_seq, from those of own ones. */
void share_ends(struct run *run);

#endif
