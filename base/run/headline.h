/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first line of every report: which run it describes. The second: did the ranks have the cores
 * that they needed?
 */
#ifndef HEADLINE_H
#define HEADLINE_H

#include "../stream/stream.h"

struct definitions;
struct text;

#define LAST_DATE_S 253402300799	/* the end of year 9999 */

struct host {
	char *name;
	int32_t ranks;
};

/* A setting that affects a run: trace.5, environment. */
struct variable {
	char *name, *value;
};
/* Reads a message of that kind; false if it has no name or no value. */
bool variable_read(struct variable *variable, const struct message *message);
int variable_write(struct writer *out, const struct variable *variable);

struct headline {
	char *program;		/* path of the first rank's program; NULL: unknown */
	int64_t date_s;		/* of the recording, since 1970; 0: unknown */
	char *unended;		/* how the run failed to end; NULL: it ended */
	char *hung;		/* "deadlock: 0 waits in ...", if that is certain; else NULL */
	int32_t *hung_ranks;	/* the ones to look at, and where the first is */
	size_t hung_count, hung_capacity;
	uint32_t hung_site;
	int64_t open_ns;	/* of all threads in calls that did not return */
	int32_t ranks;
	int32_t ranks_told, ranks_died;	/* messages of kind rank; how many did not end */
	int64_t clock_error_ns;		/* the largest bound of any rank; -1: unknown */
	struct host *hosts;	/* in order of their first rank */
	size_t host_count, host_capacity;
	struct host_table *by_name;
	uint32_t *host_of;	/* by rank: 1 + index in hosts; 0: unknown */
	struct variable *environment;	/* as recorded; the MPI library first */
	size_t variable_count, variable_capacity;
	struct host_load *loads;		/* by host */
	size_t load_count, load_capacity;
};

/*
 * Take a message of kind rank, environment or load, as in the table of definitions.c. Bad input
 * ends the tool.
 */
void headline_rank(struct definitions *definitions, struct reader *in,
    const struct message *message);
void headline_environment(struct definitions *definitions, struct reader *in,
    const struct message *message);
void headline_load(struct definitions *definitions, struct reader *in,
    const struct message *message);

/* The number of a rank's host; SIZE_MAX: unknown. */
size_t headline_host(const struct headline *headline, int32_t rank);
/* "heat, 4 ranks on node1, 2026-11-22 05:30 UTC"; free() it. */
char *headline_text(const struct headline *headline);

/* ---- cores: trace.5, load ---- */

struct host_load {
	char *host;
	int64_t ranks, cores, threads;
	/* others_ns -1: unknown */
	int64_t elapsed_ns, cpu_ns, thread_cpu_ns, waited_ns, others_ns, switches_ns;
};

/* The load as reports show it; negative or NAN: unknown. */
struct load_shares {
	int64_t cores, ranks, threads;
	double preempted;	/* share of the threads' time: ready, without a core */
	double off_core;	/* share of one thread's time a rank: without a core */
	double others;		/* share of the cores' time: other processes */
	/* share of the time of as many cores as they can use: the records of switches */
	double recording;
};

struct load_shares load_shares(const struct host_load *load);
/* Both need at least one host: the sum of all, and the host with the largest share preempted. */
struct host_load load_sum(const struct headline *headline);
const struct host_load *load_worst(const struct headline *headline);

/* "4 ranks on 2 cores, 50 % of the time ready to run, without a core"; free() it. */
char *load_measured(const struct headline *headline, const struct host_load *load);
/* The same of the worst host, and the share of others; NULL: there were enough cores. free() it. */
char *load_text(const struct headline *headline);
/* The share of the threads' time on all hosts that they were ready without a core; NaN: unknown. */
double preempted_share(const struct headline *headline);
/* The same as a line of a report. */
void load_line(struct text *text, const struct headline *headline);

#endif
