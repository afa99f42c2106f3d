/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to solve a problem together, as a line of JSON behind the others in the file that LONGPOLE_COST
 * names: longpole(7). Kept by those who make teams, for all tools.
 */
#ifndef COST_H
#define COST_H

#include <stddef.h>
#include <stdint.h>

struct cost {
	double start_s;		/* until all processes had met, by the clock on the wall */
	double work_s;		/* processor time since then, without exchanges */
	double exchange_s;	/* in exchanges, by the clock on the wall; of all: without waiting for who comes last */
	double wall_s;		/* of all */
	uint64_t exchanges;
	uint64_t bytes;		/* that this process gave the others */
	uint64_t peak_bytes;	/* of its memory */
};

/* The tool begins; all processes have met. */
void cost_begin(void);
void cost_met(void);
/* Around what takes all processes. */
void cost_enter(void);
void cost_leave(uint64_t bytes);
/* In place of cost_leave where only two took part: no work, but none of the exchanges. The seconds in it. */
double cost_leave_pair(uint64_t bytes);
struct cost cost_so_far(void);
/* Seconds in each exchange so far. */
const double *cost_exchanges(size_t *count);
/* Of the processes that started and worked longest, for exchanges of those that came last; bytes of all; the most memory. */
void cost_tell(int processes, const struct cost *cost);

#endif
