/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two label-correcting searches share. They go from the last event backwards, as in Korkhov
 * et al. 2023: a label is the longest distance known from an event to the last one, and the event
 * that comes next on that way. An event, its label and its incoming edges are with its owner; a
 * relaxation of an edge whose source belongs to another member of the team is sent there.
 */
#ifndef SOLVERS_SEARCH_H
#define SOLVERS_SEARCH_H

#include "solvers.h"

struct entry {
	int64_t distance_ns;	/* to the last event */
	struct event event;
};

struct entries {
	struct entry *at;
	size_t count, capacity;
};

struct label {
	int64_t reached;	/* 1 + distance; 0: not reached, so that fresh memory needs no filling */
	struct event next;
};

struct request {		/* relax an edge of SOURCE: the way over TARGET has this length */
	struct event source, target;
	int64_t distance_ns;
};

struct outbox {
	struct request *at;
	size_t count, capacity;
};

struct search {
	const struct stretch *stretch;
	struct numbering own;
	struct label *labels;		/* of own events */
	struct entries improved;	/* labels that got longer; the solver takes them from here */
	struct entries reached;		/* each own event with a label, once */
	struct outbox *outbox;		/* by member */
	struct entry first;		/* the longest way to the beginning starts here */
	bool arrived;
};

/* The owner of the last event has it in improved. */
void search_open(struct search *search, const struct stretch *stretch);
/* False where the label has got longer since the entry was made. */
bool search_is_current(const struct search *search, const struct entry *entry);
/* The incoming edge of the entry's event, if its length is in [min_ns, max_ns]. */
void search_relax(struct search *search, const struct entry *entry, int64_t min_ns, int64_t max_ns);
/* Sends what is in the outboxes and takes what comes. False where nobody had anything. */
bool search_exchange(struct search *search);
/* Appends the path's segments on member 0 and closes the search. False: the beginning was not met. */
bool search_finish(struct search *search, struct segments *segments);

void add_entry(struct entries *entries, struct entry entry);

#endif
