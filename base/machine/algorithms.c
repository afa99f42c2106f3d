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

/* ---- the rounds of each schedule, except segmented trees: trees.c ---- */

/*
 * Rooted schedules number the ranks from the root. If a schedule needs a power of two, each of the
 * first even ranks acts for its odd neighbour. The neighbour sends its part in an extra first round
 * and, if it needs the result, receives that in an extra last round: the logarithm of the power of
 * two that takes part, and the number of ranks beyond.
 */
struct fold { uint32_t depth, beyond; };

static bool
is_allgather(enum operation operation)
{
	return operation == OP_ALLGATHER || operation == OP_ALLGATHERV;
}

static struct fold
fold_of(uint32_t p)
{
	struct fold f = { 0, 0 };

	while (1u << f.depth <= p / 2)
		f.depth++;
	f.beyond = p - (1u << f.depth);
	return f;
}

static const struct round silent = { .to = NO_MEMBER, .from = NO_MEMBER };

static struct round
sends(uint32_t to, double bytes)
{
	return (struct round){ .to = to, .from = NO_MEMBER, .to_bytes = bytes };
}

static struct round
receives(uint32_t from, double bytes)
{
	return (struct round){ .to = NO_MEMBER, .from = from, .from_bytes = bytes };
}

static struct round
swaps(uint32_t to, uint32_t from, double bytes)
{
	return (struct round){ .to = to, .from = from, .to_bytes = bytes, .from_bytes = bytes };
}

static struct round
unlike(uint32_t to, double to_bytes, uint32_t from, double from_bytes)
{
	return (struct round){ .to = to, .from = from, .to_bytes = to_bytes,
	    .from_bytes = from_bytes };
}

/* The bytes of COUNT blocks from FIRST on, wrapping round. */
static double
some(const struct plan *plan, uint32_t first, uint32_t count)
{
	double bytes = 0;

	if (plan->blocks == NULL)
		return plan->bytes * count;
	for (uint32_t i = 0; i < count; i++)
		bytes += plan->blocks[(first + i) % plan->ranks];
	return bytes;
}

/*
 * Bytes between two ranks in an alltoall. If sizes differ only the sums of each rank are known: a
 * rank's bytes are shared out in proportion to the bytes that the others receive.
 */
static double
between(const struct plan *plan, uint32_t from, uint32_t to)
{
	double all = plan->bytes * plan->ranks * plan->ranks;

	return plan->blocks == NULL ? plan->bytes :
	    all > 0 ? plan->blocks[from] / all * plan->taken[to] : 0;
}

/* The extra first round: odd neighbours send their part. BACK: the last one, they receive. */
static struct round
folding(const struct fold *f, uint32_t me, double bytes, bool back)
{
	if (me >= 2 * f->beyond)
		return silent;
	return me % 2 != (back ? 1 : 0) ? sends(me % 2 != 0 ? me - 1 : me + 1, bytes) :
	    receives(me % 2 != 0 ? me - 1 : me + 1, bytes);
}

static uint32_t
unfolded(const struct fold *f, uint32_t number)
{
	return number < f->beyond ? 2 * number : number + f->beyond;
}

/* The load of a binomial tree: everything, or the shares or blocks of the child's subtree. */
enum load { EVERYTHING, SHARES, BLOCKS };

/* The farthest child first. */
static struct round
down_tree(const struct plan *plan, uint32_t me, uint32_t s, enum load load)
{
	uint32_t p = plan->ranks, mask = 1u << (tree_depth(p) - 1 - s);
	uint32_t child = me % (2 * mask) == 0 ? me + mask : me, below;
	double bytes;

	if (me % mask != 0 || child >= p)
		return silent;
	below = p - child < mask ? p - child : mask;
	bytes = load == EVERYTHING ? plan->bytes : load == SHARES ? plan->bytes / p * below :
	    some(plan, plan->root + child, below);
	return child != me ? sends(child, bytes) : receives(me - mask, bytes);
}

