/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The usual schedules: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication
 * Operations in MPICH", IJHPCA 19 (2005); J. Bruck et al., IEEE TPDS 8 (1997); D. Hensgen, R. Finkel,
 * U. Manber, Int. J. Parallel Prog. 17 (1988).
 *
 * Rooted ones number the ranks from the root on. Where a schedule needs a power of two, each of the first
 * even ranks takes its odd neighbour's part, in a round before and, if that one needs the result, one behind.
 */
#include <stddef.h>

#include "schedule.h"

const char *const schedule_names[SCHEDULES + 1] = { "tree", "linear", "chain", "binomial",
    "recursive-doubling", "ring", "bruck", "pairwise", "recursive-halving", "rabenseifner",
    "reduce-bcast", "scatter-ring", NULL };

#define ALSO(schedule) | 1u << SCHEDULE_##schedule

static const uint32_t fitting[OPERATIONS] = {
	[OP_BARRIER] = 0 ALSO(DOUBLING) ALSO(BRUCK) ALSO(TWO_TREES),
	[OP_BCAST] = 0 ALSO(LINEAR) ALSO(CHAIN) ALSO(BINOMIAL) ALSO(SCATTER_RING),
	[OP_GATHER] = 0 ALSO(LINEAR) ALSO(BINOMIAL),
	[OP_GATHERV] = 0 ALSO(LINEAR) ALSO(BINOMIAL),
	[OP_SCATTER] = 0 ALSO(LINEAR) ALSO(BINOMIAL),
	[OP_SCATTERV] = 0 ALSO(LINEAR) ALSO(BINOMIAL),
	[OP_ALLGATHER] = 0 ALSO(LINEAR) ALSO(RING) ALSO(BRUCK) ALSO(DOUBLING),
	[OP_ALLGATHERV] = 0 ALSO(LINEAR) ALSO(RING) ALSO(BRUCK) ALSO(DOUBLING),
	[OP_ALLTOALL] = 0 ALSO(LINEAR) ALSO(PAIRWISE) ALSO(BRUCK),
	[OP_ALLTOALLV] = 0 ALSO(LINEAR) ALSO(PAIRWISE) ALSO(BRUCK),
	[OP_ALLTOALLW] = 0 ALSO(LINEAR) ALSO(PAIRWISE),
	[OP_REDUCE] = 0 ALSO(LINEAR) ALSO(CHAIN) ALSO(BINOMIAL) ALSO(RABENSEIFNER),
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

/* ceil(log2 p) */
static uint32_t
depth(uint32_t p)
{
	uint32_t k = 0;

	while (k < 32 && (uint64_t)1 << k < p)
		k++;
	return k;
}

/* Ranks that take part where a power of two is needed, its logarithm, and how many there are beyond. */
struct fold { uint32_t ranks, depth, beyond; };

static struct fold
fold_of(uint32_t p)
{
	struct fold f = { 1, 0, 0 };

	while (f.ranks <= p / 2) {
		f.ranks *= 2;
		f.depth++;
	}
	f.beyond = p - f.ranks;
	return f;
}

static const struct round silent = { NOBODY, NOBODY, 0, 0 };

static struct round
sends(uint32_t to, double bytes)
{
	return (struct round){ to, NOBODY, bytes, 0 };
}

static struct round
receives(uint32_t from, double bytes)
{
	return (struct round){ NOBODY, from, 0, bytes };
}

static struct round
swaps(uint32_t to, uint32_t from, double bytes)
{
	return (struct round){ to, from, bytes, bytes };
}

/* The round before: odd neighbours hand over; and behind: they get back what is there. */
static struct round
folding(const struct fold *f, uint32_t me, double bytes, bool back)
{
	if (me >= 2 * f->beyond)
		return silent;
	return me % 2 != (back ? 1 : 0) ? sends(me % 2 != 0 ? me - 1 : me + 1, bytes) :
	    receives(me % 2 != 0 ? me - 1 : me + 1, bytes);
}

/* Who does not take part has the number NOBODY. */
static uint32_t
folded(const struct fold *f, uint32_t me)
{
	return me >= 2 * f->beyond ? me - f->beyond : me % 2 == 0 ? me / 2 : NOBODY;
}

static uint32_t
unfolded(const struct fold *f, uint32_t number)
{
	return number < f->beyond ? 2 * number : number + f->beyond;
}

/* Down a binomial tree, the farthest first; blocks: each gets those of all below it. */
static struct round
down_tree(uint32_t p, uint32_t me, uint32_t s, double bytes, bool blocks)
{
	uint32_t mask = 1u << (depth(p) - 1 - s), child = me % (2 * mask) == 0 ? me + mask : me;
	double below;

	if (me % mask != 0 || child >= p)
		return silent;
	below = blocks ? bytes * (p - child < mask ? p - child : mask) : bytes;
	return child != me ? sends(child, below) : receives(me - mask, below);
}

static struct round
reversed(struct round r)
{
	return (struct round){ r.from, r.to, r.from_bytes, r.to_bytes };
}

static struct round
up_tree(uint32_t p, uint32_t me, uint32_t s, double bytes, bool blocks)
{
	return reversed(down_tree(p, me, depth(p) - 1 - s, bytes, blocks));
}

/* From the root to all one by one, or the other way. */
static struct round
star(uint32_t me, uint32_t s, double bytes, bool out)
{
	struct round r = me == 0 ? sends(s + 1, bytes) : me == s + 1 ? receives(0, bytes) : silent;

	return out ? r : reversed(r);
}

static struct round
chain(uint32_t me, uint32_t s, double bytes)
{
	return me == s ? sends(s + 1, bytes) : me == s + 1 ? receives(s, bytes) : silent;
}

/* S + 1 places on, from as many before. */
static struct round
shift(uint32_t p, uint32_t me, uint32_t distance, double bytes)
{
	return swaps((me + distance) % p, (me + p - distance) % p, bytes);
}

/* How many of the distances below P have bit S. */
static double
with_bit(uint32_t p, uint32_t s)
{
	double n = 0;

	for (uint32_t i = 0; i < p; i++)
		n += i >> s & 1;
	return n;
}

/* Halving, and where HALVED is not the end doubling or gathering back; N bytes in all. */
static struct round
rabenseifner(const struct plan *plan, uint32_t me, uint32_t s)
{
	struct fold f = fold_of(plan->ranks);
	uint32_t mine = folded(&f, me), other, back;
	double n = plan->bytes * (plan->schedule == SCHEDULE_HALVING ? plan->ranks : 1);

	if (f.beyond > 0 && s == 0)
		return folding(&f, me, n, false);
	s -= f.beyond > 0;
	if (s < f.depth) {		/* half as much each time */
		if (mine == NOBODY)
			return silent;
		other = unfolded(&f, mine ^ 1u << s);
		return swaps(other, other, n / (double)((uint64_t)2 << s));
	}
	if (plan->schedule == SCHEDULE_HALVING)
		return folding(&f, me, plan->bytes, true);
	if (s == 2 * f.depth)
		return folding(&f, me, n, true);
	if (mine == NOBODY)
		return silent;
	back = 2 * f.depth - 1 - s;
	other = unfolded(&f, mine ^ 1u << back);
	n /= (double)((uint64_t)2 << back);
	if (plan->operation == OP_ALLREDUCE)
		return swaps(other, other, n);
	if (mine >> (back + 1) != 0)	/* has handed over what it had */
		return silent;
	return mine >> back & 1 ? sends(other, n) : receives(other, n);
}

static uint32_t
rabenseifner_rounds(const struct plan *plan)
{
	struct fold f = fold_of(plan->ranks);
	uint32_t extra = f.beyond > 0;

	if (plan->schedule == SCHEDULE_HALVING)
		return f.depth + 2 * extra;
	return 2 * f.depth + (plan->operation == OP_REDUCE ? 1 : 2) * extra;
}

static struct round
doubling(const struct plan *plan, uint32_t me, uint32_t s)
{
	struct fold f = fold_of(plan->ranks);
	uint32_t mine = folded(&f, me), other;

	if (f.beyond > 0 && s == 0)
		return folding(&f, me, plan->bytes, false);
	s -= f.beyond > 0;
	if (s == f.depth)
		return folding(&f, me, plan->bytes, true);
	if (mine == NOBODY)
		return silent;
	other = unfolded(&f, mine ^ 1u << s);
	return swaps(other, other, plan->bytes);
}

/* All that is given is handed on: blocks become more from round to round. */
static struct round
allgather_doubling(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t other = me ^ 1u << s;

	return swaps(other, other, plan->bytes * (double)((uint64_t)1 << s));
}

static struct round
allgather_bruck(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t p = plan->ranks, distance = 1u << s;

	return shift(p, me, p - distance, plan->bytes * (p - distance < distance ? p - distance : distance));
}

static struct round
scan_doubling(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t other = me ^ 1u << s;

	return other < plan->ranks ? swaps(other, other, plan->bytes) : silent;
}

static bool
is_allgather(enum operation operation)
{
	return operation == OP_ALLGATHER || operation == OP_ALLGATHERV;
}

static bool
is_power_of_two(uint32_t p)
{
	return (p & (p - 1)) == 0;
}

/* Of rooted operations: ME counts from the root on. */
static struct round
rooted_round(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t p = plan->ranks, down = depth(p);
	bool out = plan->operation == OP_BCAST || plan->operation == OP_SCATTER ||
	    plan->operation == OP_SCATTERV;
	bool blocks = plan->operation != OP_BCAST && plan->operation != OP_REDUCE;

	switch (plan->schedule) {
	case SCHEDULE_LINEAR: return star(me, s, plan->bytes, out);
	case SCHEDULE_CHAIN:
		return out ? chain(me, s, plan->bytes) : reversed(chain(me, p - 2 - s, plan->bytes));
	case SCHEDULE_BINOMIAL:
		return out ? down_tree(p, me, s, plan->bytes, blocks) :
		    up_tree(p, me, s, plan->bytes, blocks);
	case SCHEDULE_SCATTER_RING:
		return s < down ? down_tree(p, me, s, plan->bytes / p, true) :
		    shift(p, me, 1, plan->bytes / p);
	default: return rabenseifner(plan, me, s);
	}
}

static struct round
even_round(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t p = plan->ranks;

	switch (plan->schedule) {
	case SCHEDULE_LINEAR: case SCHEDULE_PAIRWISE: return shift(p, me, s + 1, plan->bytes);
	case SCHEDULE_CHAIN: return chain(me, s, plan->bytes);
	case SCHEDULE_RING:
		return shift(p, me, 1, plan->operation == OP_ALLREDUCE ? plan->bytes / p : plan->bytes);
	case SCHEDULE_BRUCK:
		if (is_allgather(plan->operation))
			return allgather_bruck(plan, me, s);
		return shift(p, me, 1u << s, plan->operation == OP_BARRIER ? 0 :
		    plan->bytes * with_bit(p, s));
	case SCHEDULE_TWO_TREES:
		return s < depth(p) ? up_tree(p, me, s, plan->bytes, false) :
		    down_tree(p, me, s - depth(p), plan->bytes, false);
	case SCHEDULE_DOUBLING:
		return plan->operation == OP_SCAN ? scan_doubling(plan, me, s) :
		    !is_allgather(plan->operation) ? doubling(plan, me, s) :
		    is_power_of_two(p) ? allgather_doubling(plan, me, s) : allgather_bruck(plan, me, s);
	default: return rabenseifner(plan, me, s);
	}
}

bool
schedule_is_rooted(enum operation operation)
{
	return operation == OP_BCAST || operation == OP_REDUCE ||
	    (operation >= OP_GATHER && operation <= OP_SCATTERV);
}

struct round
schedule_round(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t p = plan->ranks;
	struct round r;

	if (!schedule_is_rooted(plan->operation))
		return even_round(plan, me, s);
	r = rooted_round(plan, (me + p - plan->root) % p, s);
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
	switch (plan->schedule) {
	case SCHEDULE_LINEAR: case SCHEDULE_PAIRWISE: case SCHEDULE_CHAIN: return p - 1;
	case SCHEDULE_RING: return (p - 1) * (plan->operation == OP_ALLREDUCE ? 2 : 1);
	case SCHEDULE_BINOMIAL: case SCHEDULE_BRUCK: return depth(p);
	case SCHEDULE_TWO_TREES: return 2 * depth(p);
	case SCHEDULE_SCATTER_RING: return depth(p) + p - 1;
	case SCHEDULE_DOUBLING:
		return plan->operation == OP_SCAN || is_allgather(plan->operation) ? depth(p) :
		    f.depth + (f.beyond > 0 ? 2 : 0);
	case SCHEDULE_HALVING: case SCHEDULE_RABENSEIFNER: return rabenseifner_rounds(plan);
	default: return 0;
	}
}

bool
schedule_overlaps(const struct plan *plan)
{
	return plan->schedule == SCHEDULE_LINEAR;
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
	case SCHEDULE_TWO_TREES: return s < depth(plan->ranks);
	case SCHEDULE_DOUBLING: case SCHEDULE_HALVING: case SCHEDULE_RABENSEIFNER:
		return plan->operation == OP_SCAN || s < f.depth + (f.beyond > 0);
	default: return true;
	}
}
