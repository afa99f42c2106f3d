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
	const size_t known = table->capacity;

	table->cells = grow(table->cells, &table->capacity, index + 1, sizeof *table->cells);
	memset(table->cells + known, 0, (table->capacity - known) * sizeof *table->cells);
	for (int s = 0; s < STATES; s++) {
		if (table->wait_ns[s] == NULL || known == table->capacity)
			continue;
		table->wait_ns[s] = need(realloc(table->wait_ns[s], table->capacity * sizeof *table->wait_ns[s]));
		memset(table->wait_ns[s] + known, 0, (table->capacity - known) * sizeof *table->wait_ns[s]);
	}
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
waits_ns(const struct table *table, size_t index)
{
	int64_t sum = 0;

	for (int s = 0; s < STATES; s++)
		sum += state_ns(table, index, s);
	return sum;
}

static void
add_wait(struct table *table, size_t index, enum state state, int64_t ns, int sign)
{
	if (index >= table->count)
		add_cell(table, index);
	if (table->wait_ns[state] == NULL)
		table->wait_ns[state] = zalloc(table->capacity, sizeof *table->wait_ns[state]);
	table->wait_ns[state][index] += ns;
	table->cells[index].waits += (uint64_t)(int64_t)sign;
}

void
join_cell(struct table *table, size_t index, const struct cell *more)
{
	struct cell *cell;

	if (index >= table->count)
		add_cell(table, index);
	cell = &table->cells[index];
	cell->compute_ns += more->compute_ns;
	cell->mpi_ns += more->mpi_ns;
	cell->polling_ns += more->polling_ns;
	cell->calls += more->calls;
	cell->waits += more->waits;
	cell->delay_ns += more->delay_ns;
}

void
join_wait_ns(struct table *table, size_t index, enum state state, int64_t ns)
{
	add_wait(table, index, state, ns, 0);
}

void
count_wait(struct imbalance *im, const struct wait *wait, int sign)
{
	const int64_t ns = sign * counted_ns(im, wait->from_ns, wait->to_ns);
	struct state_sums *sums = &im->states[wait->state];
	const size_t rank = (size_t)im->known.location_rank[wait->location];
	struct table *tables = im->tables;

	if (ns == 0)
		return;
	sums->wait_ns += ns;
	sums->count += (uint64_t)(int64_t)sign;
	add_wait(&tables[BY_RANK], rank, wait->state, ns, sign);
	add_wait(&tables[BY_SITE], wait->site, wait->state, ns, sign);
	add_wait(&tables[BY_CALL], wait->call, wait->state, ns, sign);
	add_wait(&tables[BY_COMMUNICATOR], wait->comm, wait->state, ns, sign);
	if (wait->cause != NOBODY)
		add_wait(&tables[BY_PARTNER], (size_t)im->known.location_rank[wait->cause], wait->state, ns,
		    sign);
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
