/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph stream as a tool replays it:
 *
 *	struct replay r = { .opt = { .file = file, .plain = machine_ideal, .eager_bytes = -1 } };
 *
 *	replay_open(&r);
 *	while (progress_next(&progress, r.graph.in, &message))
 *		if (replay_take(&r, &message) == GRAPH_RUN)
 *			...				hooks of r.engine are set here
 *	replay_end(&r);
 *
 * Memory: ranks, and the rows between the first that is not yet simulated and the last read.
 */
#ifndef REPLAY_FLOOR_H
#define REPLAY_FLOOR_H

#include "engine.h"

struct replay {
	struct replay_options {
		const char *file;		/* NULL or "-": standard input */
		const char *network;		/* a machine; NULL: PLAIN makes one */
		void (*plain)(struct machine *machine);
		int64_t eager_bytes;		/* -1: the machine's */
		struct scales scales;
		bool partial;			/* replay a run that blocks up to there */
	} opt;
	struct graph_input graph;	/* rows are in the engine's lanes */
	struct machine machine;
	struct engine engine;
};

/* Opens the stream and makes the machine, which the tool may change before the first message. */
void replay_open(struct replay *replay);
/* Takes a message, and simulates as far as all edges are known. */
enum graph_item replay_take(struct replay *replay, const struct message *message);
/*
 * The stream has ended: simulates the rest. A run that blocks ends the tool, unless opt.partial is
 * set.
 */
void replay_end(struct replay *replay);
/*
 * The headline of a replay: run time on the network and as recorded, and what both differ by.
 * RECORDED_NS 0: not known.
 */
void replay_headline(struct text *text, const struct replay *replay, int64_t run_ns,
    int64_t recorded_ns);
/* When a location finished or, if it is blocked, the time since which it is. */
int64_t finish_ns(const struct runner *runner);

#endif
