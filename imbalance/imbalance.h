/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The analytic imbalance of Korkhov et al., "Finding Bottlenecks in MPI Programs by Scalable
 * Critical Path Analysis", Algorithms 2023, 16, 505.
 *
 * A call and those it communicates with are a group: the members of a collective, or the two ends
 * of a message; a call with several messages is grouped with the end that was entered last. With
 * the group's latest start and earliest end, for each call i
 *
 *	t_wait_before = latest start - start_i
 *	t_wait_after = end_i - earliest end
 *	t_execution = earliest end - latest start
 *
 * Where t_execution would be negative the calls do not overlap: the call did not synchronise. It
 * then has no wait and no execution time, and its length counts as unsynchronised. A call that
 * communicates with nobody is a group of its own, all execution. So for each rank
 * program + execution + wait + unsynchronised time is the time from its first enter to its last
 * leave.
 */
#ifndef IMBALANCE_H
#define IMBALANCE_H

#include "../stream/collective.h"
#include "../stream/tool.h"

struct totals {
	int64_t wait_before_ns, wait_after_ns, execution_ns, unsynchronised_ns;
	int64_t program_ns;	/* outside of MPI calls; processes only */
	int64_t graph_ns;	/* in MPI calls */
	uint64_t calls, unsynchronised, nodes, edges;
};

struct imbalance {
	struct totals program;
	struct totals *ranks;	/* by rank */
	struct totals *calls;	/* by index of call_info */
	size_t call_capacity;
};

static inline int64_t
wait_ns(const struct totals *t)
{
	return t->wait_before_ns + t->wait_after_ns;
}

/* Waits over execution and program time; 0 where there is neither. */
double imbalance_of(const struct totals *t);

void print_table(const struct imbalance *imbalance, const struct definitions *known, bool all);
void print_json(const struct imbalance *imbalance, const struct definitions *known);
void print_csv(const struct imbalance *imbalance, const struct definitions *known);

#endif
