/* SPDX-License-Identifier: BSD-3-Clause */
/* The first line of every report: which run it describes. */
#ifndef HEADLINE_H
#define HEADLINE_H

#include "../stream/stream.h"

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
	struct load *loads;		/* by host: load.h */
	size_t load_count, load_capacity;
};

/* Takes a message of kind rank. */
void headline_rank(struct headline *headline, const struct message *message);

/* The number of a rank's host; SIZE_MAX: unknown. */
size_t headline_host(const struct headline *headline, int32_t rank);

/* Takes a message of kind environment. */
void headline_environment(struct headline *headline, const struct message *message);

/* "heat, 4 ranks on node1, 2026-11-22 05:30 UTC"; free() it. */
char *headline_text(const struct headline *headline);

#endif