static struct round
reversed(struct round r)
{
	return unlike(r.from, r.from_bytes, r.to, r.to_bytes);
}

static struct round
up_tree(const struct plan *plan, uint32_t me, uint32_t s, enum load load)
{
	return reversed(down_tree(plan, me, tree_depth(plan->ranks) - 1 - s, load));
}

/* From the root to all one by one, or from all to the root. */
static struct round
star(const struct plan *plan, uint32_t me, uint32_t s, bool out)
{
	double bytes = some(plan, plan->root + s + 1, 1);
	struct round r = me == 0 ? sends(s + 1, bytes) : me == s + 1 ? receives(0, bytes) : silent;

	return out ? r : reversed(r);
}

/* Sends to the rank DISTANCE ahead, receives from the one DISTANCE behind. */
static struct round
shift(uint32_t p, uint32_t me, uint32_t distance, double bytes)
{
	return swaps((me + distance) % p, (me + p - distance) % p, bytes);
}

/* The number of distances below P with bit S set. */
static double
with_bit(uint32_t p, uint32_t s)
{
	double n = 0;

	for (uint32_t i = 0; i < p; i++)
		n += i >> s & 1;
	return n;
}

/* The rounds of a power of two, between the extra ones. */
static uint32_t
inner_rounds(const struct plan *plan, const struct fold *f)
{
	return plan->schedule == SCHEDULE_RABENSEIFNER ? 2 * f->depth : f->depth;
}

/* Doubling; or halving and, in Rabenseifner's schedule, doubling or gathering back. */
static struct round
folded_round(const struct plan *plan, uint32_t me, uint32_t s)
{
	struct fold f = fold_of(plan->ranks);
	/* its number among those that take part; NO_MEMBER: it does not */
	uint32_t mine = me >= 2 * f.beyond ? me - f.beyond : me % 2 == 0 ? me / 2 : NO_MEMBER;
	uint32_t other, back;
	double n = plan->bytes * (plan->schedule == SCHEDULE_HALVING ? plan->ranks : 1);

	if (f.beyond > 0 && s == 0)
		return folding(&f, me, n, false);
	s -= f.beyond > 0;
	if (s == inner_rounds(plan, &f))
		return folding(&f, me, plan->bytes, true);
	if (mine == NO_MEMBER)
		return silent;
	if (s < f.depth) {	/* all, or half as much in each round */
		other = unfolded(&f, mine ^ 1u << s);
		return swaps(other, other, plan->schedule == SCHEDULE_DOUBLING ? n :
		    n / (double)((uint64_t)2 << s));
	}
	back = 2 * f.depth - 1 - s;
	other = unfolded(&f, mine ^ 1u << back);
	n /= (double)((uint64_t)2 << back);
	if (plan->operation == OP_ALLREDUCE)
		return swaps(other, other, n);
	if (mine >> (back + 1) != 0)	/* it has handed over all it had */
		return silent;
	return mine >> back & 1 ? sends(other, n) : receives(other, n);
}

/* Each rank hands on all blocks that it has, so messages grow from round to round. */
static struct round
allgather_doubling(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t n = 1u << s, other = me ^ n;

	return unlike(other, some(plan, me & ~(n - 1), n), other, some(plan, other & ~(n - 1), n));
}

static struct round
allgather_bruck(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t p = plan->ranks, distance = 1u << s,
	    n = p - distance < distance ? p - distance : distance;
	uint32_t from = (me + distance) % p;

	return unlike((me + p - distance) % p, some(plan, me, n), from, some(plan, from, n));
}

/* To the rank DISTANCE ahead goes its block in a reduction, the sender's own in an allgather. */
static struct round
direct(const struct plan *plan, uint32_t me, uint32_t distance)
{
	uint32_t p = plan->ranks, to = (me + distance) % p, from = (me + p - distance) % p;

	if (is_allgather(plan->operation))
		return unlike(to, some(plan, me, 1), from, some(plan, from, 1));
	if (plan->operation == OP_REDUCE_SCATTER || plan->operation == OP_REDUCE_SCATTER_BLOCK)
		return unlike(to, some(plan, to, 1), from, some(plan, me, 1));
	return unlike(to, between(plan, me, to), from, between(plan, from, me));
}

