/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of solving a problem with several processes, appended as a line of JSON to the file that
 * LONGPOLE_COST names: see longpole(7). The team measures it for all tools.
 */
#ifndef COST_H
#define COST_H

#include <stddef.h>
#include <stdint.h>

struct cost {
	double start_s;		/* wall time until all processes have met */
	double work_s;		/* processor time since then, without exchanges */
	double exchange_s;	/* wall time in exchanges; of all: without waiting for the last */
	double wall_s;		/* wall time of the whole run */
	uint64_t exchanges;
	uint64_t bytes;		/* sent by this process */
	uint64_t peak_bytes;	/* of memory */
};

/* The tool begins; then all processes have met. */
void cost_begin(void);
void cost_met(void);
/* Before and after an exchange of all processes. */
void cost_enter(void);
void cost_leave(uint64_t bytes);
/* Instead of cost_leave if only two took part: neither work nor an exchange. Returns seconds. */
double cost_leave_pair(uint64_t bytes);
struct cost cost_so_far(void);
/* Seconds in each exchange so far. */
const double *cost_exchanges(size_t *count);
/* Adds to a count of the tool, which the line of a single process has, too. NAME stays valid. */
void cost_count(const char *name, uint64_t more);
/* Writes the line: longest start and work, exchanges without waiting, bytes, memory. */
void cost_tell(int processes, const struct cost *cost);

#endif
