/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How each time of a simulation came about: by sums and maxima of other times, and of the
 * parameters of the machine. The engine says so while it runs, where nothing is limited; who looks
 * on can then tell what the run would be with other parameters, or which of them are on its path.
 *
 * A time has a number: of a location its clock, of a message and of a collective what is below.
 */
#ifndef WATCHERS_H
#define WATCHERS_H

#include "../machine/machine.h"

struct engine;

/* Who pays: where the cost, or the wait, arises. */
struct payer {
	uint32_t site, comm, source, target;	/* source, target: nodes of a message; NO_NODE */
	uint16_t call;
	bool waits;		/* the time of another rank may hold this one up here */
};
enum { NO_NODE = UINT32_MAX, NO_PAYER = 0 };

enum { SENT, POSTED, ARRIVED, MESSAGE_TIMES };

struct watcher {		/* who looks on; any may be NULL */
	void *context;
	void (*add)(void *context, uint32_t to, const struct cost *cost, uint32_t payer);
	void (*set)(void *context, uint32_t to, uint32_t from, const struct cost *cost,
	    uint32_t payer);
	void (*max)(void *context, uint32_t to, uint32_t from, uint32_t payer);
	/* all clocks are at this time, and nothing is in flight */
	void (*sync)(void *context, uint32_t at);
};

struct marks {
	const struct watcher *watchers;
	size_t watcher_count;
	uint32_t times;			/* numbers in use */
	uint32_t scratch;		/* a time for sums on the way */
	struct weight {
		double bytes;
		uint32_t first;			/* number of its first time; 0: none yet */
		uint32_t sender, receiver;	/* payers */
	} *weights;			/* by message */
	size_t weight_count;
	struct payer *payers;		/* from 1 */
	size_t payer_count, payer_capacity;
	struct payers *payer_table;
	uint64_t in_flight;		/* messages that are on their way and not received */
	bool pays;			/* somebody asks who pays */
	const char *broken;		/* why the times are no sums and maxima; NULL: they are */
};

void marks_begin(struct engine *engine, struct marks *marks, const struct watcher *watchers,
    size_t count);
void mark_add(struct engine *engine, uint32_t to, const struct cost *cost, uint32_t payer);
void mark_set(struct engine *engine, uint32_t to, uint32_t from, const struct cost *cost,
    uint32_t payer);
void mark_max(struct engine *engine, uint32_t to, uint32_t from, uint32_t payer);
void mark_sync(struct engine *engine, uint32_t at);
uint32_t message_time(struct engine *engine, uint32_t flight, int which);
uint32_t last_time(struct engine *engine, uint32_t instance);	/* of the last to come */
uint32_t member_time(struct engine *engine, uint32_t instance, uint32_t member);
struct weight *message_weight(struct engine *engine, uint32_t flight);
/* These do nothing where nobody looks on: the runner goes on no sooner than the message is so far;
 * it computes. */
void mark_message(struct engine *engine, uint32_t runner, uint32_t flight, int when);
void mark_spent(struct engine *engine, uint32_t runner, double ns);
/* For what the runner does now, and whether it waits there for others. */
uint32_t payer_here(struct engine *engine, uint32_t runner, bool waits);

#endif