/* Blocks go round a ring. A rank's own block starts an allgather and ends a reduction. */
static struct round
ring(const struct plan *plan, uint32_t me, uint32_t s)
{
	uint32_t p = plan->ranks, to = (me + 1) % p, from = (me + p - 1) % p, mine;

	if (plan->operation == OP_ALLREDUCE)
		return swaps(to, from, plan->bytes / p);
	mine = me + p - s - !is_allgather(plan->operation);
	return unlike(to, some(plan, mine, 1), from, some(plan, mine + p - 1, 1));
}

/* All except segmented trees have one message between two ranks in a round. */
static struct round
plain_round(const struct plan *plan, uint32_t me, uint32_t s)
{
	const uint32_t p = plan->ranks, depth = tree_depth(p);
	const enum operation op = plan->operation;
	const bool out = op == OP_BCAST || op == OP_SCATTER || op == OP_SCATTERV;

	switch (plan->schedule) {
	case SCHEDULE_LINEAR: case SCHEDULE_PAIRWISE:
		return schedule_is_rooted(op) ? star(plan, me, s, out) : direct(plan, me, s + 1);
	case SCHEDULE_BINOMIAL:
		return out ? down_tree(plan, me, s, BLOCKS) : up_tree(plan, me, s, BLOCKS);
	case SCHEDULE_SCATTER_RING:
		return s < depth ? down_tree(plan, me, s, SHARES) :
		    shift(p, me, 1, plan->bytes / p);
	case SCHEDULE_CHAIN:
		return me == s ? sends(s + 1, plan->bytes) :
		    me == s + 1 ? receives(s, plan->bytes) : silent;
	case SCHEDULE_RING: return ring(plan, me, s);
	case SCHEDULE_BRUCK:
		if (is_allgather(op))
			return allgather_bruck(plan, me, s);
		return shift(p, me, 1u << s, op == OP_BARRIER ? 0 : plan->bytes * with_bit(p, s));
	case SCHEDULE_TWO_TREES:
		return s < depth ? up_tree(plan, me, s, EVERYTHING) :
		    down_tree(plan, me, s - depth, EVERYTHING);
	case SCHEDULE_DOUBLING:
		if (op == OP_SCAN)
			return (me ^ 1u << s) < p ?
			    swaps(me ^ 1u << s, me ^ 1u << s, plan->bytes) : silent;
		return !is_allgather(op) ? folded_round(plan, me, s) :
		    (p & (p - 1)) == 0 ? allgather_doubling(plan, me, s) :
		    allgather_bruck(plan, me, s);
	default: return folded_round(plan, me, s);
	}
}

/* ---- the schedule ---- */

struct round
schedule_round(const struct plan *plan, uint32_t me, uint32_t s)
{
	const uint32_t p = plan->ranks,
	    root = schedule_is_rooted(plan->operation) ? plan->root : 0;
	struct round r;

	me = (me + p - root) % p;
	if (schedule_is_segmented(plan->schedule, plan->operation))
		r = tree_round(plan, me, s);
	else {
		r = plain_round(plan, me, s);
		r.to_number = r.from_number = s;
	}
	if (r.to != NO_MEMBER)
		r.to = (r.to + root) % p;
	if (r.from != NO_MEMBER)
		r.from = (r.from + root) % p;
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
		if (plan->operation == OP_SCAN || is_allgather(plan->operation))
			return tree_depth(p);
		/* fall through */
	case SCHEDULE_HALVING: case SCHEDULE_RABENSEIFNER:
		return inner_rounds(plan, &f) +
		    (f.beyond == 0 ? 0 : plan->operation == OP_REDUCE ? 1 : 2);
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
