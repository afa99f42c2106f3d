/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The usual schedules: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective
 * Communication Operations in MPICH", IJHPCA 19 (2005); J. Bruck et al., IEEE TPDS 8 (1997); D.
 * Hensgen, R. Finkel, U. Manber, Int. J. Parallel Prog. 17 (1988).
 */
#include <stddef.h>

#include "schedule.h"

const char *const schedule_names[SCHEDULES + 1] = { "tree", "linear", "chain", "binomial",
    "recursive-doubling", "ring", "bruck", "pairwise", "recursive-halving", "rabenseifner",
    "reduce-bcast", "scatter-ring", "binary", NULL };

#define ALSO(schedule) | 1u << SCHEDULE_##schedule

static const uint32_t fitting[OPERATIONS] = {
	[OP_BARRIER] = 0 ALSO(DOUBLING) ALSO(BRUCK) ALSO(TWO_TREES),
	[OP_BCAST] = 0 ALSO(LINEAR) ALSO(CHAIN) ALSO(BINOMIAL) ALSO(SCATTER_RING) ALSO(BINARY),
	[OP_GATHER] = 0 ALSO(LINEAR) ALSO(BINOMIAL),
	[OP_GATHERV] = 0 ALSO(LINEAR) ALSO(BINOMIAL),
	[OP_SCATTER] = 0 ALSO(LINEAR) ALSO(BINOMIAL),
	[OP_SCATTERV] = 0 ALSO(LINEAR) ALSO(BINOMIAL),
	[OP_ALLGATHER] = 0 ALSO(LINEAR) ALSO(RING) ALSO(BRUCK) ALSO(DOUBLING),
	[OP_ALLGATHERV] = 0 ALSO(LINEAR) ALSO(RING) ALSO(BRUCK) ALSO(DOUBLING),
	[OP_ALLTOALL] = 0 ALSO(LINEAR) ALSO(PAIRWISE) ALSO(BRUCK),
	[OP_ALLTOALLV] = 0 ALSO(LINEAR) ALSO(PAIRWISE) ALSO(BRUCK),
	[OP_ALLTOALLW] = 0 ALSO(LINEAR) ALSO(PAIRWISE),
	[OP_REDUCE] = 0 ALSO(LINEAR) ALSO(CHAIN) ALSO(BINOMIAL) ALSO(RABENSEIFNER) ALSO(BINARY),
	[OP_ALLREDUCE] = 0 ALSO(DOUBLING) ALSO(RING) ALSO(RABENSEIFNER) ALSO(TWO_TREES),
	[OP_REDUCE_SCATTER] = 0 ALSO(PAIRWISE) ALSO(RING) ALSO(HALVING),
	[OP_REDUCE_SCATTER_BLOCK] = 0 ALSO(PAIRWISE) ALSO(RING) ALSO(HALVING),
	[OP_SCAN] = 0 ALSO(CHAIN) ALSO(DOUBLING),
};

bool
schedule_fits(enum schedule schedule, enum operation operation)
{
	return schedule == NO_SCHEDULE || (fitting[operation] >> schedule & 1) != 0;
}

bool
schedule_is_rooted(enum operation operation)
{
	return operation == OP_BCAST || operation == OP_REDUCE ||
	    (operation >= OP_GATHER && operation <= OP_SCATTERV);
}

bool
schedule_is_segmented(enum schedule schedule, enum operation operation)
{
	return (operation == OP_BCAST || operation == OP_REDUCE) && (schedule == SCHEDULE_CHAIN ||
	    schedule == SCHEDULE_BINOMIAL || schedule == SCHEDULE_BINARY);
}

/* All except these trees have one message between two ranks in a round. */
static struct round
plain_round(const struct plan *plan, uint32_t me, uint32_t s)
{
	struct round r = schedule_is_rooted(plan->operation) ? rooted_round(plan, me, s) :
	    even_round(plan, me, s);

	r.to_number = r.from_number = s;
	return r;
}

struct round
schedule_round(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t p = plan->ranks;
	struct round r;

	if (!schedule_is_rooted(plan->operation))
		return plain_round(plan, me, s);
	me = (me + p - plan->root) % p;
	r = schedule_is_segmented(plan->schedule, plan->operation) ? tree_round(plan, me, s) :
	    plain_round(plan, me, s);
	if (r.to != NOBODY)
		r.to = (r.to + plan->root) % p;
	if (r.from != NOBODY)
		r.from = (r.from + plan->root) % p;
	return r;
}

uint32_t
schedule_rounds(const struct plan *plan)
{
	uint32_t p = plan->ranks;
	struct fold f = fold_of(p);

	if (p < 2)
		return 0;
	if (schedule_is_segmented(plan->schedule, plan->operation))
		return tree_rounds(plan);
	switch (plan->schedule) {
	case SCHEDULE_LINEAR: case SCHEDULE_PAIRWISE: case SCHEDULE_CHAIN: return p - 1;
	case SCHEDULE_RING: return (p - 1) * (plan->operation == OP_ALLREDUCE ? 2 : 1);
	case SCHEDULE_BINOMIAL: case SCHEDULE_BRUCK: return tree_depth(p);
	case SCHEDULE_TWO_TREES: return 2 * tree_depth(p);
	case SCHEDULE_SCATTER_RING: return tree_depth(p) + p - 1;
	case SCHEDULE_DOUBLING:
		return plan->operation == OP_SCAN || is_allgather(plan->operation) ? tree_depth(p) :
		    f.depth + (f.beyond > 0 ? 2 : 0);
	case SCHEDULE_HALVING: case SCHEDULE_RABENSEIFNER: return rabenseifner_rounds(plan);
	default: return 0;
	}
}

bool
schedule_combines(const struct plan *plan, uint32_t s)
{
	struct fold f = fold_of(plan->ranks);
	bool reduces = plan->operation == OP_REDUCE || plan->operation == OP_ALLREDUCE ||
	    plan->operation == OP_REDUCE_SCATTER || plan->operation == OP_REDUCE_SCATTER_BLOCK ||
	    plan->operation == OP_SCAN;

	if (!reduces)
		return false;
	switch (plan->schedule) {
	case SCHEDULE_RING: return s < plan->ranks - 1;
	case SCHEDULE_TWO_TREES: return s < tree_depth(plan->ranks);
	case SCHEDULE_DOUBLING: case SCHEDULE_HALVING: case SCHEDULE_RABENSEIFNER:
		return plan->operation == OP_SCAN || s < f.depth + (f.beyond > 0);
	default: return true;
	}
}
