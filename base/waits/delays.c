/* SPDX-License-Identifier: BSD-3-Clause */
#include "core.h"

#include <stdlib.h>
#include <string.h>

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
