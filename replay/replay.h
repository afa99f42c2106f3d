/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of lp-replay. */
#ifndef REPLAY_H
#define REPLAY_H

#include "../base/replay/replay.h"
#include "../base/tool/text.h"

enum form { GRAPH, JSON, TEXT, CSV };

struct result {			/* of a replay */
	int64_t run_ns, recorded_run_ns;
	int64_t *finish_ns, *recorded_finish_ns;	/* by rank */
	int64_t *useful_ns, *recorded_useful_ns;	/* by rank: computed outside MPI */
	uint32_t ranks;
	bool whole;		/* efficiencies are of the whole run: base/run/span.h */
	struct efficiency efficiency, recorded;
	bool has_states;	/* of a Paraver trace, with these values as in basicanalysis: */
	int64_t all_useful_ns, most_useful_ns;	/* as recorded, of all ranks and of one */
	int64_t instructions, cycles;	/* of all ranks; 0: not known */
	/* from the last leave of MPI_Init to the last MPI_Finalize */
	int64_t together_ns, recorded_together_ns;
	double transfer, serial;	/* POP's */
};

/* WHOLE, and what a message of kind useful has, are set before. */
void result_of(struct result *result, const struct engine *engine);

/* output.c: messages wait until all of their rows have their times. */
struct output;
struct output *output_begin(void);
void output_take(struct output *output, const struct message *message, const struct calls *calls);
void output_flush(struct output *output, struct engine *engine);
struct writer *output_writer(struct output *output);	/* for messages after all others */
void output_partial(struct output *output, struct engine *engine);
void output_end(struct output *output, const struct engine *engine, const struct result *result,
    struct reader *in, int argc, char **argv);

/* report.c: in any form but the stream */
void result_print(struct text *out, const struct result *result, const struct replay *replay,
    enum form form);

static inline double
ratio(int64_t a, int64_t b)
{
	return b > 0 ? (double)a / (double)b : 1;
}

/* monitor.c: transfer efficiency by pair of computing and call. */
struct pair { int64_t recorded_ns, simulated_ns, useful_ns; };	/* its end; computed until then */
struct series { struct pair *pairs; size_t count, capacity; bool chosen; };
struct monitor { const char *ranks; struct series *series; uint32_t count; };	/* by rank */
void monitor_run(struct monitor *monitor, uint32_t ranks);
void monitor_take(struct monitor *monitor, uint32_t rank, uint16_t call, int64_t recorded_ns,
    int64_t simulated_ns, int64_t useful_ns);
void monitor_print(struct text *out, const struct monitor *monitor);
void monitor_write(const struct monitor *monitor, struct writer *out);

/* regions.c: phases of a rank's series. */
void regions_print(struct text *out, const struct monitor *monitor);
void regions_write(const struct monitor *monitor, struct writer *out);

/* report.c */
struct explain { bool asked, message; uint32_t location; uint64_t seq; };
void explain_parse(struct explain *explain, const char *text);
void explain_message(struct text *out, const struct engine *engine, uint32_t flight);
void explain_rank(struct text *out, const struct engine *engine, uint32_t location);

#endif
