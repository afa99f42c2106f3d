/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "core.h"
#include "shares.h"

uint32_t
origin_new(struct origins *all, const struct wait *wait)
{
	const uint32_t number = pool_take(&all->waits, sizeof(struct origin));

	*origin_at(all, number) = (struct origin){ .from_ns = wait->from_ns, .to_ns = wait->to_ns,
	    .location = wait->location, .cause = wait->cause, .site = wait->site,
	    .state = (uint8_t)wait->state, .users = 1 };
	return number;
}

struct wait
origin_wait(const struct origin *origin)
{
	return (struct wait){ .state = (enum state)origin->state, .from_ns = origin->from_ns,
	    .to_ns = origin->to_ns, .location = origin->location, .cause = origin->cause,
	    .site = origin->site };
}

/* ---- causes ----------------------------------------------------------------------------- */

void
origin_keep_shares(struct origins *all, struct origin *origin, struct share_sums *sums)
{
	uint32_t delay[MOST_CAUSES];
	double share[MOST_CAUSES];
	const size_t count = share_take(sums, MOST_CAUSES,
	    (uint64_t)origin->from_ns ^ (uint64_t)origin->location << 32, delay, share);
	char *to;

	if (count == 0)
		return;
	origin->causes = (uint8_t)count;
	origin->shares = pool_take(&all->shares[count], shares_bytes((unsigned)count));
	to = pool_at(&all->shares[count], shares_bytes((unsigned)count), origin->shares);
	memcpy(to, share, count * sizeof *share);
	memcpy(to + count * sizeof *share, delay, count * sizeof *delay);
}

static void
forget_shares(struct origins *all, struct origin *origin)
{
	if (origin->causes > 0)
		pool_give(&all->shares[origin->causes], shares_bytes(origin->causes),
		    origin->shares);
	origin->causes = 0;
}

/* ---- the end of a wait ------------------------------------------------------------------ */

void
origin_end(struct origins *all, struct origin *origin)
{
	origin->over = true;
	forget_shares(all, origin);
}

int64_t
origin_propagating_ns(const struct origin *origin)
{
	const double wait_ns = (double)(origin->to_ns - origin->from_ns);

	return !origin->over ? 0 :
	    (int64_t)(origin->propagated_ns < wait_ns ? origin->propagated_ns : wait_ns);
}

void
origin_release(struct origins *all, uint32_t number)
{
	while (number != 0) {
		struct origin *origin = origin_at(all, number);
		const uint32_t before = origin->before;

		if (--origin->users > 0)
			return;
		forget_shares(all, origin);
		pool_give(&all->waits, sizeof *origin, number);
		number = before;
	}
}

/* ---- chains ----------------------------------------------------------------------------- */

void
origin_follows(const struct origins *all, struct origin *origin, uint32_t before)
{
	struct origin *b = origin_at(all, before);

	if (b->depth + 2 > MOST_LINKS)
		return;
	origin->before = before;
	b->users++;
	origin->depth = (uint8_t)(b->depth + 1);
}

size_t
origin_chain(const struct origins *all, uint32_t number, struct wait chain[MOST_LINKS])
{
	size_t links = 0;

	while (number != 0 && links < MOST_LINKS) {
		const struct origin *origin = origin_at(all, number);

		chain[links++] = origin_wait(origin);
		number = origin->before;
	}
	return links;
}

bool
is_longer_wait(const struct wait *a, const struct wait *b)
{
	const int64_t a_ns = a->to_ns - a->from_ns, b_ns = b->to_ns - b->from_ns;

	if (a_ns != b_ns)
		return a_ns > b_ns;
	return a->from_ns != b->from_ns ? a->from_ns < b->from_ns : a->location < b->location;
}

void
longest_add(struct origins *all, struct longest *longest, uint32_t number)
{
	struct origin *origin = origin_at(all, number);
	size_t at = longest->count;
	struct wait wait;

	if (at == MOST_CHAINS && origin->to_ns - origin->from_ns < longest->least_ns)
		return;
	wait = origin_wait(origin);
	for (; at > 0; at--) {
		const struct wait shorter = origin_wait(origin_at(all, longest->of[at - 1]));

		if (!is_longer_wait(&wait, &shorter))
			break;
	}
	if (at == MOST_CHAINS)
		return;
	if (longest->count == MOST_CHAINS)
		origin_release(all, longest->of[--longest->count]);
	memmove(&longest->of[at + 1], &longest->of[at],
	    (longest->count++ - at) * sizeof *longest->of);
	longest->of[at] = number;
	origin->users++;
	origin = origin_at(all, longest->of[longest->count - 1]);
	longest->least_ns = origin->to_ns - origin->from_ns;
}
