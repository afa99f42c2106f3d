/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees for broadcast (down) and reduction (up), one segment after another: a rank hands a segment
 * on to its children one by one, while it receives the next. Open MPI's module "tuned" works like
 * this; J. Pjesivac-Grbovic et al., "Performance Analysis of MPI Collective Operations", Cluster
 * Computing 10 (2007).
 */
#include "schedule.h"

enum { MOST_SEGMENTS = 1 << 16 };

uint32_t
tree_depth(uint32_t p)
{
	uint32_t k = 0;

	while (k < 32 && (uint64_t)1 << k < p)
		k++;
	return k;
}

/* Parent and children; the root is 0. In a binary tree each level has consecutive numbers. */
struct family { uint32_t parent, children, first, step; };

static struct family
binomial(uint32_t p, uint32_t me)
{
	struct family f = { me > 0 ? me & (me - 1) : NO_MEMBER, 0, me, 0 };
	uint32_t lowest = me > 0 ? me & ~(me - 1) : p;

	while ((uint64_t)1 << f.children < lowest && me + ((uint64_t)1 << f.children) < p)
		f.children++;
	return f;
}

static struct family
binary(uint32_t p, uint32_t me)
{
	struct family f = { NO_MEMBER, 0, 0, 1 };

	while ((uint64_t)me + 1 >= 2 * (uint64_t)f.step)	/* as many as its level has */
		f.step *= 2;
	if (me > 0)
		f.parent = me + 1 < f.step + f.step / 2 ? me - f.step / 2 : me - f.step;
	f.first = me + f.step;
	f.children = f.first >= p ? 0 : (uint64_t)f.first + f.step < p ? 2 : 1;
	return f;
}

static struct family
family_of(const struct plan *plan, uint32_t me)
{
	switch (plan->schedule) {
	case SCHEDULE_CHAIN:
		return (struct family){ me > 0 ? me - 1 : NO_MEMBER, me + 1 < plan->ranks, me + 1,
		    0 };
	case SCHEDULE_BINOMIAL: return binomial(plan->ranks, me);
	default: return binary(plan->ranks, me);
	}
}

/* Child I in the order of service: in a binomial tree the farthest first. */
static uint32_t
child(const struct plan *plan, const struct family *f, uint32_t i)
{
	return plan->schedule == SCHEDULE_BINOMIAL ? f->first + (1u << (f->children - 1 - i)) :
	    f->first + i * f->step;
}

/* Equal sizes except the last. */
struct segments { uint32_t count; double bytes, last; };

static struct segments
segments_of(const struct plan *plan)
{
	struct segments s = { 1, plan->bytes, plan->bytes };

	if (plan->segment <= 0 || plan->segment >= plan->bytes)
		return s;
	s.bytes = plan->bytes / plan->segment > MOST_SEGMENTS ? plan->bytes / MOST_SEGMENTS :
	    plan->segment;
	for (s.count = (uint32_t)(plan->bytes / s.bytes);
	    s.count * s.bytes < plan->bytes; s.count++)
		;
	s.last = plan->bytes - (s.count - 1) * s.bytes;
	return s;
}

static double
bytes_of(const struct segments *s, uint32_t number)
{
	return number + 1 < s->count ? s->bytes : s->last;
}

uint32_t
tree_rounds(const struct plan *plan)
{
	uint32_t most = plan->schedule == SCHEDULE_CHAIN ? 1 : plan->schedule == SCHEDULE_BINARY ?
	    2 : tree_depth(plan->ranks);

	return segments_of(plan).count * most + 1;
}

/* Sends a segment to each child in turn; the next segment arrives during the last of these. */
static struct round
down(const struct plan *plan, const struct family *f, const struct segments *s, uint32_t round)
{
	struct round r = { .to = NO_MEMBER, .from = NO_MEMBER };
	/* the first round only receives */
	uint32_t sent = f->parent != NO_MEMBER ? round - 1 : round;

	if (f->children > 0 && sent / f->children < s->count &&
	    !(f->parent != NO_MEMBER && round == 0)) {
		r.to_number = sent / f->children;
		r.to = child(plan, f, sent % f->children);
		r.to_bytes = bytes_of(s, r.to_number);
	}
	if (f->parent == NO_MEMBER)
		return r;
	r.from_number = f->children == 0 ? round : round / f->children;
	if (r.from_number < s->count && (f->children == 0 || round % f->children == 0)) {
		r.from = f->parent;
		r.from_bytes = bytes_of(s, r.from_number);
	}
	return r;
}

/* The same backwards: each segment arrives from the children, then goes up. */
static struct round
up(const struct plan *plan, const struct family *f, const struct segments *s, uint32_t round)
{
	struct round r = { .to = NO_MEMBER, .from = NO_MEMBER }, there;
	/* the last round in which it does anything */
	uint32_t last = f->children == 0 ? s->count - 1 :
	    s->count * f->children - (f->parent == NO_MEMBER);

	if (round > last)
		return r;
	there = down(plan, f, s, last - round);
	r.to = there.from;
	r.to_number = s->count - 1 - there.from_number;
	r.to_bytes = bytes_of(s, r.to_number);
	r.from = there.to;
	r.from_number = s->count - 1 - there.to_number;
	r.from_bytes = bytes_of(s, r.from_number);
	return r;
}

struct round
tree_round(const struct plan *plan, uint32_t me, uint32_t round)
{
	struct family f = family_of(plan, me);
	struct segments s = segments_of(plan);

	return plan->operation == OP_BCAST ? down(plan, &f, &s, round) : up(plan, &f, &s, round);
}
