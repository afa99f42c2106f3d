/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "imbalance.h"

void
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

/* Into the group's sums MPI_NS goes what of the calls is in groups: analytic_end takes it out again. */
static void
add_group(struct totals *t, int64_t before_ns, int64_t after_ns, int64_t execution_ns, int64_t mpi_ns,
    uint64_t edges)
{
	t->wait_before_ns += before_ns;
	t->wait_after_ns += after_ns;
	t->execution_ns += execution_ns;
	t->mpi_ns += mpi_ns;
	t->edges += edges;
}

struct totals *
totals_of(struct imbalance *im, uint16_t call)
{
	if (call >= im->call_capacity) {
		size_t known = im->call_capacity;

		im->calls = grow(im->calls, &im->call_capacity, call + (size_t)1, sizeof *im->calls);
		memset(im->calls + known, 0, (im->call_capacity - known) * sizeof *im->calls);
	}
	return &im->calls[call];
}

void
count_analytic(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	const struct wait_row *group = NULL;
	struct totals *rank, *of_call;
	uint64_t edges = 0;
	int64_t start_ns, end_ns;

	for (uint32_t i = 0; i < call->count; i++) {
		const struct wait_row *part = &call->rows[i];

		edges += part->edges;
		if (part->paired && (group == NULL || part->start_ns > group->start_ns))
			group = part;
	}
	if (group == NULL)
		return;		/* all execution; and edges end only at rows of a group */
	rank = &im->ranks[im->known.location_rank[call->location]];
	of_call = totals_of(im, row->call);
	start_ns = group->start_ns > row->enter_ns ? group->start_ns : row->enter_ns;
	end_ns = group->end_ns < row->leave_ns ? group->end_ns : row->leave_ns;
	if (end_ns >= start_ns) {
		const int64_t before_ns = counted_ns(im, row->enter_ns, start_ns);
		const int64_t after_ns = counted_ns(im, end_ns, row->leave_ns);
		const int64_t execution_ns = counted_ns(im, start_ns, end_ns);

		add_group(rank, before_ns, after_ns, execution_ns, call->mpi_ns, edges);
		add_group(of_call, before_ns, after_ns, execution_ns, call->mpi_ns, edges);
		return;
	}
	add_group(rank, 0, 0, 0, call->mpi_ns, edges);
	add_group(of_call, 0, 0, 0, call->mpi_ns, edges);
	rank->unsynchronised_ns += call->mpi_ns;
	of_call->unsynchronised_ns += call->mpi_ns;
	rank->unsynchronised++;
	of_call->unsynchronised++;
}

/* Calls in no group are all execution; each is two nodes and an edge. */
static void
add_cell_to(struct totals *t, const struct cell *cell)
{
	t->execution_ns += cell->mpi_ns - t->mpi_ns;
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
	for (int32_t r = 0; r < im->known.ranks; r++) {
		const struct cell *cell = &im->tables[BY_RANK].cells[r];

		add_cell_to(&im->ranks[r], cell);
		im->ranks[r].program_ns = cell->compute_ns;
		im->ranks[r].edges += cell->calls;	/* from the call before; the first have none */
	}
	for (uint32_t l = 0; l < im->known.location_count; l++)
		if (im->last_leave_ns[l] != INT64_MIN)
			im->ranks[im->known.location_rank[l]].edges--;
	for (int32_t r = 0; r < im->known.ranks; r++)
		add_totals(&im->program, &im->ranks[r]);
}
