/* SPDX-License-Identifier: BSD-3-Clause */
/* Did the ranks have the cores that they needed? trace.5, load. */
#ifndef LOAD_H
#define LOAD_H

#include "../stream/stream.h"
#include "../tool/json.h"
#include "headline.h"

struct load {
	char *host;
	int64_t ranks, cores, threads;
	/* others_ns -1: unknown */
	int64_t elapsed_ns, cpu_ns, thread_cpu_ns, waited_ns, others_ns;
};

struct load_shares {
	double preempted;	/* share of the threads' time: ready, without a core */
	double off_core;	/* share of one thread's time a rank: without a core */
	double others;		/* share of the cores' time: other processes; NAN: unknown */
};

struct load_shares load_shares(const struct load *load);
/* Both need at least one host: the sum of all, and the host with the largest share preempted. */
struct load load_sum(const struct headline *headline);
const struct load *load_worst(const struct headline *headline);

/* Takes a message of kind load. 1, or -1 (reason in the reader). */
int load_take(struct headline *headline, struct reader *in, const struct message *message);
/* "4 ranks on 2 cores, 50 % of the time ready to run, without a core"; free() it. */
char *load_measured(const struct headline *headline, const struct load *load);
/* The same of the worst host, and the share of others; NULL: there were enough cores. free() it. */
char *load_text(const struct headline *headline);
/* The share of the threads' time on all hosts that they were ready without a core; NaN: unknown. */
double preempted_share(const struct headline *headline);
/* The same as a line of a report. */
void load_line(struct text *text, const struct headline *headline);
/* An object "load" for all hosts together; nothing if unknown. */
void load_json(struct json *json, const struct headline *headline);

#endif
