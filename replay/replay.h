/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of lp-replay share beside the engine. */
#ifndef REPLAY_H
#define REPLAY_H

#include "engine.h"

struct result {			/* of a replay */
	int64_t run_ns, recorded_run_ns;
	int64_t *finish_ns, *recorded_finish_ns;	/* by rank */
	int64_t *useful_ns, *recorded_useful_ns;	/* by rank: computed outside MPI */
	uint32_t ranks;
};

void result_of(struct result *result, const struct engine *engine);

/* output.c: messages wait until all of their rows have their times. */
struct output;
struct output *output_begin(void);
void output_take(struct output *output, const struct message *message, const struct calls *calls);
void output_flush(struct output *output, struct engine *engine);
void output_end(struct output *output, const struct engine *engine, const struct result *result,
    struct reader *in, int argc, char **argv);

/* report.c */
void print_json(const struct result *result);
void print_table(const struct result *result);

/* blocked.c: names who waits for what; how many do. */
unsigned name_blocked(const struct engine *engine);

#endif
