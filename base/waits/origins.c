/* SPDX-License-Identifier: BSD-3-Clause */
/* Delays, the waits that they cause, and the chains of these. */
#include "causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"

/* ---- delays ----------------------------------------------------------------------------- */

uint32_t
delay_new(struct delays *delays, uint32_t key, int32_t rank)
{
	uint32_t **numbers = AT(delays->numbers, delays->keys, key);

	if (*numbers == NULL)
		*numbers = zalloc((size_t)delays->ranks, sizeof **numbers);
	delays->of = grow_little(delays->of, &delays->capacity, delays->count + 1,
	    sizeof *delays->of);
	delays->of[delays->count++] = (struct delay){ .key = key, .rank = rank };
	(*numbers)[rank] = (uint32_t)delays->count;
	return (uint32_t)delays->count - 1;
}

static void
add_delay(struct delay *to, const struct delay *more)
{
	fixed_add(&to->short_whole_ns, &to->short_fraction,
	    more->short_whole_ns, more->short_fraction);
	fixed_add(&to->long_whole_ns, &to->long_fraction, more->long_whole_ns, more->long_fraction);
}

void
join_delay(struct imbalance *im, const struct delay *more)
{
	struct delays *delays = &im->causes->delays;
	const uint32_t number = delay_of(delays, more->key, more->rank);

	add_delay(&delays->of[number], more);	/* they may have moved */
}

ORDER(by_cost, struct delay, COMPARED(delay_cost_ns(b), delay_cost_ns(a)) BY(rank) BY(key))

struct delay *
sorted_delays(const struct imbalance *im, size_t *count)
{
	const struct delays *delays = &im->causes->delays;
	struct delay *sorted = zalloc(delays->count + 1, sizeof *sorted);

	*count = delays->count;
	if (*count > 0)
		memcpy(sorted, delays->of, *count * sizeof *sorted);
	SORT(sorted, *count, by_cost);
	return sorted;
}

ORDER(by_key_and_rank, struct delay, BY(key) BY(rank))
FOLD(fold_delays, struct delay, by_key_and_rank, add_delay(to, more);)

struct delay *
delays_by_name(const struct imbalance *im, struct same_sites *sites, size_t *count)
{
	struct delay *delays = sorted_delays(im, count);

	for (size_t i = 0; i < *count; i++)
		delays[i].key = 2 * first_of_name(sites, &im->graph.known, delays[i].key / 2) +
		    delays[i].key % 2;
	*count = fold_delays(delays, *count);
	SORT(delays, *count, by_cost);
	return delays;
}

/* ---- shares of delays in a wait --------------------------------------------------------- */

void
share_sums_grow(struct share_sums *sums, size_t delays)
{
	(void)AT(sums->of, sums->capacity, delays);
	GROW(sums->delays, sums->delay_capacity, sums->capacity + 1);	/* for one too many */
}

/* Counts the shares of at least LEAST, and adds up the others. */
static double
sum_smaller(const struct share_sums *sums, double least, size_t *large)
{
	double sum = 0;

	*large = 0;
	for (size_t i = 0; i < sums->count; i++) {
		const double share = sums->of[sums->delays[i]];

		*large += share >= least;
		sum += share >= least ? 0 : share;
	}
	return sum;
}

/* Shares of at least this are kept as they are. The others get the places that are left. */
static double
least_kept(const struct share_sums *sums, size_t most)
{
	size_t large, before;
	double least = sum_smaller(sums, INFINITY, &before) / (double)most, sum;

	for (; (sum = sum_smaller(sums, least, &large)) > 0 && large > before && large < most;
	    before = large)
		least = sum / (double)(most - large);
	return least;
}

/* Moves the large shares, and a sample of the others, to the front. */
static void
sample(struct share_sums *sums, size_t most, uint64_t seed)
{
	const double least = least_kept(sums, most);
	double passed = least * (double)(mix(seed, 0) >> 11) * 0x1p-53;
	size_t kept = 0;

	for (size_t i = 0; i < sums->count; i++) {
		const uint32_t delay = sums->delays[i];
		const double share = sums->of[delay];

		passed += share < least ? share : 0;
		if (kept == most || (share < least && passed < least)) {
			sums->of[delay] = 0;
			continue;
		}
		if (share < least) {
			sums->of[delay] = least;
			passed -= least;
		}
		sums->delays[kept++] = delay;
	}
	sums->count = kept;
}

size_t
share_take(struct share_sums *sums, size_t most, uint64_t seed, uint32_t *delay, double *share)
{
	size_t count;

	if (sums->count > most)
		sample(sums, most, seed);
	count = sums->count;
	for (size_t i = 0; i < count; i++) {
		delay[i] = sums->delays[i];
		share[i] = sums->of[delay[i]];
		sums->of[delay[i]] = 0;
	}
	sums->count = 0;
	return count;
}

/* ---- waits ------------------------------------------------------------------------------ */

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

/* Longest first; of equally long waits the one that began first. */
ORDER(by_length, struct origin, COMPARED(b->to_ns - b->from_ns, a->to_ns - a->from_ns)
    BY(from_ns) BY(location))

void
longest_add(struct imbalance *im, uint32_t number)
{
	struct longest *longest = &im->causes->longest;
	struct origin *origin = origin_at(&im->origins, number);
	size_t at = longest->count;

	if (at == MOST_CHAINS && origin->to_ns - origin->from_ns < longest->least_ns)
		return;
	while (at > 0 && by_length(origin, origin_at(&im->origins, longest->of[at - 1])) < 0)
		at--;
	if (at == MOST_CHAINS)
		return;
	if (longest->count == MOST_CHAINS)
		origin_release(&im->origins, longest->of[--longest->count]);
	memmove(&longest->of[at + 1], &longest->of[at],
	    (longest->count++ - at) * sizeof *longest->of);
	longest->of[at] = number;
	origin->users++;
	origin = origin_at(&im->origins, longest->of[longest->count - 1]);
	longest->least_ns = origin->to_ns - origin->from_ns;
}

size_t
chain_count(const struct imbalance *im)
{
	return im->causes->longest.count;
}

size_t
chain_of(const struct imbalance *im, size_t index, struct wait chain[MOST_LINKS])
{
	uint32_t number = im->causes->longest.of[index];
	size_t links = 0;

	while (number != 0 && links < MOST_LINKS) {
		const struct origin *origin = origin_at(&im->origins, number);

		chain[links++] = origin_wait(origin);
		number = origin->before;
	}
	return links;
}

void
join_chain(struct imbalance *im, const struct wait *chain, size_t links)
{
	uint32_t last = 0;

	while (links-- > 0) {
		const uint32_t number = origin_new(&im->origins, &chain[links]);

		origin_at(&im->origins, number)->before = last;	/* its one user */
		last = number;
	}
	longest_add(im, last);
	origin_release(&im->origins, last);
}
