/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How each simulated time follows from sums and maxima of other times and of the machine's
 * parameters. The engine notes this while it runs without limits. A watcher can then find the times
 * for other parameters, or the parameters on the path.
 *
 * Each time has a number: the clock of a location, or those of a message or collective below.
 */
#ifndef WATCHERS_H
#define WATCHERS_H

#include "../machine/machine.h"

struct engine;

/* The place where a cost or a wait arises. */
struct payer {
	uint32_t site, comm, source, target;	/* source, target: nodes of a message; NO_NODE */
	uint16_t call;
	bool waits;				/* another rank's time may hold this one up here */
};
enum { NO_NODE = UINT32_MAX, NO_PAYER = 0 };

enum { SENT, POSTED, ARRIVED, MESSAGE_TIMES };

struct watcher {		/* sync and over may be NULL */
	void *context;
	void (*add)(void *context, uint32_t to, const struct cost *cost, uint32_t payer);
	void (*set)(void *context, uint32_t to, uint32_t from, const struct cost *cost,
	    uint32_t payer);
	void (*max)(void *context, uint32_t to, uint32_t from, uint32_t payer);
	/* all clocks have this time, and nothing is in flight */
	void (*sync)(void *context, uint32_t at);
	/* COUNT times from FIRST on are set anew before they are read again */
	void (*over)(void *context, uint32_t first, uint32_t count);
};

struct marks {
	const struct watcher *watchers;
	size_t watcher_count;
	uint32_t times;			/* numbers in use */
	uint32_t scratch;			/* a time for intermediate sums */
	struct weight {
		double bytes;
		uint32_t first;			/* number of its first time; 0: none yet */
		uint32_t sender, waiter, receiver;	/* payers: its send, both waits */
	} *weights;			/* by message */
	size_t weight_count;
	struct payer *payers;		/* from 1 */
	size_t payer_count, payer_capacity;
	struct payers *payer_table;
	uint64_t in_flight;		/* messages on their way and not received */
	bool pays;			/* payers are wanted */
	const char *broken;		/* why the times are not sums and maxima; NULL: they are */
};

void marks_begin(struct engine *engine, struct marks *marks, const struct watcher *watchers,
    size_t count);
void mark_add(struct engine *engine, uint32_t to, const struct cost *cost, uint32_t payer);
void mark_set(struct engine *engine, uint32_t to, uint32_t from, const struct cost *cost,
    uint32_t payer);
void mark_max(struct engine *engine, uint32_t to, uint32_t from, uint32_t payer);
void mark_sync(struct engine *engine, uint32_t at);
void mark_over(struct engine *engine, uint32_t first, uint32_t count);	/* FIRST 0: none */
uint32_t message_time(struct engine *engine, uint32_t flight, int which);
uint32_t last_time(struct engine *engine, uint32_t instance);	/* of the last to arrive */
uint32_t member_time(struct engine *engine, uint32_t instance, uint32_t member);
/* of a group of members, unless all wait for all */
uint32_t met_time(struct engine *engine, uint32_t instance, uint32_t group);
struct weight *message_weight(struct engine *engine, uint32_t flight);
/*
 * Without a watcher these do nothing. The runner continues at this time of the message, or later;
 * it computes.
 */
void mark_message(struct engine *engine, uint32_t runner, uint32_t flight, int when);
void mark_spent(struct engine *engine, uint32_t runner, double ns);
/* The payer of the runner's current action, and whether it waits there for others. */
uint32_t payer_here(struct engine *engine, uint32_t runner, bool waits);

#endif
