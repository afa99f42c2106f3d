/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that times are added up in. */
#include <stdlib.h>
#include <string.h>

#include "imbalance.h"

const char *const state_names[STATES] = {
#define X(STATE, name) [STATE] = name,
	STATES_TABLE(X)
#undef X
};

void
add_cell(struct table *table, size_t index)
{
	size_t known = table->capacity;

	table->cells = grow(table->cells, &table->capacity, index + 1, sizeof *table->cells);
	memset(table->cells + known, 0, (table->capacity - known) * sizeof *table->cells);
	table->count = index + 1;
}

struct site_ns *
new_site(struct imbalance *im, uint32_t site)
{
	im->sites = grow(im->sites, &im->site_capacity, site + (size_t)1, sizeof *im->sites);
	while (im->site_count <= site)
		im->sites[im->site_count++] = NULL;
	if (im->sites[site] == NULL)
		im->sites[site] = zalloc((size_t)im->known.ranks, sizeof *im->sites[site]);
	return im->sites[site];
}

int64_t
cell_waits(const struct cell *cell)
{
	int64_t sum = 0;

	for (int s = 0; s < STATES; s++)
		sum += cell->wait_ns[s];
	return sum;
}

void
count_wait(struct imbalance *im, const struct wait *wait, int sign)
{
	const int64_t ns = sign * counted_ns(im, wait->from_ns, wait->to_ns);
	struct state_sums *sums = &im->states[wait->state];
	const size_t rank = (size_t)im->known.location_rank[wait->location];
	struct { enum dimension dimension; size_t index; } where[] = {
		{ BY_RANK, rank }, { BY_SITE, wait->site }, { BY_CALL, wait->call },
		{ BY_COMMUNICATOR, wait->comm },
		{ BY_PARTNER, wait->cause == NOBODY ? 0 : (size_t)im->known.location_rank[wait->cause] },
	};

	if (ns == 0)
		return;
	sums->wait_ns += ns;
	sums->count += (uint64_t)(int64_t)sign;
	for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
		struct cell *cell;

		if (where[i].dimension == BY_PARTNER && wait->cause == NOBODY)
			continue;
		cell = cell_of(im, where[i].dimension, where[i].index);
		cell->wait_ns[wait->state] += ns;
		cell->waits += (uint64_t)(int64_t)sign;
	}
}

void
count_largest(struct imbalance *im, const struct wait *wait)
{
	struct wait *largest = &im->states[wait->state].largest;
	const int64_t ns = counted_ns(im, wait->from_ns, wait->to_ns);
	const int64_t most_ns = counted_ns(im, largest->from_ns, largest->to_ns);

	if (ns > most_ns || (ns == most_ns && ns > 0 && (wait->from_ns < largest->from_ns ||
	    (wait->from_ns == largest->from_ns && wait->location < largest->location))))
		*largest = *wait;
}
