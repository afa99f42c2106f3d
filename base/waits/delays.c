/* SPDX-License-Identifier: BSD-3-Clause */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"

struct delay_slot {
	uint32_t key, number;
	int32_t rank;		/* -1: free slot */
};

HASH_TABLE_OF(places, struct delay_slot, key, rank, rank, -1)

struct delays {
	struct places places;
	struct delay *of;	/* by number */
	size_t count, capacity;
	struct observer *observer;	/* or NULL */
};

struct delays *
delays_new(struct observer *observer)
{
	struct delays *delays = zalloc(1, sizeof *delays);

	places_begin(&delays->places, 256);
	delays->observer = observer != NULL && observer->delay != NULL ? observer : NULL;
	return delays;
}

uint32_t
delay_of(struct delays *delays, uint32_t key, int32_t rank)
{
	const struct delay_slot new = { key, (uint32_t)delays->count, rank };
	const uint32_t number = places_add(&delays->places, &new)->number;

	if (number < delays->count)
		return number;
	delays->of = grow_little(delays->of, &delays->capacity, delays->count + 1,
	    sizeof *delays->of);
	delays->of[delays->count++] = (struct delay){ .key = key, .rank = rank };
	return number;
}

void
delay_add(struct delays *delays, uint32_t number, double short_ns, double long_ns)
{
	struct delay *delay = &delays->of[number];

	fixed_add_double(&delay->short_whole_ns, &delay->short_fraction, short_ns);
	fixed_add_double(&delay->long_whole_ns, &delay->long_fraction, long_ns);
	if (delays->observer != NULL)
		delays->observer->delay(delays->observer, delay->key, delay->rank,
		    short_ns + long_ns);
}

size_t
delay_count(const struct imbalance *im)
{
	return delays_of(im)->count;
}

const struct delay *
delay_at(const struct imbalance *im, size_t at)
{
	return &delays_of(im)->of[at];
}

void
join_delay(struct imbalance *im, const struct delay *more)
{
	const uint32_t number = delay_of(delays_of(im), more->key, more->rank);
	struct delay *delay = &delays_of(im)->of[number];

	fixed_add(&delay->short_whole_ns, &delay->short_fraction,
	    more->short_whole_ns, more->short_fraction);
	fixed_add(&delay->long_whole_ns, &delay->long_fraction,
	    more->long_whole_ns, more->long_fraction);
}

ORDER(by_cost, struct delay, COMPARED(delay_cost_ns(b), delay_cost_ns(a)) BY(rank) BY(key))

struct delay *
sorted_delays(const struct imbalance *im, size_t *count)
{
	const struct delays *delays = delays_of(im);
	struct delay *sorted = zalloc(delays->count + 1, sizeof *sorted);

	*count = delays->count;
	if (*count > 0)
		memcpy(sorted, delays->of, *count * sizeof *sorted);
	SORT(sorted, *count, by_cost);
	return sorted;
}
