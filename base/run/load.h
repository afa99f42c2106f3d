/* SPDX-License-Identifier: BSD-3-Clause */
/* Did ranks have the cores that they needed? trace.5, load. */
#ifndef LOAD_H
#define LOAD_H

#include "../stream/stream.h"
#include "../tool/json.h"
#include "headline.h"

struct load {
	char *host;
	int64_t ranks, cores, threads;
	/* others_ns -1: not known */
	int64_t elapsed_ns, cpu_ns, thread_cpu_ns, waited_ns, others_ns;
};

struct load_shares {
	double preempted;	/* of the threads' time: ready to run, without a core */
	double off_core;	/* of one thread's time a rank: without a core, ready or not */
	double others;		/* of the cores' time: processes not of this run; NAN: not known */
};

struct load_shares load_shares(const struct load *load);
/* There is one at least: all hosts together; the one with the largest share preempted. */
struct load load_sum(const struct headline *headline);
const struct load *load_worst(const struct headline *headline);

/* Takes a message of kind load. 1, or -1 (in the reader). */
int load_take(struct headline *headline, struct reader *in, const struct message *message);
/* "4 ranks on 2 cores, 50 % of the time ready to run, without a core"; to be freed. */
char *load_measured(const struct headline *headline, const struct load *load);
/* The same of the worst host, and what others took; NULL: all had enough cores. To be freed. */
char *load_text(const struct headline *headline);
/* Of the threads' time, on all hosts: ready to run, without a core; NaN: not known. */
double preempted_share(const struct headline *headline);
/* The same as a line of a report. */
void load_line(struct text *text, const struct headline *headline);
/* An object "load" for all hosts together; nothing if not known. */
void load_json(struct json *json, const struct headline *headline);

#endif
