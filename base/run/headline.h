/* SPDX-License-Identifier: BSD-3-Clause */
/* The first line of every report: which run it describes. */
#ifndef HEADLINE_H
#define HEADLINE_H

#include "../stream/stream.h"

#define LAST_DATE_S 253402300799	/* the end of the year 9999 */

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
	char *program;		/* path of the first rank's; NULL: not known */
	int64_t date_s;		/* of the recording, since 1970; 0: not known */
	char *unended;		/* how the run did not end; NULL: it ended */
	int64_t open_ns;	/* of all threads in calls that did not return */
	int32_t ranks;
	/* messages of kind rank, and how many of them say that it did not end */
	int32_t ranks_told, ranks_died;
	int64_t clock_error_ns;		/* the largest bound of a rank's; -1: not known */
	struct host *hosts;	/* in order of their first rank */
	size_t host_count, host_capacity;
	struct host_table *by_name;
	uint32_t *host_of;	/* by rank: 1 + of hosts; 0: not known */
	struct variable *environment;	/* as recorded; the MPI library first */
	size_t variable_count, variable_capacity;
	struct load *loads;		/* by host: load.h */
	size_t load_count, load_capacity;
};

/* Takes a message of kind rank. */
void headline_rank(struct headline *headline, const struct message *message);

/* Of a rank, the number of its host; SIZE_MAX: not known. */
size_t headline_host(const struct headline *headline, int32_t rank);

/* Takes a message of kind environment. */
void headline_environment(struct headline *headline, const struct message *message);

/* "heat, 4 ranks on node1, 2026-11-22 05:30 UTC"; to be freed. */
char *headline_text(const struct headline *headline);

#endif
