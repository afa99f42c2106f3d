/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables in which times are added up. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

const char *const state_names[STATES] = {
#define X(STATE, name) [STATE] = name,
	STATES_TABLE(X)
#undef X
};

void
add_cell(struct table *table, size_t index)
{
	const size_t known = table->capacity;

	(void)AT(table->cells, table->capacity, index);
	for (int s = 0; s < STATES; s++) {
		if (table->wait_ns[s] == NULL || known == table->capacity)
			continue;
		table->wait_ns[s] = need(realloc(table->wait_ns[s],
		    table->capacity * sizeof *table->wait_ns[s]));
		memset(table->wait_ns[s] + known, 0,
		    (table->capacity - known) * sizeof *table->wait_ns[s]);
	}
	table->count = index + 1;
}

struct site_ns *
new_site(struct imbalance *im, uint32_t site)
{
	GROW(im->sites, im->site_capacity, site + (size_t)1);
	while (im->site_count <= site)
		im->sites[im->site_count++] = NULL;
	if (im->sites[site] == NULL)
		im->sites[site] = zalloc((size_t)im->graph.known.ranks, sizeof *im->sites[site]);
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

int64_t *
wait_ns_of(struct table *table, size_t index, unsigned state)
{
	if (index >= table->count)
		add_cell(table, index);
	if (table->wait_ns[state] == NULL)
		table->wait_ns[state] = zalloc(table->capacity, sizeof *table->wait_ns[state]);
	return &table->wait_ns[state][index];
}

static void
add_wait(struct table *table, size_t index, enum state state, int64_t ns, int sign)
{
	*wait_ns_of(table, index, state) += ns;
	table->cells[index].waits += (uint64_t)(int64_t)sign;
}

void
count_wait(struct imbalance *im, const struct wait *wait, int sign)
{
	const int64_t ns = sign * counted_ns(im, wait->from_ns, wait->to_ns);
	struct state_sums *sums = &im->states[wait->state];
	const size_t rank = (size_t)im->graph.known.location_rank[wait->location];
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
		add_wait(&tables[BY_PARTNER], (size_t)im->graph.known.location_rank[wait->cause],
		    wait->state, ns, sign);
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

/* ---- analytic ---- */

static void
add_totals(struct totals *to, const struct totals *call)
{
	to->wait_before_ns += call->wait_before_ns;
	to->wait_after_ns += call->wait_after_ns;
	to->execution_ns += call->execution_ns;
	to->unsynchronised_ns += call->unsynchronised_ns;
	to->program_ns += call->program_ns;
	to->mpi_ns += call->mpi_ns;
	to->calls += call->calls;
	to->unsynchronised += call->unsynchronised;
	to->nodes += call->nodes;
	to->edges += call->edges;
}

double
imbalance_of(const struct totals *t)
{
	int64_t useful_ns = t->execution_ns + t->program_ns;

	return useful_ns > 0 ? (double)wait_ns(t) / (double)useful_ns : 0;
}

struct totals *
totals_of(struct imbalance *im, uint16_t call)
{
	return AT(im->calls, im->call_capacity, call);
}

void
count_analytic(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	const struct wait_row *group = NULL;
	struct totals *sums[2];
	uint64_t edges = 0;
	int64_t start_ns, end_ns, before_ns, after_ns;
	bool apart;

	for (const struct wait_row *part = call->rows; part < call->rows + call->count; part++) {
		edges += part->edges;
		if (part->paired && (group == NULL || part->start_ns > group->start_ns))
			group = part;
	}
	if (group == NULL)
		return;		/* all execution; edges end only at rows of a group */
	sums[0] = &im->ranks[im->graph.known.location_rank[call->location]];
	sums[1] = totals_of(im, row->call);
	start_ns = larger(group->start_ns, row->enter_ns);
	end_ns = smaller(group->end_ns, row->leave_ns);
	apart = end_ns < start_ns;
	before_ns = counted_ns(im, row->enter_ns, start_ns);
	after_ns = counted_ns(im, end_ns, row->leave_ns);
	for (int i = 0; i < 2; i++) {
		sums[i]->edges += edges;
		sums[i]->unsynchronised_ns += apart ? call->mpi_ns : 0;
		sums[i]->unsynchronised += apart;
		sums[i]->wait_before_ns += apart ? 0 : before_ns;
		sums[i]->wait_after_ns += apart ? 0 : after_ns;
	}
}

/* Calls outside groups are all execution; each has two nodes and an edge. */
static void
add_cell_to(struct totals *t, const struct cell *cell)
{
	t->execution_ns = cell->mpi_ns - wait_ns(t) - t->unsynchronised_ns;
	t->mpi_ns = cell->mpi_ns;
	t->calls = cell->calls;
	t->nodes = 2 * cell->calls;
	t->edges += cell->calls;
}

void
analytic_end(struct imbalance *im)
{
	const struct table *calls = &im->tables[BY_CALL];

	for (size_t i = 0; i < calls->count; i++)
		add_cell_to(totals_of(im, (uint16_t)i), &calls->cells[i]);
	for (int32_t r = 0; r < im->graph.known.ranks; r++) {
		const struct cell *cell = &im->tables[BY_RANK].cells[r];

		add_cell_to(&im->ranks[r], cell);
		im->ranks[r].program_ns = cell->compute_ns;
		/* from the call before; the first call has none */
		im->ranks[r].edges += cell->calls;
	}
	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		if (im->last_leave_ns[l] != INT64_MIN)
			im->ranks[im->graph.known.location_rank[l]].edges--;
	for (int32_t r = 0; r < im->graph.known.ranks; r++)
		add_totals(&im->program, &im->ranks[r]);
}
