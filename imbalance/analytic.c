/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "imbalance.h"

static void
add_totals(struct totals *to, const struct totals *call)
{
	to->wait_before_ns += call->wait_before_ns;
	to->wait_after_ns += call->wait_after_ns;
	to->execution_ns += call->execution_ns;
	to->unsynchronised_ns += call->unsynchronised_ns;
	to->program_ns += call->program_ns;
	to->graph_ns += call->graph_ns;
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

static void
count_group(const struct imbalance *im, const struct whole_call *call, const struct wait_row *group,
    struct totals *rank, struct totals *of_call)
{
	const struct row *row = &call->rows[0].row;
	const int64_t start_ns = group->start_ns > row->enter_ns ? group->start_ns : row->enter_ns;
	const int64_t end_ns = group->end_ns < row->leave_ns ? group->end_ns : row->leave_ns;
	struct totals *const both[] = { rank, of_call };

	for (size_t i = 0; i < 2; i++) {
		struct totals *t = both[i];

		if (end_ns < start_ns) {
			t->unsynchronised_ns += call->mpi_ns;
			t->unsynchronised++;
			continue;
		}
		t->wait_before_ns += counted_ns(im, row->enter_ns, start_ns);
		t->wait_after_ns += counted_ns(im, end_ns, row->leave_ns);
		t->execution_ns += counted_ns(im, start_ns, end_ns);
	}
}

/* Calls and waits by call and by rank; nodes and the sums of the program follow from these. */
void
count_analytic(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	const struct wait_row *group = NULL;
	struct totals *rank = &im->ranks[im->known.location_rank[call->location]], *of_call;
	uint64_t edges = 1;

	if (row->call >= im->call_capacity) {
		size_t known = im->call_capacity;

		im->calls = grow(im->calls, &im->call_capacity, row->call + (size_t)1,
		    sizeof *im->calls);
		memset(im->calls + known, 0, (im->call_capacity - known) * sizeof *im->calls);
	}
	of_call = &im->calls[row->call];
	for (uint32_t i = 0; i < call->count; i++) {
		const struct wait_row *part = &call->rows[i];

		edges += part->edges;
		if (part->paired && (group == NULL || part->start_ns > group->start_ns))
			group = part;
	}
	if (group != NULL)
		count_group(im, call, group, rank, of_call);
	else {
		rank->execution_ns += call->mpi_ns;
		of_call->execution_ns += call->mpi_ns;
	}
	rank->graph_ns += call->mpi_ns;
	of_call->graph_ns += call->mpi_ns;
	rank->calls++;
	of_call->calls++;
	rank->edges += edges + (call->last_ns != INT64_MIN);
	of_call->edges += edges;
	rank->program_ns += call->program_ns;
}

void
analytic_end(struct imbalance *im)
{
	for (size_t i = 0; i < im->call_capacity; i++)
		im->calls[i].nodes = 2 * im->calls[i].calls;
	for (int32_t r = 0; r < im->known.ranks; r++) {
		im->ranks[r].nodes = 2 * im->ranks[r].calls;
		add_totals(&im->program, &im->ranks[r]);
	}
}
